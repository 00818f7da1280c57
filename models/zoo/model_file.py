"""Reads and writes a model on disk: `<name>.safetensors` with the weights, or the same packed by xz, and
`card.json` beside it with all the rest; or the checkpoint of a training run, which its folder's JSON files
describe.

Nothing but safetensors is ever read for weights, no code is run, and every size is checked before it is read.
"""

import json
import logging
import lzma
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors
from torch import Tensor, nn

from ..byte_units import MB, readable
from ..config import ModelConfig
from ..data.tasks import Task, make_task
from ..engine.size import addresses, count_parameters
from ..engine.trace import Trace
from ..engine.transformer import Transformer
from ..files import FileError, check_size, read_bounded, write_json, write_whole
from ..limits import in_force
from .folders import CARD, PACKED

MAX_WEIGHTS_BYTES = in_force().weights_mb * MB
DTYPES = (torch.float32, torch.float16)  # both are read as float32
_BY_TWOS: Any = [{"id": lzma.FILTER_LZMA2, "lc": 0, "lp": 1, "pb": 0}]
"""How float16 is packed best: the first bytes of all numbers are alike, and so are the second ones."""
_UNPACKING_BYTES = 64 * MB  # more than the dictionary of any file that `write_model` packs
MAX_SIZE = 100_000
MAX_TABLE = 1 << 24  # numbers in a table of positions
Made = TypeVar("Made")


def write_model(
    folder: Path, name: str, model: Transformer, card: dict[str, Any], *, half: bool = False
) -> Path:
    """Writes weights and card, each whole or not at all; returns the weights' path.

    half: as float16, packed by xz, for weights that are all such numbers. `card` needs "task" and "learnt"
    ("learnt" may lie in the family's folder); "config" is added. Raises ValueError for a name that leads out
    of the folder.
    """
    if not name or Path(name).name != name or name.startswith("."):
        raise ValueError(f"name={name!r} names no file; give one without folders or a dot in front")
    folder.mkdir(parents=True, exist_ok=True)
    weights = folder / f"{name}.safetensors{PACKED if half else ''}"
    dtype = torch.float16 if half else torch.float32
    raw = save_tensors({key: value.to(dtype).contiguous() for key, value in model.state_dict().items()})
    write_whole(weights, lzma.compress(raw, filters=_BY_TWOS) if half else raw, sync=True)
    write_json(folder / CARD, {**card, "config": model.config.to_dict()}, sync=True)
    return weights


def read_config(weights: Path, values: Any) -> ModelConfig:
    """The config beside the weights, checked. Raises FileError."""
    return checked(weights, "config", lambda: ModelConfig.from_dict(values))


def read_task(path: Path, description: Any, learnt: Any, config: ModelConfig) -> Task:
    """The task of a `description` at `path`, with what it `learnt`; checked to suit the model's config.

    Raises FileError.
    """

    def make() -> Task:
        task = make_task(description["name"], description["options"], from_disk=True)
        task.restore(learnt)
        for name, value in {"kind": task.kind, **task.required_sizes()}.items():
            if getattr(config, name) != value:
                raise ValueError(
                    f"task {task.name!r} needs {name}={value!r}, but the model has "
                    f"{name}={getattr(config, name)!r}; choose the description written with the weights"
                )
        return task

    return checked(path, "task", make)


def read_weights(weights: Path, config: ModelConfig, *, part: str = "") -> Transformer:
    """The model of this config with a file's weights, ready to be asked; raises FileError.

    part: the prefix of the names of the model's tensors, such as "model." in a checkpoint.
    """
    if part:
        check_size(weights, 3 * MAX_WEIGHTS_BYTES, "a checkpoint")
    raw = b"" if part else read_bounded(weights, MAX_WEIGHTS_BYTES, "weights")
    try:
        if weights.suffix == PACKED:
            raw = _unpacked(raw)
        tensors = _read_part(weights, part) if part else load_tensors(raw)
    except (SafetensorError, OSError, ValueError, KeyError, TypeError, AttributeError, lzma.LZMAError):
        raise FileError(f"{str(weights)!r} is no whole safetensors file; copy or download it again") from None
    except OverflowError:
        most = readable(MAX_WEIGHTS_BYTES)
        raise FileError(f"{str(weights)!r} unpacks to more than {most}; choose a smaller file") from None
    _check_sizes(weights, len(tensors), config)
    _check_tensors(weights, tensors, config)
    model = Transformer(config, seed=0)
    model.load_state_dict(tensors)
    return model.eval()


