"""What the browsers of a class ask the server for: students', with the token that they got when they began,
and the teacher's, with the secret of the sheet; both as a bearer's token, which no address and no log has.
"""

import re
import threading

import anyio
from anyio import CapacityLimiter
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from attention_lab.models.byte_units import KB
from attention_lab.pages.shared.code_rooms import Rate, Text, bearer_of, code_of, parsed, sent
from attention_lab.pages.sheets import store
from attention_lab.pages.sheets.sheet import Given
from attention_lab.pages.sheets.store import CLASSES, Opened, Place, Removed, Student

MOST_SHEET = 300 * KB
MOST_ANSWER = 30 * KB
JOINING = Rate(100, 3.0)
"""Of each address: 200 students in one room have begun after half a minute."""
_computing = CapacityLimiter(2)
"""Answers whose rules need a model; others wait, and hold no thread."""
_busy: set[str] = set()
"""The students whose answers are looked at."""
LEAST_SECONDS = 0.2
"""An answer takes at least so long, and a student gives one at a time: so nobody tries all in no time."""


def sheet_routes() -> list[BaseRoute]:
    """The routes that `st.App` has to serve beside Streamlit's own."""
    here = "/class/{code}"
    threading.Thread(target=CLASSES.expire_ever, daemon=True).start()
    return [
        CLASSES.asks("POST", "/class/", store.open_class, Opened, MOST_SHEET),
        CLASSES.asks("GET", f"{here}/sheet", store.sheet_of),
        CLASSES.asks("POST", f"{here}/students", store.join, Student, rate=JOINING),
        CLASSES.asks("DELETE", f"{here}/students", store.remove, Removed),
        CLASSES.asks("PUT", f"{here}/at", store.move, Place),
        CLASSES.asks("GET", f"{here}/answers", store.answers_of),
        CLASSES.route("PUT", f"{here}/answers/{{task:int}}", _answer),
        CLASSES.route("GET", f"{here}/progress", _progress),
        CLASSES.asks("GET", f"{here}/answers.csv", store.table),
        CLASSES.asks("POST", f"{here}/code", CLASSES.drawn_code, Text),
        CLASSES.asks("DELETE", here, CLASSES.close),
    ]


async def _progress(request: Request) -> Response:
    since = request.query_params.get("since", "")
    after = float(since) if re.fullmatch(r"\d{1,12}(\.\d{1,9})?", since) else 0.0
    return sent(await run_in_threadpool(store.progress, code_of(request), bearer_of(request), after))


async def _answer(request: Request) -> Response:
    code, token, number = code_of(request), bearer_of(request), int(request.path_params["task"])
    sheet = await run_in_threadpool(store.check_open, code, token, number)
    given = await parsed(request, Given, MOST_ANSWER)
    if token in _busy:
        raise HTTPException(429, "Your last answer is still being checked; wait.")
    _busy.add(token)
    try:
        await anyio.sleep(LEAST_SECONDS)
        task = sheet.task(number)
        limiter = _computing if task.kind == "link" else None
        verdict = await anyio.to_thread.run_sync(sheet.judge, task, given, limiter=limiter)
        await run_in_threadpool(store.answer, code, token, number, verdict)
    finally:
        _busy.discard(token)
    return sent({"right": verdict.right, "sentence": verdict.sentence, "because": verdict.because})
