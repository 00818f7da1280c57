"""Side by side without a server: the comparisons that the page offers by a press."""

from typing import Any

from attention_lab.models.fields import written
from attention_lab.pages.beside import state
from attention_lab.pages.beside.board import board_of, on_one_grid
from attention_lab.pages.beside.two_sides import compute
from attention_lab.pages.shared.board.message import message
from attention_lab.pages.shared.work import Job
from attention_lab.viz_core.viewer.static.documents import Part, State

SEE = "Two passes and their difference. Grey cells are gaps: ≠ is another token here, – no such token."


def parts_of() -> list[Part]:
    return [part_of(label, values) for label, values in state.presets().items()]


def part_of(label: str, values: dict[str, Any]) -> Part:
    """One comparison; values: those of its inputs that are set."""
    fields = state.page().params
    link = {name: written(value) for name, value in values.items() if value != fields[name].default}
    values = {name: field.default for name, field in fields.items()} | values
    comparison = compute(Job(request=state.request(values)))
    selection = state.selection(values, comparison)
    board = board_of(on_one_grid(comparison, selection.heads[0][0]), selection)
    first = float(comparison.first) if board.scrub else None
    content = message(
        board, part=label, link=link, at=first, usual=first, fits=True, where=f"Side by side · {label}",
        words={"see": SEE},
    )  # fmt: skip
    needs = ["other texts, models, heads and knobs"]
    return Part(label, label, [State(content, link)], needs=needs)
