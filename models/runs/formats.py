"""The file formats that a run is exported in: our own, that of transformers, and ONNX."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from models.config import ModelConfig
from models.data.tasks import Task
from models.engine.transformer import Transformer
from models.files import write_json, write_whole, writing
from models.names import nearest
from models.zoo.cards import CARD
from models.zoo.files import write_model

Writer = Callable[[Task, Transformer, dict[str, Any], Path, str], Path]
README = "README.md"
"""What another program has to know of the files, in words."""


def write_format(
    kind: str, task: Task, model: Transformer, card: dict[str, Any], out: Path, name: str
) -> Path:
    """Writes a model and its card in one of the FORMATS; returns the path of the weights.

    Raises ValueError for an unknown format and a model that does not fit it, OSError of the disk.
    """
    if kind not in FORMATS:
        raise ValueError(f"format={kind!r:.60} is unknown; {nearest(kind, FORMATS)}")
    misfit = refusal(kind, model.config)
    if misfit:  # before a folder is made
        raise ValueError(misfit)
    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
        return FORMATS[kind](task, model, card, out, name)


def refusal(kind: str, config: ModelConfig) -> str:
    """Why a model of this config does not fit a format; "" where it does. The graph of ONNX is not tried."""
    from models.zoo.hub.from_engine import Misfit, family_of

    if kind != "transformers":
        return ""
    try:
        family_of(config)
    except Misfit as misfit:
        return str(misfit)
    return ""


def _own(task: Task, model: Transformer, card: dict[str, Any], out: Path, name: str) -> Path:
    return write_model(out, name, model, card)


def _transformers(task: Task, model: Transformer, card: dict[str, Any], out: Path, name: str) -> Path:
    from models.zoo.hub.from_engine import family_of, from_engine
    from models.zoo.hub.from_engine.tokenizer import special_ids, tokenizer_of

    family = family_of(model.config)
    net, tokenizer = from_engine(model, special_ids=special_ids(task)), tokenizer_of(task)
    net.save_pretrained(out)
    if tokenizer is not None:
        tokenizer.save_pretrained(out)
    write_json(out / CARD, {**card, "config": model.config.to_dict()}, sync=True)
    lines = _lines_of_transformers(type(net).__name__, reads=tokenizer is not None)
    said = f"The model as a {family} of transformers ({type(net).__name__}): the same logits within 1e-5."
    _write_readme(out, name, card, [said, lines, *_padding(model.config)])
    return out / "model.safetensors"


def _onnx(task: Task, model: Transformer, card: dict[str, Any], out: Path, name: str) -> Path:
    from models.zoo.onnx_file import write_onnx

    path = out / f"{name}.onnx"
    found = write_onnx(model, path)
    write_json(out / CARD, {**card, "config": model.config.to_dict()}, sync=True)
    inputs = ["source", "target"] if model.config.kind == "encoder-decoder" else ["tokens"]
    given = ", ".join(f'"{each}": {each}' for each in inputs)
    lines = (
        "```python\nimport onnxruntime\n\n"
        f'session = onnxruntime.InferenceSession("{path.name}")\n'
        f'logits = session.run(["logits"], {{{given}}})[0]  # int64 ids [batch, position]\n```'
    )
    if model.config.input_channels is not None:
        lines = lines.replace("int64 ids [batch, position]", "float32 [batch, position, channel]")
    said = (
        f"The model as an ONNX file. Its logits in onnxruntime were within {found:.1g} of the largest as it "
        f"was written. A sequence has at most {model.config.max_len:,} positions; padding is found by its id."
    )
    _write_readme(out, name, card, [said, lines])
    return path


def _lines_of_transformers(kind: str, *, reads: bool) -> str:
    more = ', AutoTokenizer\n\ntokenizer = AutoTokenizer.from_pretrained(".")' if reads else "\n"
    return f'```python\nfrom transformers import {kind}{more}\nmodel = {kind}.from_pretrained(".")\n```'


def _padding(config: ModelConfig) -> list[str]:
    if config.pad_id is None:
        return []
    return [f"Padding has the id {config.pad_id}: give an `attention_mask` that is 0 there."]


def _write_readme(out: Path, name: str, card: Mapping[str, Any], parts: list[str]) -> None:
    licence = f"Licence: {card.get('license', 'not stated')}. Task, training and scores are in card.json."
    text = "\n\n".join([f"# {name}", str(card.get("summary", "")), *parts, licence])
    write_whole(out / README, f"{text}\n".encode())


FORMATS: dict[str, Writer] = {"own": _own, "transformers": _transformers, "onnx": _onnx}
"""By name, what writes a model: "own" is what this project opens again."""
