"""The translator at work: the source through the encoder, then one word after another out of the decoder."""

import numpy as np

from models.lessons.translation import flow, reading
from models.lessons.translation.flow import Moment, looks
from models.lessons.translation.reading import Reading
from pages.lab.lesson import Lesson, Part, Question, Shape, Try
from pages.lab.translation import flow_board as panels
from pages.lab.translation import sentence_choice
from pages.lab.translation.flow_board import LABELS
from pages.lab.translation.inputs import AT_THE_PRONOUN, MOST_MOMENTS, SENTENCE, Inputs
from pages.lab.translation.sentence_choice import reading_of
from pages.shared.wording import distinct
from viz_core.boards import Board, Scrub
from viz_core.labels import decimal

SEE = (
    "The encoder reads the source **once** and leaves its **memory**, one vector per word. The decoder runs "
    "**once for every word** it writes: it reads what is written so far and looks into the memory; then a "
    "linear layer and softmax give every word it knows a probability. (Sums and norms are not drawn.) "
    "**Press ▶.**"
)
TRIES = (
    Try(
        "tired becomes wide",
        {"text": SENTENCE.replace("tired", "wide"), "direction": "en-fr", "moment": AT_THE_PRONOUN},
    ),
    Try("from French", {"text": "le chien noir est petit", "direction": "fr-en", "moment": MOST_MOMENTS}),
    Try(
        "a word is missing",
        {"text": "the girls did not the small melon", "direction": "en-fr", "moment": MOST_MOMENTS},
    ),
)


def lesson(inputs: Inputs) -> Lesson:
    read = reading_of(inputs.text, inputs.direction)
    config = read.model.config
    n_steps, n_source, d_model = len(read.written), len(read.source), config.d_model
    moments = flow.moments(config.n_layers, n_steps)
    logits, bars = panels.words(read, moments)
    heads = (config.n_heads, n_source, config.head_size)
    return Lesson(
        see=SEE,
        board=Board(
            rows=[
                [panels.sentences(read, moments)],
                [panels.stacks(moments), panels.cross(read, moments)],
                [logits, bars],
            ],
            notice=_notices(read, moments),
            scrub=Scrub(
                field="moment", label="moment", values=np.arange(len(moments)),
                words=[_told(moment) for moment in moments], speed=4, plays=True,
            ),
        ),
        formula=(
            r"\begin{gathered}M=\mathrm{encoder}(x_1\dots x_n),\quad h_t=\mathrm{decoder}(y_{<t},\,M)\\"
            r"p_t=\mathrm{softmax}(W\,h_t),\quad y_t=\arg\max_w\,p_t(w)\end{gathered}"
        ),
        sizes=rf"n={n_source},\; t=1\dots{n_steps},\; d_{{model}}={d_model},\; W:{len(read.vocabulary):,}"
        rf"\times{d_model}",
        shapes=(
            Shape("M", "source, d_model", (n_source, d_model)),
            Shape(r"\k{k},\;\v{v}\ \text{of cross-attention}", "head, source, d_head", heads),
            Shape(r"\q{q}\ \text{at one step}", "head, query, d_head", (config.n_heads, 1, config.head_size)),
            Shape(r"\mathrm{pattern}\ \text{at one step}", "head, query, key", (config.n_heads, 1, n_source)),
            Shape("W h_t", "vocab", (len(read.vocabulary),)),
        ),
        code=(reading.translate, flow.moments, flow.looks, flow.likeliest),
    )  # fmt: skip


def _told(moment: Moment) -> str:
    where = "encoder" if moment.step is None else f"step {moment.step + 1}"
    layer = "" if moment.layer is None else f" {moment.layer}"
    return f"{where}: {LABELS[moment.stage]}{layer}"


def _notices(read: Reading, moments: list[Moment]) -> list[str]:
    return [_encoding(read, m) if m.step is None else _decoding(read, m, m.step) for m in moments]


def _encoding(read: Reading, moment: Moment) -> str:
    n, d_model = len(read.source), read.model.config.d_model
    layer = f"**Encoder, layer {moment.layer}.**"
    if moment.stage == "embed":
        return f"**Encoder.** {n} tokens become {n} vectors of {d_model} numbers, positions added."
    if moment.stage == "self":
        return f"{layer} Every one of the {n} words looks at all {n}; nothing is masked."
    if moment.stage == "ff":
        return f"{layer} The feed-forward network changes each of the {n} vectors alone."
    return (
        f"**Memory:** {n} vectors of {d_model} numbers. The encoder is done; every step will look into them."
    )


