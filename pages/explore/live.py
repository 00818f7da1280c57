"""A shipped model as a browser runs it without a server: what viz_core/viewer/live needs beside its weights.

Explore's message has entries that follow from the model alone. They are taken from the message of the text
that the model opens with, as they are; the browser computes the others.
"""

import json
import math
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from attention_lab.models.data.grammar import annotations
from attention_lab.models.data.tasks import Task
from attention_lab.models.data.tasks.everyday import aligned_pairs
from attention_lab.models.data.tasks.needle import NAMES
from attention_lab.models.data.word_tokenizer import PRONOUNS, SPECIALS, UNK
from attention_lab.models.zoo import load_model
from attention_lab.models.zoo.catalogue import DEFAULT, Offer, offer_of, offers, register, shipped
from attention_lab.models.zoo.engine_model import EngineModel, TrainedModel
from attention_lab.models.zoo.families import FAMILIES, Family
from attention_lab.models.zoo.model_file import write_onnx
from attention_lab.models.zoo.onnx_parts import Format, parts
from attention_lab.pages.explore import effect, head_measures, panel, payload
from attention_lab.pages.explore.figure import TERMS, asked_of, own_header, standing_header
from attention_lab.pages.explore.question import Question, opened_by
from attention_lab.pages.explore.state import MOVED, Inputs
from attention_lab.pages.explore.subject import subject_of
from attention_lab.pages.shared import glossary
from attention_lab.viz_core.measures import MEASURES
from attention_lab.viz_core.measures.one_head import HEAD_NAMES
from attention_lab.viz_core.viewer.message import pack, to_json

READS = {
    "translation": "translation",
    "everyday": "everyday",
    "masked": "masked",
    "sentiment": "classes",
    "verb-number": "classes",
    "language-model": "text",
    "long-context": "text",
    "induction": "letters",
    "modular-addition": "addition",
    "needle": "needle",
}
"""By the name of a task, the function of viz_core/viewer/live/readings.js that reads its texts."""
STRANGE = "§"
"""A text that the readers of letters, numbers and needles refuse, in a sentence that names it."""
WITHOUT = ("beam",)
"""Settings that a browser does not follow: it writes greedily."""
_OF_TEXT = (
    *("tokens", "special", "specialTokens", "measures", "exact", "steps", "stepSide", "antecedents"),
    *("asks", "chart", "translation", "typed"),
)
_OF_LENGTH = (
    *("nQuery", "nKey", "rows", "thumbQuery", "thumbKey", "thumbs", "hidden", "stats", "labels", "pairs"),
)


def live_models() -> dict[str, str]:
    """By the name of each model that Explore offers: "" where a browser runs it, or the sentence why not."""
    return {name: _why_not(offer) for name, offer in offers().items()}


def _why_not(offer: Offer) -> str:
    if offer.name in FAMILIES:
        return "" if FAMILIES[offer.name].recipe.get("task") in READS else f"The app has “{offer.title}”."
    if offer.name not in shipped():
        return f"The app makes “{offer.title}” anew from its settings."
    if offer.reads == "picture":
        return f"The app draws the pictures of “{offer.title}”."
    return ""


def write_live(name: str, folder: Path, beside: Sequence[str] = ()) -> float:
    """Writes `<name>.onnx` and `<name>.bin`; returns the largest relative difference of a traced value. Of a
    family these are its first member's, and those of others have their own names.

    beside: the names of the models that lie in the same folder.
    """
    if name in FAMILIES:
        return max(
            _write_member(FAMILIES[name], member, folder, beside) for member in FAMILIES[name].members()
        )
    model = offers()[name].load()
    assert isinstance(model, EngineModel)
    if not isinstance(model, TrainedModel):  # but one of transformers: the rest of it is there
        files = sorted(folder.glob(f"{name}.*.packed"))
        sizes = {file.name: file.stat().st_size for file in files}
        (folder / f"{name}.bin").write_bytes(description(name, beside, sizes))
        return 0.0
    (folder / f"{name}.bin").write_bytes(description(name, beside))
    return write_onnx(model.model, folder / f"{name}.onnx", traced=True)


def _write_member(family: Family, member: str, folder: Path, beside: Sequence[str]) -> float:
    path = folder / _file_of(family, member)
    Path(f"{path}.bin").write_bytes(description(family.name, beside, dials=family.members()[member]))
    return write_onnx(load_model(member).model, Path(f"{path}.onnx"), traced=True)