def _unpacked(packed: bytes) -> bytes:
    """Unpacks xz. Raises LZMAError for a file that is not whole, OverflowError for one that is too large."""
    unpacking = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_UNPACKING_BYTES)
    raw = unpacking.decompress(packed, MAX_WEIGHTS_BYTES + 1)
    if len(raw) > MAX_WEIGHTS_BYTES:
        raise OverflowError
    if not unpacking.eof or unpacking.unused_data:
        raise lzma.LZMAError
    return raw


def _read_part(weights: Path, part: str) -> dict[str, Tensor]:
    """Reads only what is asked for: a checkpoint is three times as large as its model."""
    with safe_open(weights, framework="pt") as file:
        names = [name for name in file.keys() if name.startswith(part)]  # noqa: SIM118, it is no dict
        return {name[len(part) :]: file.get_tensor(name) for name in names}


def checked(weights: Path, field: str, make: Callable[[], Made]) -> Made:
    """What `make` builds from the description of the weights; any error in it becomes a FileError."""
    try:
        return make()
    except (ValueError, TypeError, AttributeError, KeyError, IndexError, AssertionError) as error:
        problem = f"it lacks {error}" if isinstance(error, KeyError) else error
        raise FileError(f"the description of {str(weights)!r} has no valid {field}: {problem}") from None


def _check_sizes(weights: Path, n_tensors: int, config: ModelConfig) -> None:
    """Raises FileError for a description of a model far larger than its weights, before it is built."""
    names = ("n_layers", "n_heads", "d_model", "d_head", "d_ff", "max_len")
    sizes = {name: getattr(config, name) for name in names}
    too_large = max(sizes.values()) > MAX_SIZE or config.max_len * config.d_model > MAX_TABLE
    if too_large or config.n_layers > n_tensors:
        raise FileError(
            f"the description of {str(weights)!r} states {sizes}, too large for {n_tensors} tensors; "
            "choose its own"
        )


def _check_tensors(weights: Path, tensors: dict[str, Tensor], config: ModelConfig) -> None:
    """Compares names and shapes before a model takes more memory than its file has numbers."""

    def shapes() -> dict[str, tuple[int, ...]]:
        is_larger = count_parameters(config).total > sum(value.numel() for value in tensors.values())
        with torch.device("meta" if is_larger else "cpu"):  # "meta" takes PyTorch seconds the first time
            return {name: tuple(value.shape) for name, value in Transformer(config).state_dict().items()}

    expected = checked(weights, "config", shapes)
    shapes_there = {name: tuple(value.shape) for name, value in tensors.items()}
    problems = [
        *(f"lacks {name}" for name in sorted(expected.keys() - shapes_there.keys())),
        *(f"has an unknown {name}" for name in sorted(shapes_there.keys() - expected.keys())),
        *(
            f"has {name} {shapes_there[name]} instead of {expected[name]}"
            for name in sorted(expected.keys() & shapes_there.keys())
            if shapes_there[name] != expected[name]
        ),
        *(
            f"has {name} as {each.dtype}, not float32 or float16"
            for name, each in tensors.items()
            if each.dtype not in DTYPES
        ),
        *(f"has numbers in {n} that are not finite" for n, t in tensors.items() if not t.isfinite().all()),
    ]
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise FileError(f"{str(weights)!r} {problems[0]}{more}: it is another model's; choose its own")


# A model of our engine as one ONNX file, which runs without PyTorch and without this project.

