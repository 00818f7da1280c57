"""A rate is found beside the page, and taken with one press."""

import json

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from attention_lab.models.runs.owners import PERSON, Visitor
from attention_lab.models.training.rate_range_test import RateFinder
from attention_lab.pages.shared.training import settings, tasks_on_offer
from attention_lab.pages.shared.work import Job
from attention_lab.pages.train import rate

TINY = {"length": 4, "n_layers": 1, "n_heads": 2, "d_model": 16, "batch_size": 16, "held_out": 32}


def asked(by: Visitor = PERSON, **changed) -> rate.RateRequest:
    return rate.RateRequest("reverse", json.dumps(TINY | changed), by)


def test_the_page_finds_what_the_command_line_finds() -> None:
    job = Job(request=asked())
    rate.test(job)
    info = tasks_on_offer.tasks()["reverse"]
    config = settings.run_config(info, settings.defaults(info) | TINY | {"threads": 1})
    *_, last = RateFinder(config)
    assert job.result is not None and job.result.done
    assert job.result.rates == last.rates and job.result.suggestion == last.suggestion
    np.testing.assert_allclose(job.result.losses, last.losses, rtol=1e-5)
    assert 0.9 < job.share <= 1


def test_what_may_not_train_is_not_tested_either() -> None:
    with pytest.raises(ValueError, match="your browser keeps no cookie of this server"):
        rate.test(Job(request=asked(by=Visitor(""))))
    with pytest.raises(ValueError, match="d_model=16 is not divisible by n_heads=3"):
        rate.test(Job(request=asked(n_heads=3)))


def test_a_long_test_ends_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate, "SECONDS", 0.0)
    job = Job(request=asked())
    rate.test(job)
    assert job.result is not None and len(job.result.rates) == 1 and not job.result.done


def _column() -> None:
    import streamlit as st

    from attention_lab.pages.shared.board.on_page import component
    from attention_lab.pages.train import rate, state

    state.enter()
    component.load()
    rate.button(state.task(), state.settings_of(state.task()))
    rate.draw(state.task(), state.settings_of(state.task()))
    st.session_state["rate"] = state.settings_of(state.task()).kept["learning_rate"]


def test_the_suggestion_is_taken_and_changed_settings_are_said() -> None:
    page = AppTest.from_function(_column, default_timeout=60)
    page.query_params.update({"task": "reverse", **{name: str(value) for name, value in TINY.items()}})
    page.run()
    assert [button.label for button in page.button] == ["Find a rate…"]
    page.button("train.find").click().run()
    (job,) = [job for job in rate.queue.jobs.values() if job.request.task == "reverse"]
    assert job.done.wait(60)
    page.run()
    assert not page.exception
    suggestion = float(f"{job.result.suggestion:.2g}")
    page.button("train.find_use").click().run()
    assert page.session_state["rate"] == suggestion
    page.button("train.find_close").click().run()
    assert [button.label for button in page.button] == ["Find a rate…"]
