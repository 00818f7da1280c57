"""Pages of the lab without a server: every button shows the board that the app shows for its inputs."""

from dataclasses import replace
from typing import Any

import pytest

from attention_lab.pages.lab.lesson import LabPage, Part, lab_page
from attention_lab.pages.lab.static import parts_of
from attention_lab.viz_core.viewer.message import pack


def arrays(page: LabPage, part: Part, inputs: dict[str, Any]) -> bytes:
    own = {name: value for name, value in inputs.items() if name != part.scrub}
    return pack(board=part.lesson(replace(page.inputs(), **own)).board).arrays


@pytest.mark.parametrize("name", ["softmax", "attention"])
def test_each_experiment_and_step_leads_to_its_own_board(name: str) -> None:
    page = lab_page(name)
    for part, written in zip(page.parts, parts_of(page), strict=True):
        shown = [state.message for state in written.states]
        assert shown[0].endswith(arrays(page, part, {}))
        for experiment, choice in zip(part.tries, written.tries, strict=True):
            assert shown[choice.state].endswith(arrays(page, part, dict(experiment.set)))
            assert choice.scrub == experiment.set.get(part.scrub or "")
        stops = page.state.params[part.walks].rule.options if part.walks else ()
        for stop, choice in zip(stops, written.steps, strict=True):
            assert shown[choice.state].endswith(arrays(page, part, {part.walks: stop}))
        links = {tuple(sorted(state.link.items())) for state in written.states}
        assert len(links) == len(shown)  # else a link would bring back another
