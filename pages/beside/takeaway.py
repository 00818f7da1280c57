"""The take-away of two sides: the lines of Python that give the same comparison in a notebook."""

from __future__ import annotations

from dataclasses import replace

from attention_lab.models.contrast import knobs
from attention_lab.models.engine.address import attention_at
from attention_lab.models.zoo.catalogue import offer_of
from attention_lab.pages.beside.board import Selection
from attention_lab.pages.beside.two_sides import (
    Comparison,
    ComparisonRequest,
    nearest_step,
    reading_settings,
    run_of,
    settings_of,
    steps_of,
)
from attention_lab.pages.shared import cache
from attention_lab.pages.shared.training import runs


def code_of(
    request: ComparisonRequest, selection: Selection, comparison: Comparison, frame: int | None = None
) -> str:
    """Opens the model, makes both sides, and asks for what the board shows at a frame, or at its first."""
    frame = comparison.first if frame is None else min(frame, len(comparison.frames) - 1)
    value = comparison.names[frame] if comparison.names else ""
    if request.differs in knobs():
        request = replace(request, other=value)
    (stack, layer, head), second_head = selection.heads
    _, layer_b, head_b = comparison.frames[frame].counterpart(second_head)
    run = run_of(request.model) if request.differs == "step" else None
    if run is not None:
        step = nearest_step(request.other, steps_of(request.model))
        return "\n".join(
            [
                runs.opening(run), f"a = run.snapshot({step})  # patterns by address, [head, query, key]",
                f"b = run.snapshot({value.replace(',', '')})",
                f'where = "{attention_at(stack, layer)}.pattern"',
                f"print(b[where][{head}] - a[where][{head}])",
            ]
        )  # fmt: skip
    other = (attention_at(stack, layer), head) != (attention_at(stack, layer_b), head_b)
    second = f", {attention_at(stack, layer_b)!r}, {head_b}" if other else ""
    return "\n".join(
        [
            "from attention_lab.models.contrast import Side, contrast, knobs",
            *_sides(request), "c = contrast(a, b)",
            f"laid = c.laid({attention_at(stack, layer)!r}, {head}{second})",
            f"print(laid.difference, c.moved[{stack!r}])", "if c.outputs:  # of each place",
            "    print(c.outputs.kl, [c.outputs.top(at, 5) for at in range(len(c.outputs.aligned))])",
        ]
    )  # fmt: skip


def _sides(request: ComparisonRequest) -> list[str]:
    kept_settings = reading_settings(request.model, request.settings)
    settings = f", {kept_settings!r}" if kept_settings else ""
    lines = [*_opened(request.model, request.settings), f"a = Side(lm, {request.text!r}{settings})"]
    if request.differs == "text":
        return [*lines, f"b = Side(lm, {request.other!r}{settings})"]
    if request.differs == "model":
        common = settings_of(request.other, kept_settings)
        settings = f", {common!r}" if common else ""
        return [*lines, *_opened(request.other, ()), f"b = Side(lm, {request.text!r}{settings})"]
    if request.differs in knobs():
        return [*lines, f"b = knobs()[{request.differs!r}].applied(a, {request.other!r})"]
    return [*lines, "b = a  # another head of the same pass"]


def _opened(name: str, settings: tuple[tuple[str, object], ...]) -> list[str]:
    """The lines that open a model under the name `lm`."""
    offer = offer_of(name)
    model = cache.model(name, dict(settings))
    lines = model.code("" if offer is None else offer.text).rsplit("\ntrace = ", 1)[0]
    return [lines.replace("\nmodel = ", "\nlm = ")]
