"""Exports a run: its weights and card in our format, that of transformers or ONNX, its numbers and config."""

import platform
import shlex
from collections.abc import Callable, Mapping
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import torch

from ..config import ModelConfig
from ..data.downloads import SOURCES
from ..data.grammar import showcase
from ..data.grammar.pairs import held_out
from ..data.tasks import Task
from ..data.tasks.sentence_pairs import UNKNOWN_SHARE
from ..data.tasks.translation import Translation
from ..data.word_tokenizer import WordTokenizer
from ..engine.address import Address
from ..engine.transformer import Transformer
from ..fields import nearest, options_of
from ..files import write_json, write_whole, writing
from ..percent import percent
from ..spreadsheet import csv_text
from ..training.config import RunConfig, run_config
from ..training.evaluation import evaluate, pronoun_view
from ..training.loop import snapshot
from ..zoo.folders import CARD, Which
from ..zoo.model_file import write_model
from .folder import RunFolder
from .recipes import TRANSLATIONS
from .results import changed_words, history_of, read_best

Writer = Callable[[Task, Transformer, dict[str, Any], Path, str], Path]
README = "README.md"
"""What another program has to know of the files, in words."""


def refusal(kind: str, config: ModelConfig) -> str:
    """Why a model of this config does not fit a format; "" where it does. The graph of ONNX is not tried."""
    from ..zoo.hub.from_engine import Misfit, family_of

    if kind != "transformers":
        return ""
    try:
        family_of(config)
    except Misfit as misfit:
        return str(misfit)
    return ""


def _transformers(task: Task, model: Transformer, card: dict[str, Any], out: Path, name: str) -> Path:
    from ..zoo.hub.from_engine import family_of, from_engine, special_ids, tokenizer_of

    family = family_of(model.config)
    net, tokenizer = from_engine(model, special_ids=special_ids(task)), tokenizer_of(task)
    net.save_pretrained(out)
    if tokenizer is not None:
        tokenizer.save_pretrained(out)
    write_json(out / CARD, {**card, "config": model.config.to_dict()}, sync=True)
    kind, pad_id = type(net).__name__, model.config.pad_id
    reading = ', AutoTokenizer\n\ntokenizer = AutoTokenizer.from_pretrained(".")'
    more = "\n" if tokenizer is None else reading
    parts = [
        f"The model as a {family} of transformers ({kind}): the same logits within 1e-5.",
        f'```python\nfrom transformers import {kind}{more}\nmodel = {kind}.from_pretrained(".")\n```',
    ]
    if pad_id is not None:
        parts.append(f"Padding has the id {pad_id}: give an `attention_mask` that is 0 there.")
    _write_readme(out, name, card, parts)
    return out / "model.safetensors"


def _onnx(task: Task, model: Transformer, card: dict[str, Any], out: Path, name: str) -> Path:
    from ..zoo.hub.from_engine import special_ids, tokenizer_of
    from ..zoo.model_file import write_onnx

    path = out / f"{name}.onnx"
    deviation = write_onnx(model, path)
    write_json(out / CARD, {**card, "config": model.config.to_dict()}, sync=True)
    inputs = ["source", "target"] if model.config.kind == "encoder-decoder" else ["tokens"]
    feed, tokenizer = ", ".join(f'"{each}": {each}' for each in inputs), tokenizer_of(task)
    libraries, ids, answer = "import onnxruntime\n", "", ""
    if tokenizer is not None:
        tokenizer.save_pretrained(out)
        libraries = "import numpy\nimport onnxruntime\nfrom tokenizers import Tokenizer\n"
        encoded = f"tokenizer.encode({task.probe().text!r}).ids[:{model.config.max_len}]"
        ids = 'tokenizer = Tokenizer.from_file("tokenizer.json")\n'
        ids += f"{inputs[0]} = numpy.array([{encoded}])\n"
        start = special_ids(task).get("decoder_start_token_id")
        if start is not None:
            ids += f"target = numpy.array([[{start}]])  # what is written follows it\n"
        if model.config.pooling != "none":
            answer = f"names = {list(task.outputs())}\nprint(names[logits[0, 0].argmax()])\n"
    lines = (
        f"```python\n{libraries}\n{ids}"
        f'session = onnxruntime.InferenceSession("{path.name}")\n'
        f'logits = session.run(["logits"], {{{feed}}})[0]  # int64 ids [batch, position]\n{answer}```'
    )
    if model.config.input_channels is not None:
        lines = lines.replace("int64 ids [batch, position]", "float32 [batch, position, channel]")
    sentence = (
        f"The model as an ONNX file. Its logits in onnxruntime were within {deviation:.1g} of the largest as "
        f"it was written. A sequence has at most {model.config.max_len:,} positions; padding is found by its "
        "id."
    )
    _write_readme(out, name, card, [sentence, lines])
    return path


