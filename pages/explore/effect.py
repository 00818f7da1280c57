"""What edits change: outputs, heads, and what the model writes with edits and without them."""

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch

from attention_lab.models.byte_units import MB
from attention_lab.models.engine.address import Address
from attention_lab.models.engine.long_text import Progress
from attention_lab.models.engine.trace import Trace
from attention_lab.models.interventions import compare
from attention_lab.models.interventions.smallest_set import MOST, Head, smallest_set, switched_off
from attention_lab.pages.explore.edit_lines import condition
from attention_lab.pages.explore.state import MOVED, Inputs
from attention_lab.pages.explore.subject import MASK, WRITES, Subject, operations_of, subject_of, token_text
from attention_lab.pages.shared import cache
from attention_lab.pages.shared.work import check_price
from attention_lab.viz_core.labels import decimal

COMPARED_BYTES = 512 * MB
"""What the patterns of both passes may take while they are compared."""
TOP_CHANGED = 6
MOST_ROWS = 512
COMPARED_ROWS = 64  # whose probabilities are held at once
_COMPARED = ("logits", "resid_pre", "resid_post", "self.pattern", "cross.pattern")


@runtime_checkable
class Collects(Protocol):
    """What takes from a pass what the screen shows."""

    def __call__(self, address: str, tensor: Any) -> Any | None: ...
    def stacks(self) -> list[dict[str, Any]]: ...
    def open_heads(self) -> list[dict[str, Any]]: ...


class EditedPass:
    """The pass of a subject without its edits; then what the pass with them has against it.

    Raises ValueError where the text is too long for two passes to be compared.
    """

    def __init__(self, subject: Subject, collector: Collects) -> None:
        cells = sum(s.n_layers * s.n_heads * s.n_query * s.n_key for s in subject.stacks)
        if 2 * 4 * cells > COMPARED_BYTES:
            raise ValueError(
                f"patterns with and without edits would take {2 * 4 * cells // MB:,} MB, more than "
                f"{COMPARED_BYTES // MB:,} MB; shorten the text"
            )
        self._subject, self._collector, self._edits = subject.unedited, collector, subject.inputs.edits
        self._before = self._subject.run(self.beside(collector))

    def beside(self, reduce: Callable[[str, Any], Any]) -> Callable[[str, Any], Any]:
        """The same `reduce` of a trace, which keeps what is compared as well.

        Where the numbers of an edited pass are beyond what can be computed with, it raises ValueError.
        """

        def both(address: str, tensor: Any) -> Any:
            is_compared = Address.parse(address).part in _COMPARED
            if is_compared and (tensor.isnan() | (tensor == torch.inf)).any():
                raise ValueError(f"with these edits {address} holds too large numbers; scale by less")
            result = reduce(address, tensor)
            return tensor.clone() if is_compared else result

        return both

    def message(
        self, after: Trace, stacks: list[dict[str, Any]], steps_of: Callable[..., Any]
    ) -> dict[str, Any]:
        """The header's entries; each stack gets the measure of how far its heads moved."""
        change = compare(self._before, after, self._subject.names)
        for stack in stacks:
            moved = change.patterns[stack["id"]].variation.flatten()
            stack["stats"][MOVED] = [round(value, 4) for value in moved.tolist()]
        outputs = outputs_of((self._before["logits"], after["logits"]), self._subject)
        return {
            "before": {
                "stacks": self._collector.stacks(),
                "exact": self._collector.open_heads(),
                "steps": steps_of(self._subject, self._before),
            },
            "change": {
                "kl": [float(f"{value:.6g}") for value in change.kl.tolist()] if self._subject.names else [],
                "outputs": outputs,
                **answer_after(self._subject, condition(self._edits), outputs, change.kl.tolist()),
                "stream": {side: np.float32(moved.numpy()) for side, moved in change.stream.items()},
            },
        }


def outputs_of(logits: tuple[torch.Tensor, torch.Tensor], subject: Subject) -> list[list[list[Any]]]:
    """Of two passes' logits, the likeliest outputs at each position: [name, before, after]."""
    count, rows = len(subject.names), []
    if not count:
        return []
    pieces = (each[:MOST_ROWS, :count].split(COMPARED_ROWS) for each in logits)
    for piece in zip(*pieces, strict=True):
        p, q = both = [each.double().softmax(-1) for each in piece]
        top = torch.cat([each.topk(min(TOP_CHANGED, count)).indices for each in both], dim=-1)
        for row, *sides in zip(top.tolist(), p.tolist(), q.tolist(), strict=True):
            chosen = sorted(dict.fromkeys(row), key=lambda at: -max(side[at] for side in sides))
            rows.append(
                [
                    [token_text(subject.names[at]), *(float(f"{side[at]:.6g}") for side in sides)]
                    for at in chosen[: TOP_CHANGED + 2]
                ]
            )
    return rows


