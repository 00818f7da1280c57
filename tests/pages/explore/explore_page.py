"""Explore's page under `AppTest`, which mounts no stage: what it was handed, and the dialogs it opens."""

from pathlib import Path

from streamlit.testing.v1 import AppTest

from attention_lab.pages.explore.question import Question
from attention_lab.viz_core.viewer.message import header_of
from tests.pages.explore import answer_header
from tests.pages.texts_of_apptest import texts

PAGE = Path(__file__).parents[3] / "pages" / "explore" / "page.py"


def opened(**link: str) -> AppTest:
    page = AppTest.from_file(str(PAGE), default_timeout=60)
    for name, value in link.items():
        page.query_params[name] = value
    page.run()
    assert not page.exception
    return page


def shown(page: AppTest) -> tuple[str, str]:
    """The model and the text that the stage was given."""
    return answer_header.shown(header_of(page.session_state.message))


def said(page: AppTest) -> list[str]:
    """What is said to be wrong, by the stage and by the page."""
    return [*header_of(page.session_state.message)["problems"], *texts(page)]


def dialog(page: AppTest, kind: str) -> AppTest:
    """The page with a dialog that the stage asked for: another of the "models", or a "picture"."""
    question = Question(**header_of(page.session_state.message)["asked"])
    page.session_state["dialog"] = ({"type": kind}, question)
    page.run()
    assert not page.exception
    return page
