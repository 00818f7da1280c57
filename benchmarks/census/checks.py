"""One type's row: a small model of it, opened as a researcher opens one, and every number beside eager."""

from __future__ import annotations

import inspect
import re
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from attention_lab.models import load_model
from benchmarks.census.small_models import GapError, first_line, save
from tests.models.zoo.hub.families import ANSWER, TEXT

TOLERANCE = 1e-5
FIELDS = {
    "encoder-decoder": {
        "encoder.self": "encoder_attentions",
        "decoder.self": "decoder_attentions",
        "decoder.cross": "cross_attentions",
    },
    "encoder-only": {"encoder.self": "attentions"},
    "decoder-only": {"decoder.self": "attentions"},
}
FEEDING = r"(?!.*(norm|dropout))(\w*mlp\w*|feed_?forward\w*|ffn?|\w*moe\w*|shared_experts?|experts?)"
"""Names of a layer's whole feed-forward network."""
LAST = ("output.dense", "fc2", "layer.-1.DenseReluDense", "output.fc2", "ff.layer_2")
"""Its last linear map, where the module that holds it adds the stream as well."""
PROJECTIONS = r"(o|out|c|output|wo)_proj|wo|o|out_lin|dense|proj|projection|out|linear_out|dense_out"

MISFIT = r"cannot read .*(size of tensor|shapes cannot be|invalid for input|Expected size|to sum exactly)"
"""A refusal that says that sizes of the small model do not fit each other: the census built it wrongly."""


@dataclass
class Row:
    """What became of a type. outcome: whole, patterns, refused, wrong, traceback or gap. why: the sentence,
    or what is wrong. difference: the largest from eager. checked: what was compared. trail: a traceback.
    """

    model_type: str
    kind: str = ""
    outcome: str = "gap"
    why: str = ""
    difference: float | None = None
    checked: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    trail: str = ""


def row_of(model_type: str, folder: Path) -> Row:
    """Never raises: what goes wrong is in the row."""
    row = Row(model_type)
    try:
        kind = save(model_type, folder)
    except GapError as error:
        row.why = str(error)
        row.trail = "".join(traceback.format_exception(error.__cause__ or error)[-3:])
        return row
    except Exception as error:
        row.why, row.trail = first_line(error), traceback.format_exc()
        return row
    row.kind = kind.__name__
    try:
        model = load_model(f"hf:{folder}")
        given = {"target": ANSWER} if model.kind == "encoder-decoder" else {}
        reads_pictures = model.folder.reads_pictures
        reading = model.read("1" if reads_pictures else TEXT, **given)
        trace = model.trace(reading)
    except ValueError as error:
        row.outcome, row.why = "refused", str(error).replace(folder.name, "it")
        row.trail = traceback.format_exc()
        if re.search(MISFIT, row.why):
            row.outcome = "gap"
        return row
    except BaseException as error:
        row.outcome, row.why, row.trail = "traceback", first_line(error), traceback.format_exc()
        return row
    is_whole = model.note == "" and all(each.whole for each in model.attentions.values())
    row.outcome, row.why = "whole" if is_whole else "patterns", model.note.replace(folder.name, "it")
    try:
        eager = kind.from_pretrained(folder, attn_implementation="eager").eval().requires_grad_(False)
        paths = _compare(row, model, reading, trace, eager)
        if is_whole:
            _edit(row, model, reading, trace, eager, paths)
    except ValueError as error:
        row.outcome, row.why, row.trail = "traceback", f"edit refused: {error}", traceback.format_exc()
    except Exception as error:
        row.outcome, row.why, row.trail = "traceback", first_line(error), traceback.format_exc()
    if row.wrong:
        row.outcome, row.why = "wrong", "; ".join(row.wrong)
    return row


def _passed(model: Any, reading: Any, eager: PreTrainedModel, **more: Any) -> Any:
    sees = model.folder.reads_pictures
    names = ("pixel_values",) if sees else ("input_ids", "decoder_input_ids")
    usual = {} if sees else {"use_cache": False}
    with torch.no_grad():
        return eager(**dict(zip(names, reading.inputs, strict=False)), **usual, **more)


def _answer(made: Any) -> Tensor | None:
    """The logits, or the last stream of a model without any; None for one that answers something else."""
    logits = getattr(made, "logits", None)
    return getattr(made, "last_hidden_state", None) if logits is None else logits


def _differs(row: Row, what: str, a: Tensor, b: Tensor, scale: float = 1.0) -> None:
    if a.shape != b.shape:
        row.wrong.append(f"{what}: {list(a.shape)} where eager has {list(b.shape)}")
        return
    gap = float((a.double() - b.double()).abs().max()) / scale if a.numel() else 0.0
    row.difference = max(row.difference or 0.0, gap)
    row.checked.append(what.split(" ")[0])
    if not gap <= TOLERANCE:
        row.wrong.append(f"{what}: differs by {gap:.2g}")


def _size(x: Tensor) -> float:
    return max(1.0, float(x.abs().max()))


