"""Cuts the weights out of an ONNX file, in fewer bits, for a browser that fetches them part by part."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

Format = Literal["int8", "float16"]
FORMATS: tuple[Format, ...] = ("int8", "float16")
STEPS = 10
"""Steps of "int8" to a channel's root mean square: entropy coding then takes 5.4 bits of a normal number."""
MOST_LEVEL = 127
LEAST = 1_024  # numbers of a matrix; a smaller one stays in the graph
PART = 8_000_000  # bytes


@dataclass(frozen=True)
class Matrix:
    """The weights of a matrix, a channel a row: values [row, column] are float16, or bytes that count steps
    from `MOST_LEVEL` + 1, a step for each row. goes: the graph's tensors that it fills, times a factor; into
    one that is "turned", its rows go as columns.
    """

    values: np.ndarray
    steps: np.ndarray | None
    goes: list[dict[str, Any]] = field(default_factory=list)

    @property
    def floats(self) -> np.ndarray:
        """The numbers that a browser makes of them, float32 [row, column]."""
        if self.steps is None:
            return self.values.astype(np.float32)
        return (self.values.astype(np.float32) - (MOST_LEVEL + 1)) * self.steps[:, None]


def rounded(rows: np.ndarray, weights: Format) -> Matrix:
    """Weights [row, column] in fewer bits. A step of "int8" is a tenth of the row's root mean square, or the
    127th part of its largest number where that is more: no number is cut off.
    """
    if weights == "float16":
        return Matrix(rows.astype(np.float16), None)
    mean_square = np.square(rows, dtype=np.float64).mean(axis=1)
    steps = np.maximum(mean_square**0.5 / STEPS, np.abs(rows).max(axis=1) / MOST_LEVEL).clip(1e-30)
    steps = steps.astype(np.float32)
    levels = np.rint(rows / steps[:, None]).clip(-MOST_LEVEL, MOST_LEVEL) + (MOST_LEVEL + 1)
    return Matrix(levels.astype(np.uint8), steps)


def cut(path: Path, weights: Format, without: frozenset[str] = frozenset()) -> list[Matrix]:
    """Takes the large matrices out of the file at `path`, which then reads each as float32 from the file
    beside it that has the tensor's name; a browser hands them over from what it has made of the result.

    without: outputs that are left out, with what only they need. A matrix that is another one times a number,
    as tied embeddings are, is kept once. Biases, norms and small tables stay as they are.
    """
    import onnx_ir as ir
    from onnx_ir.passes.common import RemoveUnusedNodesPass

    model = ir.load(str(path))
    for output in [each for each in model.graph.outputs if each.name in without]:
        model.graph.outputs.remove(output)
    RemoveUnusedNodesPass()(model)
    kept: list[tuple[np.ndarray, Matrix]] = []
    for name, value in model.graph.initializers.items():
        tensor, turned = value.const_value, _is_turned(value)
        if turned is None or tensor is None or tensor.size < LEAST:
            continue
        own = tensor.numpy()
        rows = np.ascontiguousarray(own.T) if turned else own
        same = ((matrix, _ratio(rows, other)) for other, matrix in kept if other.shape == rows.shape)
        matrix, factor = next(((matrix, ratio) for matrix, ratio in same if ratio), (None, 1.0))
        if matrix is None:
            matrix = rounded(rows, weights)
            kept.append((rows, matrix))
        matrix.goes.append({"name": name, "turned": turned, "factor": factor})
        floats = matrix.floats * np.float32(factor)
        (path.parent / name).write_bytes(np.ascontiguousarray(floats.T if turned else floats).tobytes())
        value.const_value = ir.ExternalTensor(
            name,
            0,
            4 * tensor.size,
            ir.DataType.FLOAT,
            shape=ir.Shape(own.shape),
            name=name,
            base_dir=path.parent,
        )
    path.write_bytes(ir.to_proto(model).SerializeToString())
    return [matrix for _, matrix in kept]


_LOOKED_UP = ({("Gather", 0)}, {("Slice", 0)})


def _is_turned(value: Any) -> bool | None:
    """Whether a matrix is multiplied from the right, so that its channels are columns; False of a table whose
    rows are looked up; None of any other tensor.
    """
    if value.dtype.name != "FLOAT" or len(value.shape) != 2:
        return None
    uses = {(use.node.op_type, use.idx) for use in value.uses()}
    return True if uses == {("MatMul", 1)} else False if uses in _LOOKED_UP else None


def _ratio(rows: np.ndarray, other: np.ndarray) -> float:
    """The number by which all of another matrix must be multiplied to be `rows`; 0 where there is none."""
    at = np.abs(other[0]).argmax()
    ratio = float(rows[0, at] / other[0, at]) if other[0, at] else 0.0
    is_same = all(
        np.allclose(mine, ratio * theirs, rtol=1e-5, atol=1e-12)
        for mine, theirs in ((rows[0], other[0]), (rows, other))
    )
    return ratio if is_same else 0.0


def parts(matrices: list[Matrix]) -> Iterator[list[dict[str, Any]]]:
    """The matrices in pieces of whole rows, in parts of at most `PART` bytes, in the order of the graph."""
    part: list[dict[str, Any]] = []
    room = PART
    for matrix in matrices:
        values, first = matrix.values, 0
        row = values[0].nbytes + 4
        while first < len(values):
            if room < row and part:
                yield part
                part, room = [], PART
            stop = min(len(values), first + max(1, room // row))
            steps = None if matrix.steps is None else matrix.steps[first:stop]
            piece = {"values": values[first:stop], "steps": steps, "first": first, "rows": len(values)}
            part.append(piece | {"goes": matrix.goes})
            room -= row * (stop - first)
            first = stop
    if part:
        yield part