TOLERANCE = 1e-4
"""The largest difference between the file's logits and the model's, relative to the largest logit."""
MOST_PARAMETERS = 400_000_000  # as float32 in one file: the format has no more than 2 GB
_LEAST_HALVED = 1_024  # numbers of a tensor
_ROWS, _POSITIONS = 2, 5  # of the texts that the graph is drawn with: neither is 1, which would be fixed


def write_onnx(model: Transformer, path: Path, *, traced: bool = False) -> float:
    """Writes the model, checks it with onnxruntime, and returns the largest relative difference of outputs.

    Inputs: "tokens" [batch, position] of int64, or of vectors [batch, position, channel]; of an
    encoder-decoder "source" and "target". Output: "logits". Batch and lengths are free; padding
    is found by its id. The config is in the file's metadata. Weights that are all float16 numbers stay such.
    traced: it reads one text, a further input is "heads" (see `Traced`), and its outputs are all that a trace
    holds, by address and without a batch axis.
    Raises ValueError for a model that is too large or cannot be drawn as a graph, and where onnxruntime
    computes something else; OSError of the disk.
    """
    n_parameters = sum(weight.numel() for weight in model.parameters())
    if n_parameters > MOST_PARAMETERS:
        raise ValueError(
            f"{n_parameters:,} parameters do not fit one ONNX file; it takes at most {MOST_PARAMETERS:,}"
        )
    copy = Transformer(model.config, seed=0).eval().requires_grad_(False)
    copy.load_state_dict({name: each.float().cpu() for name, each in model.state_dict().items()})
    drawn = Traced(copy) if traced else copy
    with tempfile.TemporaryDirectory() as folder:
        graph = Path(folder) / "model.onnx"
        _draw(drawn, graph)
        differs = difference(drawn, graph)
        if not differs <= TOLERANCE:
            raise ValueError(
                f"onnxruntime's logits differ from the model's by {differs:.2g}, more than {TOLERANCE:g}; "
                "export the run in its own format"
            )
        write_whole(path, graph.read_bytes(), sync=True)
    return differs


