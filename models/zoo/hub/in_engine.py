"""A model of transformers in our engine, which a browser can run: as ONNX in parts, with its tokenizer."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ...data.tasks import Rarity, Reading
from ...engine.trace import Trace
from ...files import FileError, read_json
from .. import load_hub
from ..catalogue import TEXTS
from ..engine_model import EngineModel
from ..model_file import write_onnx
from ..onnx_parts import Format, Matrix, cut
from .into_engine import into_engine
from .model import HubModel
from .model_folder import PREFIX, open_folder

TOKENIZER = "tokenizer.json"
TRIED = tuple(TEXTS.values())
"""The texts on which a browser's numbers are compared with those of transformers."""


class InEngine(EngineModel):
    """What `own` computes, computed by our engine. Raises ValueError for a model that it has no part for."""

    def __init__(self, own: HubModel) -> None:
        super().__init__(own.name, into_engine(own.net))
        self.own, self.outputs, self.abilities = own, own.outputs, own.abilities

    def read(self, text: str, **settings: Any) -> Reading:
        return self.own.read(text, **settings)

    def read_ids(self, ids: Sequence[int]) -> Reading:
        return self.own.read_ids(ids)

    def rarity(self, reading: Reading) -> Rarity | None:
        return self.own.rarity(reading)

    def code(self, text: str, **settings: Any) -> str:
        return self.own.code(text, **settings)

    def compute(self, reading: Reading, trace: Trace) -> None:
        if self.outputs:
            return super().compute(reading, trace)
        self.model.encode(*reading.inputs, trace=trace)

    @property
    def max_len(self) -> int:
        return min(super().max_len, self.own.max_len)

    def tokens(self) -> dict[str, Any]:
        """What a browser needs to read and write texts: the tokenizer's file and config, each token as a
        person reads it, and which of them are no words.
        """
        alphabet = self.own.made_of()
        return {
            "file": read_json(self.own.folder.path / TOKENIZER), "config": self.own.folder.tokenizer_config,
            "pieces": self.outputs or alphabet.names,
            "left": sorted({*range(len(alphabet.names))} - {*alphabet.own}),
        }  # fmt: skip


def open_in_engine(path: Path) -> InEngine:
    """The model of a folder. Raises ValueError, with a sentence, where a browser cannot run it."""
    folder = open_folder(f"{PREFIX}{path.expanduser().resolve()}")
    if folder.reads_pictures:
        raise FileError(f"{path.name} reads pictures, but a browser runs models of texts; choose another")
    if not folder.has(TOKENIZER):
        raise FileError(
            f"{path.name} has no {TOKENIZER}, the only tokenizer that a browser reads; save it anew by "
            "AutoTokenizer.from_pretrained(folder).save_pretrained(folder)"
        )
    own = load_hub(folder.name)
    assert isinstance(own, HubModel)
    return InEngine(own)


@dataclass(frozen=True)
class Differences:
    """The largest between what a browser computes and what transformers does: of weights of attention, and of
    logits, whose largest is also said.
    """

    pattern: float
    logit: float
    largest: float


def cut_onnx(model: InEngine, path: Path, weights: Format) -> tuple[list[Matrix], Differences]:
    """Writes the graph without its large matrices, which it returns, and compares it with transformers."""
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "model.onnx"
        write_onnx(model.model, whole, traced=True)
        matrices = cut(whole, weights, frozenset() if model.outputs else frozenset({"logits"}))
        differences = _differences(model, whole)
        shutil.copyfile(whole, path)
    return matrices, differences


def _differences(model: InEngine, path: Path) -> Differences:
    import onnxruntime

    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    heads = np.ones((model.config.n_layers, model.config.n_heads), np.float32)
    wanted = [each.name for each in session.get_outputs() if each.name.endswith((".pattern", "logits"))]
    worst = {"pattern": 0.0, "logits": 0.0, "largest": 0.0}
    for text in TRIED:
        reading = model.own.read(text)
        expected = model.own.trace(reading, reduce=lambda at, x: x if at in wanted else None)
        fed = {"tokens": reading.inputs[0].numpy(), "heads": heads}
        for address, found in zip(wanted, session.run(wanted, fed), strict=True):
            kind = address.split(".")[-1]
            far = (torch.from_numpy(found) - expected[address]).abs().max().item()
            worst[kind] = max(worst[kind], far)
            if kind == "logits":
                worst["largest"] = max(worst["largest"], expected[address].abs().max().item())
    return Differences(worst["pattern"], worst["logits"], worst["largest"])
