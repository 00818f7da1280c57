"""Teacher forcing (Williams and Zipser 1989) against free running, with one word of what is read replaced."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F

from attention_lab.models.data.word_tokenizer import BOS, EOS
from attention_lab.models.engine.decoding import NextToken
from attention_lab.models.engine.transformer import Transformer
from attention_lab.pages.lab.lesson import Answer, Lesson, part
from attention_lab.pages.lab.translation.inputs import (
    MOST_STEPS,
    SENTENCE,
    SENTENCE_CONTROLS,
    Inputs,
    Reading,
    one_word,
    reading_of,
)
from attention_lab.pages.shared import cache
from attention_lab.pages.shared.phrases import distinct
from attention_lab.viz_core.boards import Bars, Colour, Diagram, Fact, Facts, Node, Scrub


class Forced(NamedTuple):
    """The likeliest word at every position, and -ln p of the reference's word there, in nats."""

    predicted: Int[Tensor, "row position"]
    loss: Float[Tensor, "row position"]


def edits(reference: Int[Tensor, " position"], word: int) -> Int[Tensor, "edit position"]:
    """What the decoder reads, <bos> and the reference without its last word; in row i, word i is replaced."""
    read = torch.cat([torch.tensor([BOS]), reference[:-1]])
    rows = read.repeat(len(reference) - 1, 1)  # [edit, position]
    rows[:, 1:].fill_diagonal_(word)
    return rows


@torch.no_grad()
def teacher_forcing(
    model: Transformer,
    source: Int[Tensor, "1 source"],
    read: Int[Tensor, "row position"],
    reference: Int[Tensor, " position"],
) -> Forced:
    """Every position predicts at once, whatever was predicted before it: one pass, as in training."""
    rows = len(read)
    memory = model.encode(source).expand(rows, -1, -1)
    return judged(model.decode(read, memory, source.expand(rows, -1)), reference)


def judged(logits: Float[Tensor, "row position vocab"], reference: Int[Tensor, " position"]) -> Forced:
    """What the logits predict, and the cross-entropy with the reference at every position."""
    labels = reference.expand(logits.shape[:2])  # [row, position]
    return Forced(logits.argmax(dim=-1), F.cross_entropy(logits.mT, labels, reduction="none"))


@torch.no_grad()
def free_running(
    model: Transformer, source: Int[Tensor, "1 source"], read: Int[Tensor, "edit position"], most: int
) -> Int[Tensor, "edit written"]:
    """Row i begins with its first i + 1 words, the replaced one last; then each reads what it wrote itself.

    One pass for every word. A row that has ended is filled with <eos>.
    """
    rows = len(read)
    next_word = NextToken(model, source)
    next_word.select(torch.zeros(rows, dtype=torch.long))  # one memory for all rows
    tokens = read[:, :1]
    for at in range(1, most + 1):
        word = next_word(tokens).argmax(dim=-1)  # [edit]
        if at < read.shape[1]:
            is_given = torch.arange(rows) >= at - 1
            word = torch.where(is_given, read[:, at], word)
        word[tokens[:, -1] == EOS] = EOS
        tokens = torch.cat([tokens, word[:, None]], dim=1)
        if bool((word == EOS).all()):
            break
    return tokens[:, 1:]


HIDDEN, FAINT, PLAIN, LIT = range(4)
SHORTEST_ROW = 10


class Words:
    """Boxes that share places: at every frame each place shows one of the words that it ever has."""

    def __init__(self, n_frames: int) -> None:
        self.n_frames = n_frames
        self.nodes: list[Node] = []
        self.levels: list[np.ndarray] = []
        self._at: dict[tuple[int, int, str], int] = {}

    def show(
        self, frame: int, row: int, column: int, word: str, level: int, colour: Colour | None = None
    ) -> None:
        at = self._at.setdefault((row, column, word), len(self.nodes))
        if at == len(self.nodes):
            place = f"{row}.{column}.{word}"
            self.nodes.append(
                Node(id=place, label=word, column=column, row=row, colour=colour, is_token=True)
            )
            self.levels.append(np.full(self.n_frames, HIDDEN))
        self.levels[at][frame] = level

    def diagram(self, title: str) -> Diagram:
        levels = np.stack(self.levels, axis=1)  # [frame, node]
        return Diagram(title=title, nodes=self.nodes, edges=[], levels=levels, row_height=40)


Sentences = Sequence[Sequence[str]]


def forced(reference: Sequence[str], read: Sentences, predicted: Sentences) -> Diagram:
    """What is fed, and below each word what the decoder predicts there; both are [edit][position]."""
    words = Words(len(read))
    for frame, (fed, predictions) in enumerate(zip(read, predicted, strict=True)):
        for at, word in enumerate(fed):
            words.show(frame, 0, at, word, LIT if at == frame + 1 else PLAIN)
        for at, word in enumerate(predictions):
            is_other, is_after = word != reference[at], at > frame
            words.show(frame, 1, at, word, LIT if is_other else PLAIN if is_after else FAINT, "accent")
    return words.diagram("teacher forcing: words fed, below the next word predicted")


