"""What refuses a setting of Train or Sweeps, or a run, is read in one language, whatever its pieces."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from attention_lab.models.fields import Field, read_link
from attention_lab.pages.shared import state, streamlit_internals, words
from attention_lab.pages.shared.phrases import sentence
from attention_lab.pages.shared.state import State, problems
from attention_lab.pages.shared.training import settings, tasks_on_offer
from attention_lab.pages.sweeps import state as sweeps
from tools.words import ENGLISH as UNTRANSLATED
from tools.words import found_in, sources

NAN = float("nan")
ENGLISH = re.compile(
    r"\b(the|of|and|are|with|to|that|its|which|by|is|not|or|no|try|choose|at|give|leave|kept|one)\b"
)
"""Words that neither language has."""
QUOTED = r"'[^']*'|\b\w+=\S+|„[^“]*“|«[^»]*»|\([^)]*\)|\b(auto, )?yes, no\b|\w+(-\w+)+"
"""Values, names and options, which are those of links and the command line."""


class Session(dict):
    """Stands for Streamlit's session state."""

    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__


@pytest.fixture(autouse=True)
def session(monkeypatch: pytest.MonkeyPatch) -> Session:
    class Fake:
        session_state, query_params = Session(), {}

    for module in (state, streamlit_internals):
        monkeypatch.setattr(module, "st", Fake)
    return Fake.session_state


def fields() -> dict[str, Field]:
    """All settings of Train and Sweeps that differ in name or rule."""
    found: dict[str, Field] = {}
    for info in tasks_on_offer.tasks().values():
        for name, field in (settings.declared(info) | sweeps.CHOOSING).items():
            found.setdefault(f"{name} {field.rule}", field)
    return found


def misfits(field: Field) -> list[Any]:
    """Values that a widget's message or a link may bring: of another kind, beyond the ends, too long."""
    rule = field.rule
    if rule.low is not None and rule.high is not None:
        return [rule.low - 1, rule.high + 1, 10**20, NAN, "many", None]
    return ["x" * (rule.most + 1)] if rule.most else ["many", "x" * 60] if rule.options else ["many"]


def refused(session: Session) -> Iterator[str]:
    for key, field in fields().items():
        name = key.partition(" ")[0]
        page = State("page", {name: field})
        for value in misfits(field):
            page.put(page.defaults())
            session[page.key(name)] = value
            page.take()
            yield from problems()
            yield from read_link({name: field}, {name: str(value)})[1]
            yield from said_by(lambda field=field, value=value, name=name: field.check(name, value))
            if name not in sweeps.NOT_VARIED and not isinstance(value, float):
                text, rule = str(value), field.rule
                yield from said_by(lambda name=name, text=text, rule=rule: sweeps.variation(name, text, rule))


def said_by(act: Callable[[], Any]) -> Iterator[str]:
    """What is said where this is refused, as pages say it."""
    try:
        act()
    except (ValueError, TypeError) as error:
        yield sentence(str(error))


@pytest.mark.parametrize("language", words.TRANSLATED)
def test_no_part_of_a_refused_setting_stays_english(session: Session, language: str) -> None:
    texts = dict.fromkeys(refused(session))
    assert len(texts) > 1_000
    left = {text: said for text in texts if (said := english(text, language))}
    assert left == {}


SAID_BY = (
    "models/runs/*.py",
    "models/sweeps/*.py",
    "models/training/*.py",
    "models/zoo/hub/*.py",
    "models/files.py",
)


@pytest.mark.parametrize("language", words.TRANSLATED)
def test_what_refuses_a_run_or_a_model_is_found_as_a_sentence_with_its_values(language: str) -> None:
    """The pages give a refusal a capital and a full stop; its message is found all the same."""
    files = {*sources(SAID_BY)} - {*sources(UNTRANSLATED)}
    filled = [
        sentence(re.sub(r"{\d+(:n)?}", lambda slot: "3" if slot[1] else "'a'", m)) for m in found_in(files)
    ]
    left = {text: said for text in filled if ";" in text and (said := english(text, language))}
    assert left == {}


def english(text: str, language: str) -> str:
    """A text in a language, where some of it is English all the same."""
    said = words.catalogue(language).say(text)
    return said if said == text or ENGLISH.search(re.sub(QUOTED, "", said)) else ""
