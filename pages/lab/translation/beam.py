"""Greedy or beam: the tree of what was considered, step by step."""

from math import exp
from typing import cast

import numpy as np

from models.engine.decoding import BeamTree, LengthPenalty, length_divisor
from models.lessons.translation import beam, reading
from models.lessons.translation.beam import Step, is_beyond_doubt
from models.lessons.translation.reading import Reading
from pages.lab.lesson import Lesson, Part, Question, Shape, Try
from pages.lab.translation import sentence_choice
from pages.lab.translation.beam_tree import diagram
from pages.lab.translation.inputs import INCOMPLETE, SENTENCE, Inputs
from pages.lab.translation.sentence_choice import reading_of
from viz_core.boards import Board, Fact, Facts, Scrub, Table
from viz_core.labels import decimal

MOST_SENTENCES = 5
NAMES: dict[LengthPenalty, str] = {"gnmt": "((5 + length) / 6)", "length": "length"}
DIVISORS: dict[LengthPenalty, str] = {"gnmt": r"((5+|y|)/6)^{\alpha}", "length": r"|y|^{\alpha}"}
SEE = (
    "Greedy decoding takes the likeliest word and never looks back. A **beam** keeps the best few sentences "
    "at every step. Boxes are words, each with the log-probability of its sentence so far; the best sentence "
    "is lit, what is pruned or leads nowhere is faint. The sentence at first **lacks a noun**, so the model "
    "is in doubt."
)
DOUBT = {"phrase": INCOMPLETE, "phrase_direction": "fr-en", "length_penalty": 0.0, "step": 20}
WHOLE = {"phrase": SENTENCE, "phrase_direction": "en-fr", "length_penalty": 0.0, "step": 20}
SOUP = {"phrase": "the soup is too", "phrase_direction": "en-fr", "width": 3, "step": 20}
TRIES = (
    Try("width 1 is greedy", {**DOUBT, "width": 1}),
    Try("a whole sentence", {**WHOLE, "width": 4}),
    Try("divided by length", {**SOUP, "penalty": "length", "length_penalty": 1.0}),
    Try("the paper's penalty", {**SOUP, "penalty": "gnmt", "length_penalty": 0.6}),
)


def lesson(inputs: Inputs) -> Lesson:
    read = reading_of(inputs.phrase, inputs.phrase_direction)
    penalty = cast("LengthPenalty", inputs.penalty)
    tree = beam.search(
        read.model, read.source_ids, inputs.width, inputs.length_penalty, reading.MOST_STEPS, penalty
    )
    steps = beam.steps(tree)
    return Lesson(
        see=SEE,
        board=Board(
            rows=[
                [diagram(tree, steps, read.vocabulary)],
                [_facts(steps)],
                [_hypotheses(read, tree, inputs.length_penalty, penalty)],
            ],
            notice=_notices(read, tree, steps, inputs.width),
            scrub=Scrub(
                field="step", label="step", values=np.arange(len(steps) + 1), speed=1.2, plays=True,
                words=["start", *(f"word {at + 1}" for at in range(len(steps)))],
            ),
        ),
        formula=(
            r"\begin{gathered}\log p(y\mid x)=\textstyle\sum_{t}\log p(y_t\mid y_{<t},x)\\"
            r"\hat y=\arg\max_{y}\,\frac{\log p(y\mid x)}{" + DIVISORS[penalty] + r"}\end{gathered}"
        ),
        sizes=rf"\text{{width}}={inputs.width},\; \alpha={inputs.length_penalty:g},\; |y|={tree.best.step}",
        shapes=(
            Shape(r"\text{logits at a step}", "open hypothesis, vocab", (inputs.width, len(read.vocabulary))),
            Shape(r"\text{proposals}", "open hypothesis, proposal", (inputs.width, inputs.width)),
            Shape("M", "source, d_model", (len(read.source), read.model.config.d_model)),
        ),
        code=(beam.search, beam.steps, beam.survivors, length_divisor),
    )  # fmt: skip


def _facts(steps: list[Step]) -> Facts:
    runs = np.array([0, *(step.runs for step in steps)])
    proposals = np.array([0, *(len(step.kept) + len(step.pruned) for step in steps)])
    return Facts(
        facts=(
            Fact(label="decoder runs at this step", values=runs.astype(float), digits=0),
            Fact(label="runs so far", values=runs.cumsum().astype(float), digits=0),
            Fact(label="words proposed", values=proposals.astype(float), digits=0),
        )
    )