def alone(reference: Sequence[str], written: Sentences) -> Diagram:
    """What the decoder reads and writes [edit][position]; what it was given is faint."""
    words, per_row = Words(len(written)), max(len(reference), SHORTEST_ROW)
    for frame, sentence in enumerate(written):
        for at, word in enumerate(sentence):
            is_other = at >= len(reference) or word != reference[at]
            row, column = divmod(at, per_row)
            level = FAINT if at < frame else LIT if is_other else PLAIN
            words.show(frame, row, column, word, level, "accent")
    return words.diagram("free running: the decoder goes on alone (faint)")


class Compared(NamedTuple):
    """What the decoder reads in each edit, what it then predicts, and what it writes alone, as words."""

    reference: list[str]
    read: list[list[str]]
    predicted: list[list[str]]
    free: list[list[str]]
    before: Forced
    after: Forced


def lesson(inputs: Inputs) -> Lesson:
    read = reading_of(inputs.text, inputs.direction)
    compared = _compared(read, inputs.put)
    reference, before, after = compared.reference, compared.before, compared.after
    n_edits = len(compared.read)
    wrong = np.array([len(_changed(compared, edit)) for edit in range(n_edits)], dtype=float)
    passes = np.array([len(row) for row in compared.free], dtype=float)
    losses = Bars(
        title="teacher forcing: −ln p of the reference's words, in nats",
        values=after.loss.numpy(), labels=distinct(reference), digits=1, axis="word",
    )  # fmt: skip
    facts = Facts.of(
        Fact("mean loss, nothing replaced", f"{before.loss.mean():.4f}", unit="nats"),
        Fact("mean loss now", after.loss.mean(dim=1).numpy(), unit="nats"),
        Fact("predictions changed", wrong, 0),
        Fact("passes, forced", "1"),
        Fact("passes, alone", passes, 0),
    )
    places = [f"{at + 1}: {word}" for at, word in enumerate(reference[:-1])]
    return Lesson(
        rows=[
            [forced(reference, compared.read, compared.predicted)],
            [alone(reference, compared.free)],
            [losses],
            [facts],
        ],
        notice=_notices(compared, inputs.put),
        scrub=Scrub("at", "replaced word", np.arange(1, n_edits + 1), places, speed=1.2),
        sizes=rf"n={len(reference)},\; |V|={len(read.vocabulary):,}",
        axes={"edit": n_edits, "position": len(reference), "vocab": len(read.vocabulary)},
        code=(edits, teacher_forcing, free_running),
    )


def _compared(read: Reading, replacement: str) -> Compared:
    word = one_word(cache.translator(), replacement)
    if len(read.written) < 2:
        raise ValueError(f"The translation is only “{read.written[0]}”; take another text.")
    reference = torch.tensor([read.vocabulary.index(each) for each in read.written])
    rows = edits(reference, word)
    after = teacher_forcing(read.model, read.source_ids, rows, reference)
    before = judged(read.logits[None], reference)
    free = free_running(read.model, read.source_ids, rows, MOST_STEPS)

    def in_words(table: torch.Tensor) -> list[list[str]]:
        return [[read.vocabulary[id_] for id_ in row] for row in table.tolist()]

    written = [row[: row.index("<eos>") + 1] if "<eos>" in row else row for row in in_words(free)]
    return Compared(read.written, in_words(rows), in_words(after.predicted), written, before, after)


def _changed(compared: Compared, edit: int) -> list[int]:
    """Positions whose prediction under teacher forcing is another than before the edit."""
    return (compared.after.predicted[edit] != compared.before.predicted[0]).nonzero().flatten().tolist()


def _notices(compared: Compared, other: str) -> list[str]:
    notices = []
    for edit in range(len(compared.free)):
        was, changed = compared.reference[edit], _changed(compared, edit)
        words = ", ".join(
            f"“{compared.reference[at]}” → “{compared.predicted[edit][at]}”" for at in changed[:3]
        )
        effect = (
            f"**{len(changed)}** of {len(compared.reference)} predictions: {words}" if changed else "**none**"
        )
        notices.append(f"“{other}” is fed in place of “{was}”. Teacher forcing changes {effect}.")
    return notices


def questions() -> tuple[Answer, ...]:
    read = reading_of(SENTENCE, "en-fr")
    elle, a = (_compared(read, word) for word in ("elle", "a"))
    changed = _changed(elle, 10)
    words = [elle.predicted[10][at] for at in changed]
    before = min(min(_changed(elle, edit), default=edit + 1) - edit for edit in range(len(elle.read)))
    has_not = "pas" in a.free[2]
    return (
        Answer.of(
            0 if words == ["fatiguée"] else 1, words=", ".join(words), loss=float(elle.after.loss[10].max())
        ),
        Answer.of(0 if has_not else 2, sentence=" ".join(a.free[2][:-1])),
        Answer.of(1 if before > 0 else 0),
    )


PART = part(__name__, (*SENTENCE_CONTROLS, "put"), lesson, questions, scrub="at")