def _compare(row: Row, model: Any, reading: Any, trace: Any, eager: PreTrainedModel) -> dict[str, str]:
    """The trace beside a pass of transformers' own: logits, patterns, the stream by numbers of layers.

    Returns the path of the list of layers of each side.
    """
    streams: dict[str, list[Tensor]] = {}
    with _hearing(eager, streams):
        made = _passed(model, reading, eager)
    answer = _answer(made)
    last = _last(trace)
    if last and answer is not None:
        what = "logits" if last == "logits" else "stream"
        _differs(row, what, trace[last], _rows(answer), _size(answer))
    patterns = {a: trace[a] for a in trace if a.endswith(".pattern")}
    if not patterns:
        row.wrong.append("no pattern at all")
    for address, pattern in patterns.items():
        sums, kind = pattern.sum(-1), model.attention(".".join(address.split(".")[::2][:2]))
        low, high = float(sums.min()), float(sums.max())
        if not (
            high < 1 + 1e-4 and (low > 1 - 1e-4 or kind.normalizer != "softmax") and float(pattern.min()) >= 0
        ):
            row.wrong.append(
                f"{address}: rows sum to {low:.4g} to {high:.4g}, from {float(pattern.min()):.3g}"
            )
        n_keys = len(
            reading.tokens[
                "encoder" if "cross" in address and "encoder" in reading.tokens else address.split(".")[0]
            ]
        )
        if list(pattern.shape[1:]) != [len(reading.tokens[address.split(".")[0]]), n_keys]:
            row.wrong.append(f"{address}: {list(pattern.shape)} is not tokens by tokens")
    _causal(row, model, patterns)
    try:
        own = _passed(model, reading, eager, output_attentions=True)
    except Exception as error:  # a model's own code may raise anything here, where its pass without went well
        own = None
        row.checked.append(f"no patterns ({first_line(error)})")
    for stack, name in FIELDS[model.kind].items():
        theirs = [each for each in (getattr(own, name, None) or ()) if each is not None]
        side, part = stack.split(".")
        mine = [a for a in patterns if a.startswith(f"{side}.") and a.endswith(f".{part}.pattern")]
        mine = sorted(mine, key=lambda a: int(a.split(".")[1]))
        if not theirs or not mine or theirs[0].ndim != 4:
            continue
        if len(theirs) != len(mine):  # layers of no attention may give what they remember in its place
            size = patterns[mine[0]].shape[1:]
            numbers = [at for at, each in enumerate(theirs) if each.shape[-2:] == size]
            theirs = [theirs[at] for at in numbers]
            if [f"{side}.{at}.{part}.pattern" for at in numbers] != mine:
                row.wrong.append(f"{stack}: layers {mine} where eager attends in {numbers}")
        for address, pattern in zip(mine, theirs, strict=False):
            _differs(row, f"patterns {address}", patterns[address], pattern[0])
    return _numbers(row, trace, streams)


def _last(trace: Any) -> str:
    """The address of what a model answers: its logits, or the last stream; "" where neither is traced."""
    names = [a for a in trace if a == "logits" or a.endswith(".norm")]
    return names[-1] if names else ""


def _rows(answer: Tensor) -> Tensor:
    return answer if answer.ndim == 2 else answer[0]


def _causal(row: Row, model: Any, patterns: dict[str, Tensor]) -> None:
    """Whether what is called an encoder looks ahead, and a decoder does not."""
    for side in ("encoder", "decoder"):
        own = [p for a, p in patterns.items() if a.startswith(side) and ".self." in a and p.shape[-1] > 3]
        if not own:
            continue
        ahead = max(float(p.triu(1).abs().max()) for p in own if p.shape[-1] == p.shape[-2])
        if side == "encoder" and ahead == 0:
            row.wrong.append("called an encoder, but none of its heads looks ahead")
        if side == "decoder" and ahead > 0:
            row.wrong.append("called a decoder, but its heads look ahead")


@contextmanager
def _hearing(eager: nn.Module, streams: dict[str, list[Tensor]]) -> Iterator[None]:
    """What goes into each element of each list of modules, by the list's path and in its order."""
    handles = []
    for path, module in eager.named_modules():
        if isinstance(module, nn.ModuleList) and len(module) and not re.search(r"\.\d+\.", f"{path}."):
            streams[path] = [torch.empty(0)] * len(module)
            for at, each in enumerate(module):

                def hear(_: Any, given: Any, named: Any, path: str = path, at: int = at) -> None:
                    value = given[0] if given else named.get("hidden_states")
                    if isinstance(value, Tensor) and not streams[path][at].numel():
                        streams[path][at] = (
                            value[0] if len(value) == 1 else value[:, 0]
                        )  # XLNet's batch is second

                handles.append(each.register_forward_pre_hook(hear, with_kwargs=True))
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _numbers(row: Row, trace: Any, streams: dict[str, list[Tensor]]) -> dict[str, str]:
    """Whether layer i of the trace begins with what goes into element i of one of the lists of modules; the
    path of that list for each side.
    """
    paths: dict[str, str] = {}
    for side in ("encoder", "decoder"):
        pre = {int(a.split(".")[1]): trace[a] for a in trace if re.fullmatch(rf"{side}\.\d+\.resid_pre", a)}
        if not pre or not streams:
            continue

        def same(each: list[Tensor], pre: dict[int, Tensor] = pre) -> bool:
            return len(each) > max(pre) and all(
                each[at].shape == x.shape and float((each[at] - x).abs().max()) <= TOLERANCE * _size(x)
                for at, x in pre.items()
            )  # fmt: skip

        fitting = [path for path, each in streams.items() if same(each)]
        if fitting:
            row.checked.append("numbers")
            paths[side] = fitting[0]
        elif any(len(each) > max(pre, default=0) > 0 for each in streams.values()):  # else called again
            row.wrong.append(
                f"{side}: layers {sorted(pre)} are not the elements of these numbers of any list"
            )
    return paths


