"""The talks that ship: each is read without a problem, and its links name what there is."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl

import pytest

from attention_lab.models.fields import Field, fields_of, read_link
from attention_lab.models.findings import findings
from attention_lab.models.interventions import Edit
from attention_lab.models.sweeps import list_shipped
from attention_lab.pages.beside import state as beside
from attention_lab.pages.explore import state as explore
from attention_lab.pages.findings import state as found
from attention_lab.pages.findings.board import board_of
from attention_lab.pages.findings.measurement import usual_outcome
from attention_lab.pages.lab.lesson import LabPage, lab_page
from attention_lab.pages.runs import scrubber
from attention_lab.pages.runs import state as of_runs
from attention_lab.pages.shared.lab_stops import NAMES as LAB
from attention_lab.pages.shared.training import runs
from attention_lab.pages.sweeps import state as sweeps
from attention_lab.pages.talks.talks import NAMES
from attention_lab.viz_core.boards import Board
from tests.pages.talks.reading import readings, stops

LINKED = [pytest.param(stop, id=f"{name}-{at}") for name, at, stop in stops() if stop["link"]]


@pytest.mark.parametrize("name", NAMES)
def test_a_talk_is_read_without_a_problem_and_written_so_that_it_reads_alike(name: str) -> None:
    reading = readings()[name]
    assert reading["problems"] == [] and reading["isSame"]
    talk = reading["talk"]
    assert 8 <= len(talk["stops"]) <= 14 and talk["about"] and int(talk["settings"]["minutes"]) >= 10
    questions = [stop["question"] for stop in talk["stops"] if stop["question"]]
    assert questions and all(each["because"] and each["right"] is not None for each in questions)
    assert all(stop["notes"] for stop in talk["stops"])


def test_all_talks_together_walk_through_these_pages() -> None:
    pages = {stop["link"].partition("?")[0] for _, _, stop in stops() if stop["link"]}
    assert pages >= {"", "findings", "beside", "runs", "sweeps", "positions", "softmax"}


@pytest.mark.parametrize("stop", LINKED)
def test_a_link_is_known_to_its_page(stop: dict[str, Any]) -> None:
    name, query = place_of(stop)
    fields = fields_on(name, query)
    assert query.keys() - {"more"} <= fields.keys()
    values, problems = read_link(fields, query)
    assert problems == []
    if name == "":
        for line in values.get("edits", "").splitlines():
            Edit.read(line)
    elif name == "runs":
        assert all(runs.find(run) for run in values["runs"])
    elif name == "sweeps":
        assert values["sweep"] in [sweep.name for sweep in list_shipped()]


@pytest.mark.parametrize("stop", [each for each in LINKED if each.values[0]["hide"] or each.values[0]["at"]])
def test_what_is_hidden_and_where_it_halts_is_on_the_picture(stop: dict[str, Any]) -> None:
    name, query = place_of(stop)
    if name == "":
        assert stop["hide"] == ["headline"] and not stop["at"]
        return
    board = board_at(name, query)
    titles = {getattr(panel, "title", None) for row in board.rows for panel in row}
    assert {*stop["hide"]} - {"headline"} <= titles
    frames = [frame_of(board, halt) for halt in stop["at"]]
    assert frames == sorted({*frames})


def frame_of(board: Board, halt: float) -> int:
    """The frame at which a talk halts there, which is a place of the slider to three digits."""
    assert board.scrub is not None
    frame = int(abs(board.scrub.values - halt).argmin())
    assert board.scrub.values[frame] == pytest.approx(halt, rel=0.005)
    return frame


def place_of(stop: dict[str, Any]) -> tuple[str, dict[str, str]]:
    """The page of a stop, and its parameters."""
    name, _, query = stop["link"].partition("?")
    return name, dict(parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query)))


def fields_on(name: str, query: Mapping[str, str]) -> Mapping[str, Field]:
    """All that a link to this page, and to this part or model of it, may say."""
    if name == "":
        return explore.declared(query.get("model", explore.DEFAULT)) | fields_of(explore.View)
    if name in LAB:
        page = lab_page(name)
        part = page.find_part(query["part"])
        return {field: page.state.params[field] for field in ("part", *part.fields)}
    states = {"findings": found.page, "beside": beside.page, "sweeps": sweeps.page}
    return (states[name]() if name in states else of_runs.STATE).params


def board_at(name: str, query: Mapping[str, str]) -> Board:
    if name == "findings":
        return board_of(usual_outcome(findings()[query["finding"]]))
    if name == "runs":
        run = runs.find(query["runs"])
        assert run is not None
        return scrubber.scrubbed(run)
    page: LabPage = lab_page(name)
    values, _ = read_link(page.state.params, query)
    part = page.find_part(values.pop("part"))
    values.pop(part.scrub, None)
    return part.lesson(replace(page.inputs(), **values)).board