def _hypotheses(read: Reading, tree: BeamTree, alpha: float, penalty: LengthPenalty) -> Table:
    """The finished sentences, best first, and the greedy one where the beam does not have it."""
    ends = tree.hypotheses()[:MOST_SENTENCES]
    found = [(_sentence(read, tree.tokens(end.id)), end.score, end.step) for end in ends]
    greedy = (" ".join(read.written), _greedy_score(read), len(read.written))
    if greedy[0] not in [sentence for sentence, *_ in found]:
        found.append((f"greedy: {greedy[0]}", *greedy[1:]))
    rows = [
        (
            sentence,
            decimal(score),
            decimal(exp(score), 3),
            str(length),
            decimal(score / length_divisor(length, alpha, penalty)),
        )
        for sentence, score, length in found
    ]
    return Table(
        title="the best sentences that it ends with", rows=rows,
        columns=("sentence", "log p", "p", "length", f"log p / {NAMES[penalty]}^{alpha:g}"),
        marked=np.array([at == 0 for at in range(len(rows))]),
    )  # fmt: skip


def _sentence(read: Reading, ids: list[int]) -> str:
    return " ".join(read.vocabulary[id_] for id_ in ids)


def _greedy_score(read: Reading) -> float:
    chosen = read.logits.log_softmax(dim=-1).amax(dim=-1)  # the likeliest word was written at every step
    return float(chosen.sum())


def _notices(read: Reading, tree: BeamTree, steps: list[Step], width: int) -> list[str]:
    told = ["The only hypothesis is empty: the model runs **once** and proposes its likeliest first words."]
    for number, step in enumerate(steps[:-1], start=1):
        best = _sentence(read, tree.tokens(step.kept[0].id))
        told.append(
            f"Word {number}: {len(step.kept)} kept, {len(step.pruned)} pruned, of what {step.runs} open "
            f"{'sentence' if step.runs == 1 else 'sentences'} proposed. Best of this step: “{best}”, "
            f"**{decimal(step.kept[0].score)}**."
        )
    return [*told, _verdict(read, tree, width)]


def _verdict(read: Reading, tree: BeamTree, width: int) -> str:
    greedy, best = _greedy_score(read), tree.best
    likeliest = max(tree.hypotheses(), key=lambda end: end.score)
    if best.score < likeliest.score:
        return (
            f"Divided by the **length penalty**, {decimal(best.score)} for {best.step} tokens ranks above "
            f"{decimal(likeliest.score)} for {likeliest.step}: the longer sentence is chosen, though it is "
            "less likely."
        )
    if best.score > greedy + 1e-4:
        times = exp(best.score - greedy)
        return (
            f"Greedy ends with log-probability {decimal(greedy)}, the beam with **{decimal(best.score)}**: a "
            f"sentence **{times:.1f} times** as likely, reached by a word that was not the likeliest at its "
            "step."
        )
    if is_beyond_doubt(greedy):
        return (
            f"The greedy sentence has probability **{exp(greedy):.3f}**. That is more than ½, and all "
            "sentences together have 1: no beam, however wide, can find a likelier one."
        )
    if width == 1:
        return f"A beam of one **is** greedy: it ends with log p = **{decimal(greedy)}**."
    return f"The beam ends with the greedy sentence, log p = **{decimal(greedy)}**: it found none better."


def questions() -> tuple[Question, ...]:
    read, whole = reading_of(INCOMPLETE, "fr-en"), reading_of(SENTENCE, "en-fr")
    two = beam.search(read.model, read.source_ids, 2, 0.0, reading.MOST_STEPS)
    eight = _width(read, 8)
    gained = eight.best.score - two.best.score
    same = exp(_greedy_score(whole))
    runs = [sum(step.runs for step in beam.steps(tree)) for tree in (_width(read, 1), two)]
    return (
        Question(
            "“… voit toujours le petit la nuit”: does a beam of eight find a likelier sentence than one "
            "of two?",
            ("no, the same", "yes", "a less likely one"),
            0 if abs(gained) < 1e-4 else 1 if gained > 0 else 2,
            f"Both end with log p = {decimal(eight.best.score)}, greedy with {decimal(_greedy_score(read))}: "
            "more width is more work, and often finds nothing more."
            if abs(gained) < 1e-4
            else f"log p = {decimal(eight.best.score)} against {decimal(two.best.score)}.",
            told=False,
        ),
        Question(
            f"Greedy's translation of “… it was too tired” has p = {same:.3f}. Can a beam of 8 beat it?",
            ("no", "perhaps", "yes"),
            0 if beam.is_beyond_doubt(_greedy_score(whole)) else 1,
            f"All other sentences together have 1 − {same:.3f} = {1 - same:.3f}.",
            told=True,
        ),
        Question(
            "How much does the decoder compute for a beam of two, compared with greedy?",
            ("as much", "about twice as much", "four times as much"),
            1 if 1.5 < runs[1] / runs[0] < 2.5 else 0,
            f"{runs[1]} runs instead of {runs[0]}: two sentences are open at nearly every step.",
        ),
    )


def _width(read: Reading, width: int) -> BeamTree:
    return beam.search(read.model, read.source_ids, width, 0.0, reading.MOST_STEPS)


PART = Part(
    "beam", "Greedy or beam", (*sentence_choice.PHRASE, "width", "penalty", "length_penalty"),
    lesson, TRIES, questions, scrub="step",
)  # fmt: skip