def _write_readme(out: Path, name: str, card: Mapping[str, Any], parts: list[str]) -> None:
    licence = f"Licence: {card.get('license', 'not stated')}. Task, training and scores are in card.json."
    text = "\n\n".join([f"# {name}", str(card.get("summary", "")), *parts, licence])
    write_whole(out / README, f"{text}\n".encode())


FORMATS: dict[str, Writer] = {
    "own": lambda task, model, card, out, name: write_model(out, name, model, card),
    "transformers": _transformers,
    "onnx": _onnx,
}
"""By name, what writes a model: "own" is what this project opens again."""


# The card of a translator

_HELD_OUT = "a tenth of the pairs of subject and object noun, which training never shows together"
_SENTENCES = 2_000
_TRANSLATING = "next-word cross-entropy"
_NAMING = (
    ", plus antecedent_weight times the cross-entropy of naming each source pronoun's "
    "antecedent, read from the encoder's output through the output layer"
)
_SHOWN = (
    "; attention is not supervised; "
    f"in {UNKNOWN_SHARE:.0%} of the sentences with a pronoun, one noun is shown as <unk>"
)
_LIMITS = (
    "It knows only its vocabulary and sentence patterns, and makes persons of unstated gender "
    "masculine. The metrics are over sentences of the same grammar."
)


def make_card(task: Translation, model: Transformer, metrics: dict[str, Any], seed: int) -> dict[str, Any]:
    """The entries that only a translator's card has, as JSON values. seed: of its training."""
    is_asked = task.antecedent_weight > 0
    taught = "This model was also taught to name the noun that each pronoun means."
    if not is_asked:
        right, best = metrics["pronoun"], metrics["en-fr"]["head"]["weight"]
        taught = (
            f"Taught only to translate: {percent(right)} of its pronouns are right, yet its best head gives "
            f"the noun meant {best:.2f} on average."
        )
    return {
        "summary": "Resolves pronouns" if is_asked else "Only translates",
        "taught": taught,
        "data": {"grammar": "models.data.grammar", "seed": seed, "held_out": _HELD_OUT},
        "objective": _TRANSLATING + _NAMING * is_asked + _SHOWN,
        "limits": _LIMITS,
        "metrics": metrics,
        "showcase": {"view": "lines", **story_head(model, task.words)},
        "examples": TRANSLATIONS,
        "label": "Sentence: type your own. A real transformer reads it; see which words each word looks at.",
        "swaps": {"tired": "wide", "wide": "tired"},
    }


def measures(model: Transformer, tokenizer: WordTokenizer) -> dict[str, Any]:
    """`evaluate` on held-out sentences; under "en-fr", where the attention is of English pronouns alone."""
    examples = held_out(_SENTENCES)
    english = evaluate(model, tokenizer, [each for each in examples if each[1] == "en-fr"])
    names = ("sentences", "pronouns", "flips", "pronoun", "named", "layers", "layer", "head")
    return evaluate(model, tokenizer, examples) | {"en-fr": {name: english[name] for name in names}}