class Traced(nn.Module):
    """A model that returns all that a trace of it holds, in the order of `addresses`; of an encoder-decoder
    also what the output layer makes of the encoder's output.

    Each z is multiplied by its attention's row of the last input, [attention, head], attentions in the order
    of their addresses: 1 leaves a head alone, 0 switches it off.
    """

    def __init__(self, model: Transformer) -> None:
        super().__init__()
        self.model, self.config = model, model.config
        named = ["encoder.logits"] if len(model.config.stacks) == 2 else []
        self.addresses = [*addresses(model.config), *named]
        self.attentions = [address for address in self.addresses if address.endswith(".z")]

    def forward(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        """The values of one text."""
        *read, heads = inputs

        def edit(address: str, value: Tensor) -> Tensor:
            if address not in self.attentions:
                return value
            return value * heads[self.attentions.index(address)][:, None, None]

        trace = Trace(edit=edit)
        self.model(*read, trace=trace)
        if "encoder.logits" in self.addresses:
            trace.record("encoder.logits", self.model.unembed(trace["encoder.norm"])[None])
        return tuple(trace[address] for address in self.addresses)


def difference(model: Transformer | Traced, path: Path) -> float:
    """The largest difference between onnxruntime's outputs and the model's, over the largest of each.

    It is taken on texts of several lengths, one of them the longest, and with padding where there is any.
    """
    import onnxruntime

    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    config, worst, is_traced = model.config, 0.0, isinstance(model, Traced)
    for seed, length in enumerate({1, *(min(most, config.max_len) for most in (3, 17, 64))}):
        inputs = _inputs(model, rows=1 if is_traced else 3, length=length, seed=seed)
        with torch.no_grad():
            values = model(*inputs)
        arrays = {each.name: value.numpy() for each, value in zip(session.get_inputs(), inputs, strict=True)}
        for own, other in zip(values if is_traced else [values], session.run(None, arrays), strict=True):
            counted = own.isfinite()  # a score of -inf is no number
            if config.pooling == "none" and config.pad_id is not None and inputs[-1].shape == own.shape[:2]:
                counted &= (inputs[-1] != config.pad_id)[..., None]  # logits of padding mean nothing
            own, theirs = own[counted], torch.from_numpy(other)[counted]
            worst = max(worst, ((theirs - own).abs().max() / own.abs().max().clamp(min=1e-6)).item())
    return worst


def _draw(model: Transformer | Traced, path: Path) -> None:
    """Draws the graph and saves it with its weights inside. Raises ValueError."""
    is_traced, length = isinstance(model, Traced), min(_POSITIONS, model.config.max_len)
    inputs = _inputs(model, rows=1 if is_traced else _ROWS, length=length, seed=0)
    free = {0: torch.export.Dim.DYNAMIC, 1: torch.export.Dim.DYNAMIC}
    from onnx_ir.passes.common import ClearMetadataAndDocStringPass

    names = ["source", "target"] if len(model.config.stacks) == 2 else ["tokens"]
    shapes: Any = (free,) * len(names)
    if is_traced:
        shapes = (({1: free[1]},) * len(names) + (None,),)
    try:
        with torch.no_grad(), _quiet():
            program = torch.onnx.export(
                model, inputs, dynamo=True, input_names=[*names, "heads"][: len(inputs)],
                output_names=model.addresses if isinstance(model, Traced) else ["logits"],
                dynamic_shapes=shapes, verbose=False,
            )  # fmt: skip
    except Exception as error:  # the exporter raises what its many parts raise
        raise ValueError(
            f"this model cannot be drawn as a graph ({type(error).__name__}); export it in its own format"
        ) from error
    assert program is not None
    # The exporter writes into each node from which lines of which files of this machine it comes.
    ClearMetadataAndDocStringPass()(program.model)
    _halve(program.model.graph)
    program.model.metadata_props["config"] = json.dumps(model.config.to_dict())
    program.save(str(path), external_data=False)


def _halve(graph: Any) -> None:
    """Keeps weights of onnx_ir's graph that are all float16 numbers as such; a node makes float32 of each."""
    import onnx_ir as ir

    for name, value in [*graph.initializers.items()]:
        tensor = value.const_value
        if tensor is None or tensor.dtype != ir.DataType.FLOAT or tensor.size < _LEAST_HALVED:
            continue
        numbers = tensor.numpy()
        if (numbers.astype("float16") != numbers).any():
            continue
        half = ir.Value(name=f"{name}.half", const_value=ir.tensor(numbers.astype("float16")))
        cast = ir.node("Cast", [half], {"to": ir.DataType.FLOAT})
        value.replace_all_uses_with(cast.outputs[0])
        graph.initializers.pop(name)
        graph.register_initializer(half)
        graph.insert_before(graph[0], cast)


def _inputs(model: Transformer | Traced, *, rows: int, length: int, seed: int) -> tuple[Tensor, ...]:
    """Random inputs; the last row ends in padding where a model knows any, and some heads are off."""
    generator, config, inputs = torch.Generator().manual_seed(seed), model.config, []
    if config.input_channels is not None:
        inputs.append(torch.randn(rows, length, config.input_channels, generator=generator))
    else:
        least = 0 if config.pad_id is None or config.vocab_size == 1 else 1
        for size in (config.vocab_size, config.output_vocab_size)[: len(config.stacks)]:
            ids = torch.randint(least, size, (rows, length), generator=generator)
            if config.pad_id is not None:
                ids[ids == config.pad_id] = size - 1 if config.pad_id != size - 1 else 0
                ids[-1, (length + 1) // 2 :] = config.pad_id
            inputs.append(ids)
    if isinstance(model, Traced):
        heads = torch.rand(len(model.attentions), config.n_heads, generator=generator)
        inputs.append((heads > 0.2).float())
    return tuple(inputs)


@contextmanager
def _quiet() -> Iterator[None]:
    """Inside, the exporter's remarks on what is not installed and how it traces are not shown."""
    logger: Any = logging.getLogger("torch.onnx")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(before)