def _edit(
    row: Row, model: Any, reading: Any, plain: Any, eager: PreTrainedModel, paths: dict[str, str]
) -> None:
    """A no-op changes no bit; a zeroed head and a zeroed feed-forward network do what a plain hook does.

    paths: of the list of layers of each side.
    """
    same = model.trace(reading, edit=lambda address, value: value.clone())
    changed = [a for a in plain if not torch.equal(plain[a], same[a])]
    if changed:
        row.wrong.append(f"an edit that changes nothing changes {changed[0]}")
    last, answer = _last(plain), _answer(_passed(model, reading, eager))
    for side, path in paths.items():
        numbers = {int(a.split(".")[1]) for a in plain if re.fullmatch(rf"{side}\.\d+\.self\.z", a)}
        if not numbers or not last or answer is None:
            continue
        at = max(numbers)
        layer = cast(nn.ModuleList, eager.get_submodule(path))[at]
        zeroed = model.trace(reading, edits=[f"{side}.{at}.self heads 1: zero"])
        n_heads, _, d_head = plain[f"{side}.{at}.self.z"].shape
        projection = _projection(layer, n_heads * d_head)
        # A gate may stand between z and the projection, which keeps heads apart; a norm mixes them.
        if projection is not None and not _norms(layer):
            after = _hooked(model, reading, eager, projection.register_forward_pre_hook(_without(d_head)))
            _differs(row, f"head {side}.{at}", zeroed[last], _rows(after), _size(answer))
        feeding = _feeding(layer)
        if f"{side}.{at}.ff.out" in plain and feeding:
            zeroed = model.trace(reading, edits=[f"{side}.{at}.ff: zero"])
            after = _hooked(
                model,
                reading,
                eager,
                *(each.register_forward_hook(_zero, with_kwargs=True) for each in feeding),
            )
            _differs(row, f"ff {side}.{at}", zeroed[last], _rows(after), _size(answer))


def _hooked(model: Any, reading: Any, eager: PreTrainedModel, *handles: Any) -> Tensor:
    """What eager answers under hooks, which are then taken away."""
    try:
        return cast(Tensor, _answer(_passed(model, reading, eager)))
    finally:
        for handle in handles:
            handle.remove()


def _projection(layer: nn.Module, width: int) -> nn.Module | None:
    """The output projection of a layer's first attention, by the names that transformers gives them."""
    for path, module in layer.named_modules():
        name, weight = path.rsplit(".", 1)[-1], getattr(module, "weight", None)
        is_own = re.search(r"att|mixer", path, re.IGNORECASE) and "cross" not in path.lower()
        if (
            is_own
            and re.fullmatch(PROJECTIONS, name, re.IGNORECASE)
            and weight is not None
            and weight.ndim == 2
        ):
            inputs = weight.shape[0] if type(module).__name__ == "Conv1D" else weight.shape[1]
            if inputs == width:
                return module
    return None


def _norms(layer: nn.Module) -> bool:
    """Whether a norm stands before the output projection of its attention."""
    return any(re.search(r"sub_norm|sub_layrnorm|inner_attn_ln", path) for path, _ in layer.named_modules())


def _without(d_head: int) -> Callable[..., Any]:
    """A hook that takes head 1 out of what goes into an output projection."""

    def hook(_: Any, given: tuple[Tensor, ...]) -> Any:
        z = given[0].clone()
        z[..., d_head : 2 * d_head] = 0
        return (z, *given[1:])

    return hook


def _feeding(layer: nn.Module) -> list[nn.Module]:
    """What makes all that a layer's feed-forward part adds: a last linear map, or whole modules."""
    for path in LAST:
        with suppress(AttributeError, IndexError, TypeError):
            module: Any = layer
            for name in path.split("."):
                module = module[int(name)] if name.lstrip("-").isdigit() else getattr(module, name)
            return [module]
    children = [module for name, module in layer.named_children() if re.fullmatch(FEEDING, name)]
    return [module for module in children if any(True for _ in module.parameters())]


def _zero(module: nn.Module, given: Any, named: dict[str, Any], made: Any) -> Any:
    """A hook that takes away what a module adds: all but the stream, where it is given that to add to."""
    kept = inspect.signature(module.forward).bind(*given, **named).arguments.get("residual")
    nothing = torch.zeros_like(made if isinstance(made, Tensor) else made[0]) if kept is None else kept
    return nothing if isinstance(made, Tensor) else (nothing, *made[1:])