def story_head(model: Transformer, tokenizer: WordTokenizer) -> dict[str, Any]:
    """The encoder head that tells the showcase's two sentences apart best.

    It maximises the smaller of two weights: from "it" to animal (tired), and from "it" to street (wide).
    """
    weights = []
    for adjective in ("tired", "wide"):
        pair = showcase(adjective)
        assert pair.english_mention
        weights.append(pronoun_view(model, tokenizer, pair, "en-fr", pair.english_mention).antecedent)
    weakest = weights[0].minimum(weights[1])  # [layer, head]
    layer, head = divmod(int(weakest.argmax()), model.config.n_heads)
    return {"stack": "encoder.self", "layer": layer, "head": head}


# The export

METRICS_CSV, CONFIG_JSON, RUN_JSON = "metrics.csv", "config.json", "run.json"
NOT_STATED = "not stated"


def export_run(
    folder: RunFolder, out: Path, *, name: str = "", which: Which = "last", form: str = "own"
) -> Path:
    """Writes a run's last checkpoint as `<name>.safetensors` with card.json, metrics.csv and config.json.

    which: "best" writes the weights of the best validation instead, and its step and scores in the card.
    form: another of `FORMATS`: "transformers" (its config.json is theirs, the run's is run.json) or
    "onnx".

    The card of a translator of the grammar also has its measures on held-out sentences. No path of this
    machine is in them: a file of the task's data is there by its name alone.
    Returns the weights' path. Raises ValueError for a run without a checkpoint, an unknown format and a model
    that does not fit it, OSError of the disk.
    """
    config, model = folder.config(), folder.model(which)
    name = name or folder.id
    card = card_of(folder, config, model, name, which)
    if form not in FORMATS:
        raise ValueError(f"format={form!r:.60} is unknown; {nearest(form, FORMATS)}")
    misfit = refusal(form, model.config)
    if misfit:  # before a folder is made
        raise ValueError(misfit)
    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
        weights = FORMATS[form](config.task, model, card, out, name)
    write_whole(out / METRICS_CSV, metrics_table(folder.metrics()).encode())
    described = folder.description()
    task = {**described["task"], "options": without_folders(config.task, described["task"]["options"])}
    described_in = RUN_JSON if form == "transformers" else CONFIG_JSON
    write_json(out / described_in, {**described, "task": task})
    return weights


def card_of(
    folder: RunFolder, config: RunConfig, model: Transformer, name: str, which: Which = "last"
) -> dict[str, Any]:
    """All that a reader needs to judge the model, to use it and to train it again."""
    best = read_best(folder.path) if which == "best" else None
    checkpoint = folder.checkpoint()
    assert checkpoint is not None  # its weights were read
    changes = history_of(folder.description())
    training = {
        "command": command_of(config),  # with a history, the settings at the end
        **({"history": [changed_words(entry) for entry in changes]} if changes else {}),
        "seconds": round(float(checkpoint.values.get("seconds", 0))),
        "machine": machine(),
        "step": checkpoint.step,
        **config.training.to_dict(),
    }
    if best:
        training |= {"step": best.step, "chosen": f"the best {best.score} of the run's validations"}
    probe = config.task.probe()
    last = best.step if best else training["step"]
    validated = [line for line in folder.metrics() if "validation" in line and line["step"] <= last]
    card = {
        "name": name,
        "summary": config.task.title,
        "license": license_of(config.task),
        "date": datetime.now(UTC).date().isoformat(),
        "task": {"name": config.task.name, "options": without_folders(config.task, config.task.to_dict())},
        "scaling": scaling(config.model),
        "learnt": config.task.learnt(),
        "training": training,
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "metrics": validated[-1]["validation"] if validated else {},
        "examples": [{"label": "probe", "text": probe.text, "see": config.task.hint}],
        "showcase": sharpest_head(config, model),
    }
    if isinstance(config.task, Translation):
        metrics = measures(model, config.task.words)
        card |= make_card(config.task, model, metrics, config.training.seed)
    return card


def license_of(task: Task) -> str:
    """This project's own where its code makes the data; else nobody here knows what their owner allows."""
    handed_in = any(getattr(task, name) for name in _files_of(task))
    downloaded = getattr(task, "source", "") in SOURCES
    return NOT_STATED if handed_in or downloaded else "MIT"