def _file_of(family: Family, member: str) -> str:
    """The name of a member's files; of the first it is the family's."""
    return family.name if family.members()[member] == family.first else member.replace("/", ".")


def _of_family(name: str, dials: Mapping[str, Any]) -> dict[str, Any]:
    """What a browser needs to turn the dials of a family; {} of another model."""
    if name not in FAMILIES:
        return {}
    family = FAMILIES[name]
    members = {_file_of(family, each): family.changed(values) for each, values in family.members().items()}
    about = {"alone": family.alone, "first": family.first, "members": members}
    return {"family": about, "dials": family.changed({**family.first, **dials})}


LONGEST = 256
"""Tokens of a text that a model of transformers reads in a browser: a pass takes seconds there."""
LACKING = (
    "With models of transformers, only the app makes sweeps, maps and other edits than to switch heads off, "
    f"fills chat templates, and reads texts of more than {LONGEST} tokens."
)
_BITS: dict[Format, int] = {"int8": 8, "float16": 16}


def add_folder(path: Path, folder: Path, weights: Format = "int8") -> str:
    """Writes the graph, weights and tokenizer of a folder of transformers, in parts that a browser fetches,
    and offers the model. Returns its name. Raises ValueError, with a sentence, for one that cannot be run.
    """
    from attention_lab.models.zoo.hub.in_engine import TRIED, cut_onnx, open_in_engine  # and transformers

    name = re.sub(r"[^A-Za-z0-9_-]+", "-", path.resolve().name).strip("-") or "model"
    model = open_in_engine(path)
    offer = offer_of(model.name)
    assert offer is not None
    graph = folder / f"{name}.onnx"
    matrices, far = cut_onnx(model, graph, weights)
    texts = [to_json(model.tokens()), graph.read_bytes()]
    graph.unlink()
    numbers = (pack(pieces=part).message(of=name) for part in parts(matrices))
    # rounded weights do not repeat: only how often each comes is worth coding
    packed = [*(_gzip(each) for each in texts), *(_gzip(each, zlib.Z_HUFFMAN_ONLY) for each in numbers)]
    for at, content in enumerate(packed):
        (folder / f"{name}.{at:03}.packed").write_bytes(content)
    size = sum(map(len, packed))
    said = [
        f"For the browser, its weights are rounded to {_BITS[weights]} bits.",
        f"On {len(TRIED)} texts, this moved a weight of attention by at most {far.pattern:.2g}.",
        *[f"It moved a logit, of up to {far.largest:.2g}, by at most {far.logit:.2g}."] * bool(model.outputs),
    ]
    register(replace(
        offer, name=name, load=lambda: model, settings=(), memory="",
        summary=f"{size / 1e6:.2g} MB to fetch",
        taught=" ".join(said),
    ))  # fmt: skip
    return name


def _gzip(content: bytes, strategy: int = zlib.Z_DEFAULT_STRATEGY) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 16 + zlib.MAX_WBITS, zlib.DEF_MEM_LEVEL, strategy)
    return packer.compress(content) + packer.flush()