def _decoding(read: Reading, moment: Moment, step: int) -> str:
    reads, config = read.read[step], read.model.config
    now = f"Step {step + 1}" if moment.layer is None else f"Step {step + 1}, layer {moment.layer}"
    if moment.stage == "embed":
        told = f"The decoder reads one more word, “{reads}”, at position {step}."
    elif moment.stage in ("self", "cross"):
        told = _looking(read, moment, reads)
    elif moment.stage == "ff":
        sizes = f"{config.d_model} → {config.ff_size} → {config.d_model}"
        told = f"Feed-forward, {sizes} numbers, at this position alone."
    else:
        told = _choosing(read, moment, step)
    return f"**{now}.** {told}"


def _looking(read: Reading, moment: Moment, reads: str) -> str:
    mean = looks(read.trace, moment).mean(dim=0)
    weight, key = mean.max().item(), int(mean.argmax())
    if moment.stage == "cross":
        where = f"into the memory, most of all at “{distinct(read.source)[key]}”"
    else:
        where = f"at the {len(mean)} tokens up to itself, most of all at “{distinct(read.read)[key]}”"
    return f"“{reads}” looks {where}: **{weight:.2f}**, the mean of its {read.model.config.n_heads} heads."


def _choosing(read: Reading, moment: Moment, step: int) -> str:
    logits, word = read.logits[step], read.written[step]
    best = logits.topk(2)
    second = read.vocabulary[int(best.indices[1])]
    if moment.stage == "linear":
        return (
            f"{read.model.config.d_model} numbers become {len(logits):,} logits: “{word}” has "
            f"**{decimal(best.values[0], 1)}**, the next, “{second}”, {decimal(best.values[1], 1)}."
        )
    if moment.stage == "softmax":
        p = logits.softmax(dim=-1)[best.indices]
        return f"Softmax gives “{word}” **{p[0]:.3f}** and “{second}” {p[1]:.3f}; all words together 1."
    if word == "<eos>":
        return f"“<eos>” ends the sentence: {step + 1} steps for “**{read.text}**”."
    if step + 1 == len(read.written):
        return f"“**{word}**” is written: {step + 1} words and no end, and here this page stops."
    return f"“**{word}**” is written, and is what the next step reads."


def questions() -> tuple[Question, ...]:
    read, wide = reading_of(SENTENCE, "en-fr"), reading_of(SENTENCE.replace("tired", "wide"), "en-fr")
    n_steps = len(read.written)
    runs = flow.moments(read.model.config.n_layers, n_steps)
    encoders = sum(moment.stage == "memory" for moment in runs)
    changed = [a != b for a, b in zip(read.written, wide.written, strict=True)].index(True)
    counts = (f"1 and {n_steps}", f"{n_steps} and {n_steps}", "1 and 1")
    reads = ("nothing", "<bos> alone", "the whole source")
    return (
        Question(
            f"{n_steps - 1} words and <eos> are written. How often do the encoder and the decoder run?",
            counts,
            counts.index(f"{encoders} and {n_steps}"),
            f"The memory does not change while {n_steps} words are written.",
        ),
        Question(
            "What has the decoder itself read when it writes the first word?",
            reads,
            reads.index("<bos> alone") if read.read[0] == "<bos>" else 0,
            f"The source comes in through cross-attention only: {len(read.source)} vectors of memory.",
        ),
        Question(
            "“tired”, the source's last word, becomes “wide”. Which French word changes first?",
            ("its last", "its first", f"“{read.written[changed]}”"),
            2 if 0 < changed < n_steps - 2 else 0,
            f"Word {changed + 1}, “{read.written[changed]}”, becomes “{wide.written[changed]}”: the encoder "
            "has read the whole source before the first word is written.",
        ),
    )


PART = Part(
    "flow", "The translator at work", sentence_choice.CONTROLS,
    lesson, TRIES, questions, scrub="moment",
)  # fmt: skip
