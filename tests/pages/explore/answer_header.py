"""Explore without a browser: the headers of the messages that answer links and questions."""

from typing import Any

from attention_lab.pages.explore import figure
from attention_lab.pages.explore.question import Question, question_of_link
from attention_lab.pages.explore.waiting import Waiting
from attention_lab.viz_core.viewer.message import header_of


def answered(**asked: Any) -> dict[str, Any]:
    """The header of the message that answers a question. Raises ValueError where it is refused."""
    return header_of(figure.answer(Question(**asked), Waiting()))


def linked(**link: str) -> dict[str, Any]:
    """The header of the message that a link opens. Raises ValueError where its model shows something else."""
    asked, refused = question_of_link(link)
    return header_of(figure.answered(asked, Waiting(), refused)[1])


def shown(header: dict[str, Any]) -> tuple[str, str]:
    """The model and the text that are shown."""
    return header["asked"]["model"], header["asked"]["text"]


def changed(header: dict[str, Any], **change: Any) -> dict[str, Any]:
    """What is shown after a change of what a message shows."""
    return answered(**{**header["asked"], "before": header["asked"]["model"], **change})