def description(
    name: str,
    beside: Sequence[str] = (),
    sizes: Mapping[str, int] | None = None,
    dials: Mapping[str, Any] = MappingProxyType({}),
) -> bytes:
    """All that types.d.ts calls a Model, packed as a message is. beside: the models that can be opened.
    sizes: the bytes of the files that a model of transformers is in. dials: where those of a family are.
    """
    offer = offers()[name]
    inputs = Inputs(name, offer.text, **dials)
    subject, body = subject_of(inputs), payload.body_of_inputs(inputs, payload.Opened())
    model, header = subject.model, json.loads(body.packed.header)
    assert isinstance(model, EngineModel)
    rarity = model.rarity(subject.reading)
    task, of_texts = None, {"reads": "tokens", "length": min(model.max_len, LONGEST), "sizes": sizes}
    own = getattr(model, "own", None)  # that of transformers
    if own is not None and "continue" in model.abilities:
        of_texts["ends"] = sorted(own.writing(subject.reading).ends)
    if isinstance(model, TrainedModel):
        task, of_texts = model.task, _reading(model.task, model.card["learnt"])
    every = {"id": ".self", "stats": [*(measure.name for measure in MEASURES), MOVED]}
    said = {"rare": head_measures.IN_THE_TEXT if rarity is None else rarity.said}
    taught = glossary.found_in(TERMS, offer.taught, (*body.special, "<unk>"))
    template = {
        **{entry: value for entry, value in header.items() if entry not in _OF_TEXT},
        "stacks": [{k: v for k, v in stack.items() if k not in _OF_LENGTH} for stack in header["stacks"]],
        **standing_header(offer, body.note), "chart": payload.HEAD, "story": list(offer.story),
        **_of_a_visit(offer, beside), "terms": glossary.sentences(taught),
        "sizes": panel.stops(inputs, ""), "standing": panel.standing(inputs),
    }  # fmt: skip
    packed = pack(
        title=offer.title, wider=offer.wider if offer.wider in beside else "",
        text=offer.text, names=[] if sizes else list(model.outputs), maxLen=model.max_len,
        abilities=list(model.abilities), pronouns=list(PRONOUNS), nouns=sorted(annotations.NOUN_FORMS),
        asked=bool(getattr(task, "antecedent_weight", 0)), labels=HEAD_NAMES, moved=MOVED,
        rarity=rarity and [(token, None if math.isinf(n) else n) for token, n in rarity.counts.items()],
        measures=head_measures.declared([every], said),
        said={"named": head_measures.NAMED, "aligned": head_measures.ALIGNED},
        budget={
            "exact": payload.EXACT_BYTES, "thumbs": payload.THUMB_BYTES, "least": payload.MIN_THUMB,
            "most": payload.MAX_THUMB, "window": payload.WINDOW, "top": payload.TOP_TOKENS,
            "changed": effect.TOP_CHANGED, **payload.MAX_STEPS,
        },
        examples=list(offer.examples), swaps=offer.swaps, isDefault=name == DEFAULT,
        standing=offer.memory != DEFAULT,
        usual={setting.name: str(setting.default) for setting in offer.settings},
        turns=[setting.name for setting in offer.settings if setting.turns],
        template=template, **of_texts, **_of_family(name, dials),
    )  # fmt: skip
    return packed.message(name=name)


def first_message(name: str, beside: Sequence[str]) -> bytes:
    """The message of a model's own text, which a page shows before it fetches the model."""
    offer = offers()[name]
    inputs = Inputs(name, offer.text)
    body = payload.body_of_inputs(inputs, opened_by(Question(model=name), offer))
    asked = asked_of(inputs)
    asked["settings"] = {key: value for key, value in asked["settings"].items() if key not in WITHOUT}
    terms = glossary.found_in(TERMS, offer.taught, body.special)
    return body.packed.message(
        **own_header(inputs, body, offer) | _of_a_visit(offer, beside), asked=asked, notes={},
        abilities=body.abilities, terms=glossary.sentences(terms),
    )  # fmt: skip


def _of_a_visit(offer: Offer, beside: Sequence[str]) -> dict[str, Any]:
    """The entries of a message that are alike for all texts of a model."""
    return {
        "viewToken": f"{offer.name}.0", "linked": {}, "fromBehind": False, "beside": False,
        "controls": panel.declaration(offer, beside or [offer.name], WITHOUT),
    }  # fmt: skip


def _reading(task: Task, learnt: dict[str, Any]) -> dict[str, Any]:
    """What the reader of a task's texts needs."""
    reads, options = READS[task.name], task.to_dict()
    values: dict[str, Any] = {
        "reads": reads,
        "length": options.get("longest", options.get("length")),
        "tokenizer": learnt.get("tokenizer"),
        "first": options.get("pool") == "cls",
    }
    if reads == "translation":
        words = learnt["words"]
        values["tokenizer"] = {
            "kind": "words",
            "vocabulary": words["words"],
            "n_specials": len(SPECIALS),
            "unknown_id": UNK,
            "merges": [],
        }
        values["words"] = {"en": words["english"], "fr": words["french"]}
        values["grammar"] = annotations.lexicon()
    if reads == "everyday":
        values["counts"] = learnt["counts"]
        values["byHand"] = [
            [*pair, [[*link, sure] for link, sure in links.items()]]
            for pair, links in aligned_pairs().items()
        ]
    if values["tokenizer"] is None:
        try:
            task.read(STRANGE)
        except ValueError as error:
            values["refusal"] = str(error)
        values |= {name: options.get(name, 0) for name in ("modulus", "numbers")} | {"people": list(NAMES)}
    return values
