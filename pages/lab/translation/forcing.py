"""Teacher forcing against free running: one word that the decoder reads is replaced."""

from typing import NamedTuple

import numpy as np
import torch

from models.lessons.translation import forcing, reading
from models.lessons.translation.forcing import Forced
from models.lessons.translation.reading import Reading
from pages.lab.lesson import Lesson, Part, Question, Shape, Try
from pages.lab.translation import sentence_choice
from pages.lab.translation.forcing_board import alone, forced
from pages.lab.translation.inputs import SENTENCE, Inputs
from pages.lab.translation.sentence_choice import reading_of
from pages.shared import cache
from pages.shared.wording import distinct
from viz_core.boards import Bars, Board, Fact, Facts, Scrub

SEE = (
    "In training the decoder is **fed the reference** (here the translator's own sentence), whatever it "
    "predicts: that is teacher forcing, **one pass** for all words. In use it reads **what it wrote "
    "itself**, one pass per word, with mistakes that it never met in training: exposure bias (Ranzato et "
    "al. 2016). Here one of the words that it reads is replaced. **Drag to replace another.**"
)
TRIES = (
    Try("the same word: “il”", {"text": SENTENCE, "direction": "en-fr", "put": "il", "at": 11}),
    Try("“a” for “n'”", {"text": SENTENCE, "direction": "en-fr", "put": "a", "at": 3}),
    Try("“la” for “parce”", {"text": SENTENCE, "direction": "en-fr", "put": "la", "at": 9}),
)


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
    found = _compared(read, inputs.put)
    n, n_edits = len(found.reference), len(found.read)
    places = [f"{at + 1}: {word}" for at, word in enumerate(found.reference[:-1])]
    return Lesson(
        see=SEE,
        board=Board(
            rows=[
                [forced(found.reference, found.read, found.predicted)],
                [alone(found.reference, found.free)],
                [_losses(found)],
                [_facts(found)],
            ],
            notice=_notices(found, inputs.put),
            scrub=Scrub(
                field="at", label="replaced word", values=np.arange(1, n_edits + 1), words=places, speed=1.2
            ),
        ),
        formula=(
            r"\begin{gathered}\text{forced: } \hat y_t=\arg\max_w p(w\mid y^{*}_{<t},x)\\"
            r"\text{alone: } \hat y_t=\arg\max_w p(w\mid \hat y_{<t},x)\\"
            r"\text{loss: } -\ln p(y^{*}_t\mid y^{*}_{<t},x)\end{gathered}"
        ),
        sizes=rf"n={n},\; |V|={len(read.vocabulary):,}",
        shapes=(
            Shape(r"y^{*}_{<t}\ \text{(all places of the edit)}", "edit, position", (n_edits, n)),
            Shape(r"\text{logits, forced}", "edit, position, vocab", (n_edits, n, len(read.vocabulary))),
            Shape(r"\text{logits, alone, one pass}", "edit, vocab", (n_edits, len(read.vocabulary))),
        ),
        code=(forcing.edits, forcing.teacher_forcing, forcing.free_running),
    )


def _compared(read: Reading, put: str) -> Compared:
    word = reading.one_word(cache.translator(), put)
    if len(read.written) < 2:
        raise ValueError(
            f"The translation has no word to replace, only “{read.written[0]}”; take another text."
        )
    ids = [read.vocabulary.index(each) for each in read.written]
    reference = torch.tensor(ids)
    rows = forcing.edits(reference, word)
    after = forcing.teacher_forcing(read.model, read.source_ids, rows, reference)
    before = forcing.judged(read.logits[None], reference)
    free = forcing.free_running(read.model, read.source_ids, rows, reading.MOST_STEPS)

    def told(table: torch.Tensor) -> list[list[str]]:
        return [[read.vocabulary[id_] for id_ in row] for row in table.tolist()]

    written = [row[: row.index("<eos>") + 1] if "<eos>" in row else row for row in told(free)]
    return Compared(read.written, told(rows), told(after.predicted), written, before, after)


def _losses(found: Compared) -> Bars:
    return Bars(
        title="teacher forcing: −ln p of the reference's word at each position, in nats",
        values=found.after.loss.numpy(),
        labels=distinct(found.reference),
        digits=1,
    )


def _facts(found: Compared) -> Facts:
    n_edits = len(found.read)
    wrong = [len(_changed(found, edit)) for edit in range(n_edits)]
    passes = [len(row) for row in found.free]
    return Facts(
        facts=(
            Fact(label="mean loss, nothing replaced", values=f"{found.before.loss.mean():.4f}", unit="nats"),
            Fact(label="mean loss now", values=found.after.loss.mean(dim=1).numpy(), unit="nats"),
            Fact(label="predictions changed", values=np.array(wrong, dtype=float), digits=0),
            Fact(label="passes, forced", values="1"),
            Fact(label="passes, alone", values=np.array(passes, dtype=float), digits=0),
        )
    )


def _changed(found: Compared, edit: int) -> list[int]:
    """Positions whose prediction under teacher forcing is another than before the edit."""
    return (found.after.predicted[edit] != found.before.predicted[0]).nonzero().flatten().tolist()


def _notices(found: Compared, put: str) -> list[str]:
    told = []
    for edit, free in enumerate(found.free):
        was, changed = found.reference[edit], _changed(found, edit)
        words = ", ".join(f"“{found.reference[at]}” → “{found.predicted[edit][at]}”" for at in changed[:3])
        effect = (
            f"**{len(changed)}** of {len(found.reference)} predictions: {words}" if changed else "**none**"
        )
        sentence = " ".join(word for word in free if word != "<eos>")
        told.append(
            f"“{put}” is read for “{was}”. With teacher forcing this changes {effect}; no word before it can "
            f"change. Alone, the decoder writes: “{sentence}”."
        )
    return told


def questions() -> tuple[Question, ...]:
    read = reading_of(SENTENCE, "en-fr")
    elle, a = (_compared(read, word) for word in ("elle", "a"))
    changed = _changed(elle, 10)
    words = [elle.predicted[10][at] for at in changed]
    before = min(min(_changed(elle, edit), default=edit + 1) - edit for edit in range(len(elle.read)))
    has_not = "pas" in a.free[2]
    return (
        Question(
            "“elle” is fed in place of “il”. Which later predictions change under teacher forcing?",
            ("“fatigué” alone", "all after it", "none"),
            0 if words == ["fatiguée"] else 1,
            f"{', '.join(words)}, at a loss of {float(elle.after.loss[10].max()):.1f} nats: the adjective "
            "agrees with the subject that was fed; all else is fed as before.",
        ),
        Question(
            "The decoder reads “a” instead of “n'” after “l' animal” and goes on alone. What becomes of "
            "“not”?",
            ("it is written later", "it is written twice", "it is lost"),
            0 if has_not else 2,
            f"It writes “{' '.join(a.free[2][:-1])}”: after one wrong word it goes another way.",
        ),
        Question(
            "Why do the predictions before the replaced word not change?",
            ("they do, by rounding", "the mask hides what follows", "the encoder is done"),
            1 if before > 0 else 0,
            "With causal masking, position t reads the words up to t. So one pass trains all positions.",
        ),
    )


PART = Part(
    "forcing", "Teacher forcing", (*sentence_choice.CONTROLS, "put"),
    lesson, TRIES, questions, scrub="at",
)  # fmt: skip
