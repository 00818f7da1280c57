"""What the browsers of a class ask the server for: students', with the token that they got when they began,
and the teacher's, with the secret of the sheet; both as a bearer's token, which no address and no log has.
"""

import threading
from functools import partial
from typing import Any

import anyio
from anyio import CapacityLimiter
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from attention_lab.models.byte_units import KB
from attention_lab.pages.shared.browser.requests import adding_to, document_in_language
from attention_lab.pages.shared.menu import PAGES
from attention_lab.pages.shared.rooms import (
    Handler,
    RefusedError,
    bearer_of,
    code_of,
    done,
    drawn_code,
    opener_of,
    parsed,
    refusing,
    sent_table,
)
from attention_lab.pages.sheets import store
from attention_lab.pages.sheets.sheet import MOST_TASKS, Given, Sheet
from attention_lab.viz_core.viewer.talk.documents import class_pages

MOST_SHEET = 300 * KB
MOST_ANSWER = 30 * KB
COMPUTED_AT_ONCE = 2
"""Answers whose rules need a model; others wait, and hold no thread."""
LEAST_SECONDS = 0.2
"""An answer takes at least so long, and a student gives one at a time: so nobody tries all in no time."""


class Opened(BaseModel):
    """ends: seconds since 1970."""

    sheet: Sheet
    ends: float = Field(allow_inf_nan=False)


class Student(BaseModel):
    name: str = Field(max_length=40, pattern=r"^[^\x00-\x1f]*$")


class Place(BaseModel):
    at: int = Field(ge=0, lt=MOST_TASKS)


class Judges:
    """Those who look at answers, one of a student's at a time, and few at once of those that need a model."""

    def __init__(self) -> None:
        self._computing: CapacityLimiter | None = None
        self._busy: set[str] = set()

    async def answer(self, request: Request) -> Response:
        given = await parsed(request, Given, MOST_ANSWER)
        code, token, number = code_of(request), bearer_of(request), int(request.path_params["task"])
        if token in self._busy:
            raise RefusedError(429, "Your last answer is still looked at; wait for it.")
        self._busy.add(token)
        try:
            await anyio.sleep(LEAST_SECONDS)
            sheet = await run_in_threadpool(store.check_open, code, token, number)
            task = sheet.task(number)
            self._computing = self._computing or CapacityLimiter(COMPUTED_AT_ONCE)  # made where a loop runs
            limiter = self._computing if task.computes else None
            verdict = await anyio.to_thread.run_sync(sheet.judge, task, given, limiter=limiter)
            await run_in_threadpool(store.answer, code, token, number, verdict)
        finally:
            self._busy.discard(token)
        return _sent({"right": verdict.right, "sentence": verdict.sentence, "because": verdict.because})


def sheet_routes() -> list[BaseRoute]:
    """The routes that `st.App` has to serve beside Streamlit's own."""
    here, programs = "/class/{code}", list[BaseRoute]()
    documents = class_pages(adding_to(programs), [name.replace("explore", "") for name in PAGES])
    routes: list[tuple[str, str, Handler]] = [
        ("/class/", "POST", _open),
        (f"{here}/sheet", "GET", _sheet),
        (f"{here}/students", "POST", _join),
        (f"{here}/at", "PUT", _move),
        (f"{here}/answers", "GET", _own),
        (f"{here}/answers/{{task:int}}", "PUT", Judges().answer),
        (f"{here}/progress", "GET", _progress),
        (f"{here}/answers.csv", "GET", _table),
        (f"{here}/code", "POST", _drawn_code),
        (here, "DELETE", _close),
    ]
    threading.Thread(target=store.expire_ever, daemon=True).start()
    return [
        *(Route(path, refusing(handler, "The sheet"), methods=[method]) for path, method, handler in routes),
        *(
            Route(f"/class/{path}", partial(document_in_language, html=html))
            for path, html in documents.items()
        ),
        *programs,
    ]


def _sent(content: Any) -> Response:
    return JSONResponse(content, headers={"Cache-Control": "no-store"})


async def _open(request: Request) -> Response:
    given = await parsed(request, Opened, MOST_SHEET)
    opener = opener_of(request, "a class")
    problems = await run_in_threadpool(given.sheet.problems)
    if problems:
        return JSONResponse({"problems": problems})
    code, secret = await run_in_threadpool(store.open_class, opener, given.sheet, given.ends)
    return JSONResponse({"code": code, "secret": secret})


async def _sheet(request: Request) -> Response:
    sheet, ends = await run_in_threadpool(store.sheet_of, code_of(request))
    return _sent({**sheet.shown(), "ends": ends})


async def _join(request: Request) -> Response:
    student = await parsed(request, Student)
    return _sent({"token": await run_in_threadpool(store.join, code_of(request), student.name.strip())})


async def _move(request: Request) -> Response:
    place = await parsed(request, Place)
    await run_in_threadpool(store.move, code_of(request), bearer_of(request), place.at)
    return done()


async def _own(request: Request) -> Response:
    return _sent(await run_in_threadpool(store.answers_of, code_of(request), bearer_of(request)))


async def _progress(request: Request) -> Response:
    return _sent(await run_in_threadpool(store.progress, code_of(request), bearer_of(request)))


async def _table(request: Request) -> Response:
    return sent_table(await run_in_threadpool(store.table, code_of(request), bearer_of(request)))


async def _drawn_code(request: Request) -> Response:
    await run_in_threadpool(store.progress, code_of(request), bearer_of(request))
    return await drawn_code(request)


async def _close(request: Request) -> Response:
    await run_in_threadpool(store.CLASSES.close, code_of(request), bearer_of(request))
    return done()
