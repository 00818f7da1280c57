"""The route that answers the stage's questions: one round trip from a changed control to the picture.

A refused question is answered with status 422 and {"problem": a sentence}. One that takes long is answered by
lines of JSON, {"progress": a sentence}, and then {"bytes": their number} before the message's bytes, or
{"problem": a sentence}.
"""

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor

from cachetools import LRUCache
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from attention_lab.models.byte_units import MB
from attention_lab.models.zoo.catalogue import DEFAULT, MAX_CHARACTERS, offers
from attention_lab.pages.explore import figure
from attention_lab.pages.explore.question import Question
from attention_lab.pages.explore.state import SHOWCASE, Inputs
from attention_lab.pages.explore.waiting import Waiting
from attention_lab.pages.shared import visitors
from attention_lab.pages.shared.cache import held_by
from attention_lab.pages.shared.code_rooms import parsed
from attention_lab.pages.shared.work import StoppedError
from attention_lab.viz_core.viewer.message import to_json

ADDRESS = "/explore/answer"
SOON = 0.25
"""After so many seconds the browser hears how much is done."""
TELL_SECONDS = 0.3
MOST_QUESTION = 8 * MAX_CHARACTERS + 20_000
"""Bytes of a question: its texts may be written as JSON escapes."""
MOST_ASKING = 400
"""Questions on their way, of all visitors; a browser asks one at a time."""
_NO_STORE = {"Cache-Control": "no-store"}
# To pack the answer for 128 tokens takes 22 ms and saves 120 of 324 kB, which pays below some 45 Mbit/s.
_AS_IT_IS = {**_NO_STORE, "Content-Encoding": "identity"}
_LONG = {**_AS_IT_IS, "X-Takes-Long": "1"}
_STOPPED = "Something newer was asked for."
_threads = ThreadPoolExecutor(MOST_ASKING, thread_name_prefix="answers")
_asking: LRUCache[str, Waiting] = LRUCache(10_000)
"""By window of a browser, what it waits for."""
_on_the_way: set[asyncio.Future[bytes]] = set()
_shown: LRUCache[str, Inputs] = LRUCache(32 * MB, getsizeof=lambda inputs: 1_000 + held_by(inputs))
"""By Streamlit's session of a window, what it was shown last."""


def shown_last(session: str) -> Question | None:
    """What a session saw on its last visit to the page."""
    inputs = _shown.get(session)
    return None if inputs is None else Question(**figure.asked_of(inputs))


def own_sentence(session: str) -> str | None:
    """The sentence of a visitor's own that a session saw last, behind the name of the translator that reads
    it; "" where that was none, None where nothing was shown yet.
    """
    inputs = _shown.get(session)
    if inputs is None:
        return None
    if inputs.text in ("", SHOWCASE):
        return ""
    return f"{inputs.model}:{inputs.text}" * (inputs.model in (DEFAULT, offers()[DEFAULT].wider))


def note_shown(session: str, inputs: Inputs) -> None:
    """Remembers what a session sees now."""
    _shown[session] = inputs


def routes() -> list[BaseRoute]:
    """The routes that `st.App` has to serve beside Streamlit's own."""
    return [Route(ADDRESS, _answer, methods=["POST"])]


async def _answer(request: Request) -> Response:
    if request.headers.get("content-type") != "application/json":  # what a form of another site cannot send
        raise HTTPException(415, "Send the question as application/json.")
    asked = await parsed(request, Question, MOST_QUESTION)
    browser = visitors.Browser(
        request.cookies.get(visitors.COOKIE, ""), request.client.host if request.client else ""
    )
    session = request.headers.get("x-window", "")[:40]
    window = f"{browser.token} {session}"
    if session and window in _asking:
        _asking[window].stop()
    waiting = _asking[window] = Waiting()
    if len(_on_the_way) >= MOST_ASKING:
        raise HTTPException(503, "Many ask this server just now; try again in a moment.")
    answering = asyncio.get_running_loop().run_in_executor(
        _threads, visitors.on_behalf, browser, _message, asked, waiting, session
    )
    _on_the_way.add(answering)
    answering.add_done_callback(_over)
    done, _ = await asyncio.wait({answering}, timeout=SOON)
    if not done:
        return StreamingResponse(
            _told(answering, waiting), headers=_LONG, media_type="application/octet-stream"
        )
    try:
        return Response(answering.result(), headers=_AS_IT_IS, media_type="application/octet-stream")
    except (ValueError, StoppedError) as error:
        return JSONResponse({"problem": _sentence(error)}, 422, _NO_STORE)


def _message(asked: Question, waiting: Waiting, session: str) -> bytes:
    inputs, message = figure.answered(asked, waiting)
    if session:
        note_shown(session, inputs)
    return message


def _over(answering: "asyncio.Future[bytes]") -> None:
    _on_the_way.discard(answering)
    if not answering.cancelled():
        answering.exception()  # perhaps nobody waits any more who would ask for it


async def _told(answering: "asyncio.Future[bytes]", waiting: Waiting) -> AsyncIterator[bytes]:
    """How much is done, then the answer. Where the browser goes, the work ends."""
    told = ""
    try:
        while not answering.done():
            if told != waiting.progress:
                told = waiting.progress
                yield to_json({"progress": told}) + b"\n"
            await asyncio.wait({answering}, timeout=TELL_SECONDS)
        try:
            message = answering.result()
        except (ValueError, StoppedError) as error:
            yield to_json({"problem": _sentence(error)}) + b"\n"
        else:
            yield to_json({"bytes": len(message)}) + b"\n"
            yield message
    finally:
        waiting.stop()


def _sentence(error: Exception) -> str:
    if isinstance(error, StoppedError):
        return _STOPPED
    return visitors.without_places(figure.as_sentence(str(error)))