def answer_after(
    subject: Subject, condition: str, outputs: list[list[list[Any]]], kl: list[float]
) -> dict[str, Any]:
    """What became of the answer, and in a second sentence how far its outputs moved; `at`: the position of
    which both speak. It is the first where the likeliest output is another one: up to there, all that is
    written is what was read. Where it is the same all along, it is the one that moved most.
    """
    places = answered(subject, len(outputs))
    if not places:
        return {"at": 0, "answer": "", "moved": ""}
    best = [[max(row, key=lambda each: each[when]) for when in (1, 2)] for row in outputs]
    changed = [at for at in places if best[at][0][0] != best[at][1][0]]
    at = changed[0] if changed else max(places, key=lambda each: kl[each])
    (was, before, after), (now, _, _) = best[at]
    shown = [decimal(share, 3) for share in (before, after)]
    if shown[0] == shown[1]:
        how = f"stays at {shown[1]}"
    else:
        how = f"{'falls' if after < before else 'rises'} from {shown[0]} to {shown[1]}"
    pooled, writes, place, where = subject.model.pooled, WRITES & set(subject.model.abilities), "", ""
    if not pooled:
        token = subject.tokens["decoder" if "decoder" in subject.tokens else "encoder"][at]["text"]
        place, where = ("", f", after “{token}”") if writes else (f" at “{token}”", "")
    forced = writes and subject.reading.forced
    return {
        "at": at,
        "answer": f"{condition} it {'' if changed else 'still '}"
        f"{'answers' if pooled else 'would write' if forced else 'writes' if writes else 'says'} "
        f"“{now}”{place}: P({was}) {how}.",
        "moved": f"The outputs there moved by a KL divergence of {decimal(kl[at])} nats{where}.",
    }


def answered(subject: Subject, count: int) -> list[int]:
    """The positions, of so many, whose outputs are the answer: those from which a model writes, the masked
    words, or all.
    """
    model, every = subject.model, list(range(count))
    if WRITES & set(model.abilities):
        try:
            begun = len(model.writing(subject.reading).begun)
        except ValueError:  # no room to write more
            begun = count
        return every[begun - 1 :] or every[-1:]
    tokens = subject.reading.tokens.get("encoder", [])
    return [at for at, token in enumerate(tokens[:count]) if not model.pooled and token == MASK] or every


CONTINUED = 16
"""Tokens that a model writes after a text."""
MOST_OPERATIONS = 400 * 10**9
"""What a search may take: some ten seconds."""


def price_written(inputs: Inputs) -> int:
    """The floating-point operations of `write_both`, about: passes with edits and without them, by token."""
    return operations_of(inputs) * _tokens(inputs)


def price_smallest(inputs: Inputs, stack: str) -> int:
    """The most that `smallest` takes, about."""
    return min(MOST_OPERATIONS, MOST * operations_of(inputs.unedited) * _tokens(inputs))


def _tokens(inputs: Inputs) -> int:
    """How many tokens are written, about: a translation is no longer than twice its text."""
    return 2 * len(inputs.text.split()) + CONTINUED


def write_both(inputs: Inputs, progress: Progress = lambda share: None) -> dict[str, Any]:
    """What is written to its end, without the edits and with them. Raises ValueError where it takes long."""
    subject = subject_of(inputs)
    model, reading, settings = subject.model, subject.reading, inputs.reading
    check_price(model, reading, "or a smaller model", passes=2 * model.writing(reading).most)

    def both() -> dict[str, Any]:
        plain = model.answer(reading, progress=progress, **settings)
        edited = model.answer(reading, edits=inputs.edits, progress=progress, **settings)
        return {"before": plain.answer, "after": edited.answer}

    return dict(cache.on_worker(both))


def smallest(inputs: Inputs, stack: str, progress: Progress = lambda share: None) -> dict[str, Any]:
    """The smallest set of heads of a stack without which the answer is another one."""
    subject = subject_of(inputs)
    of = subject.stack(stack)
    heads = [Head(of.address(layer), h) for layer in of.attention.layers for h in range(of.n_heads)]
    lengths = [len(tokens) for tokens in subject.reading.tokens.values()]
    each = max(1, subject.model.operations(lengths) * lengths[-1])
    most = min(MOST, MOST_OPERATIONS // each)
    if most < len(heads):
        raise ValueError(
            f"Switching off {len(heads)} heads one by one takes more than {MOST_OPERATIONS // 10**9:,} "
            "billion operations; shorten the text, or take a smaller model."
        )
    how: Any = {"most": most, "progress": progress, **inputs.reading}
    found = cache.on_worker(lambda: smallest_set(subject.model, subject.reading, heads, **how))
    search = {name: getattr(found, name) for name in ("answer", "tried", "whole")}
    return {"lines": list(switched_off(found.heads)), "heads": len(heads), **search}