def without_folders(task: Task, options: Mapping[str, Any]) -> dict[str, Any]:
    """The task's options with the names of files instead of their paths on this machine."""
    file_names = {name: Path(str(options[name])).name for name in _files_of(task) if options.get(name)}
    return {**options, **file_names}


def _files_of(task: Task) -> list[str]:
    return [name for name, option in options_of(type(task)).items() if option.file]


def scaling(config: ModelConfig) -> dict[str, Any]:
    """What code of another's needs to compute the same from the weights: the factors of the embedding's rows,
    of the vectors of positions that are added to them (None where nothing is added), and of the dot products.
    """
    tokens = config.input_channels is None
    rows = config.d_model**0.5 if tokens else 1.0
    added = {"learned": config.d_model**0.5, "sinusoidal": 1.0}.get(config.positions)
    embedding = "rows of the embedding times sqrt(d_model)" if tokens else "a linear layer of the input"
    words = {
        "learned": "vectors of positions times sqrt(d_model)",
        "sinusoidal": "sines and cosines as they are",
    }
    plus = f", plus {words[config.positions]}" if added else f"; positions ({config.positions}) add no vector"
    norm = ", then a norm" if config.embedding_norm else ""
    return {
        "embedding": rows,
        "positions": added,
        "dot_products": config.scale,
        "said": f"The residual stream begins with {embedding}{plus}{norm}.",
    }


def sharpest_head(config: RunConfig, model: Transformer) -> dict[str, Any]:
    """The head whose strongest weight on the probe, averaged over the queries, is the highest.

    The first three queries are left out: under a causal mask they see so few keys that their weights are high
    whatever the head does.
    """
    strengths = []
    for address, pattern in snapshot(model, config.task.probe()).items():
        where = Address.parse(address)
        late = pattern[:, min(3, pattern.shape[1] - 1) :].float()  # [head, query, key]
        for head, strength in enumerate(late.amax(dim=-1).mean(dim=-1).tolist()):
            strengths.append((strength, where.family, where.layer, head))
    _, stack, at, head = max(strengths)
    return {"stack": stack, "layer": at, "head": head}


def metrics_table(lines: list[dict[str, Any]]) -> str:
    """The records as CSV, one step a line; losses, validations and norms have a column each."""
    table = pd.json_normalize([_named_norms(line) for line in lines])
    return csv_text([table.columns, *table.itertuples(index=False)])


def _named_norms(line: dict[str, Any]) -> dict[str, Any]:
    """The record with the two norms of each part under a name each."""
    norms = line.get("norms")
    if not isinstance(norms, dict):
        return line
    by_name = {part: dict(zip(("gradient", "weight"), both, strict=False)) for part, both in norms.items()}
    return {**line, "norms": by_name}


def command_of(config: RunConfig) -> str:
    """The command that trains the same run again, in the folder of its data's files."""
    task, usual = config.task, run_config(config.task)
    derived = {"d_head": config.model.d_model // config.model.n_heads, "d_ff": 4 * config.model.d_model}
    options = without_folders(task, task.to_dict())
    settings = [
        (spec.name, options[spec.name]) for spec in fields(task) if options[spec.name] != spec.default
    ]
    for ours, theirs in ((config.model, usual.model), (config.training, usual.training)):
        for spec in fields(ours):
            value = getattr(ours, spec.name)
            if spec.name == "schedule_from":  # a new run has one schedule from its start
                continue
            follows = spec.name not in task.sizes and derived.get(spec.name) == value
            if value != getattr(theirs, spec.name) and not follows:
                settings.append((spec.name, value))
    words = [word for name, value in settings for word in ("--set", f"{name}={value}")]
    return shlex.join(["python", "-m", "attention_lab.models.training", "run", "--task", task.name, *words])


def machine() -> str:
    """The kind of this computer, without its name."""
    parts = [f"{platform.system()} {platform.machine()}", f"{torch.get_num_threads()} threads"]
    if torch.cuda.is_available():
        parts.append(torch.cuda.get_device_name())
    return ", ".join([*parts, f"PyTorch {torch.__version__}"])
