"""A rate found by a test: a fresh model trains for some steps while the rate rises, beside the page.

The test runs on a thread of its own, which no other visitor waits for; it ends after a minute at the latest.
"""

from __future__ import annotations

import json
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from attention_lab.models.runs.owners import Visitor
from attention_lab.pages.shared import visitors
from attention_lab.pages.shared.board import on_page
from attention_lab.pages.shared.phrases import sentence
from attention_lab.pages.shared.state import State, refuse
from attention_lab.pages.shared.training import settings, tasks_on_offer, uploads
from attention_lab.pages.shared.training.tasks_on_offer import TaskInfo
from attention_lab.pages.shared.visitors import without_places
from attention_lab.pages.shared.work import Job, Queue, progress, this_page
from attention_lab.viz_core.boards import Board
from attention_lab.viz_core.training import finder_panel

if TYPE_CHECKING:
    from attention_lab.models.training.rate_range_test import RateTest

KEY = "train.finder"
REQUEST = "train_rate"
SECONDS = 60.0
"""The longest that a test may take; what it has found by then is shown."""
HELP = "Trains a fresh model for about a hundred steps while the rate rises (Smith 2017)"


@dataclass(frozen=True)
class RateRequest:
    """What a page wants tested: the settings of a task as JSON, with the paths of its files, and by whom."""

    task: str
    values: str
    by: Visitor


def button(info: TaskInfo, inputs: State) -> None:
    """The button that begins a test."""
    st.button("Find a rate…", key="train.find", help=HELP, on_click=_ask, args=(info, inputs))


def draw(info: TaskInfo, inputs: State) -> None:
    """The test that was asked for last, with its suggestion to take."""
    request: RateRequest | None = st.session_state.get(REQUEST)
    if request is None or request.task != info.name:
        return
    try:
        job = queue.ask(request, this_page())
    except ValueError as error:
        st.text(str(error))
        return
    if not job.done.wait(0.15):
        progress(job)
        return
    if job.problem:
        st.text(sentence(without_places(uploads.without_names(job.problem))))
    if job.result is not None and job.result.rates:
        _show(job.result, info, inputs, request)
    with st.container(horizontal=True):
        suggestion = None if job.result is None else job.result.suggestion
        if suggestion is not None:
            take = {"learning_rate": float(f"{suggestion:.2g}")}
            use = f"Use {take['learning_rate']:g}"
            st.button(use, key="train.find_use", type="primary", on_click=inputs.put, args=(take,))

        def close() -> None:
            st.session_state.pop(REQUEST, None)
            queue.forget(this_page())

        st.button("Close", key="train.find_close", on_click=close)


def _ask(info: TaskInfo, inputs: State) -> None:
    """Notes what is to be tested; the same settings are tested anew."""
    try:
        values = settings.with_paths(info, inputs.kept)
    except ValueError as error:
        refuse(str(error))
        return
    queue.forget(this_page())
    st.session_state[REQUEST] = _request(info, values)


def _request(info: TaskInfo, values: dict[str, Any]) -> RateRequest:
    others = {name: value for name, value in values.items() if name != "learning_rate"}
    return RateRequest(info.name, json.dumps(others, sort_keys=True, default=str), visitors.visitor())


def _show(result: RateTest, info: TaskInfo, inputs: State, request: RateRequest) -> None:
    """The curve, what it says, and the suggestion to take."""
    arrays = (np.array(each, dtype=np.float64) for each in (result.rates, result.losses, result.smoothed))
    panel = finder_panel(*arrays, suggestion=result.suggestion)
    notice, same = sentence(result.sentence), False
    with suppress(ValueError):  # a file is gone
        same = _request(info, settings.with_paths(info, inputs.kept)) == request
    if not same:
        notice += " **The settings have changed since**: find again."
    # There is nothing to take away but the link, which the browser copies.
    board, link = Board(rows=[[panel]], notice=notice), settings.to_link(info, inputs.kept)
    on_page.show(board, key=KEY, part="rate", link=link, keep=False)


def test(job: Job) -> RateTest | None:
    """Runs a test until it ends, is stopped, or has taken a minute."""
    from attention_lab.models.runs import queue
    from attention_lab.models.training.rate_range_test import STEPS, RateFinder

    request: RateRequest = job.request
    info = tasks_on_offer.tasks()[request.task]
    values = settings.defaults(info) | json.loads(request.values)
    task = settings.task_of(info, values)
    config = settings.run_config(info, values, task)
    config = replace(config, training=replace(config.training, threads=1, compile=False))
    queue.check_rights(config.training, request.by, keep_going=False)
    queue.check_memory(config)
    job.tell(0.0)
    start = time.monotonic()
    for test_so_far in RateFinder(config, steps=STEPS):
        job.result = test_so_far
        if time.monotonic() - start > SECONDS:
            break
        job.tell(len(test_so_far.rates) / STEPS)
    result: RateTest | None = job.result
    return result


queue = Queue(
    "rate tests", test, doing="trains while the rate rises",
    smaller="take smaller batches or a smaller model",
)  # fmt: skip
