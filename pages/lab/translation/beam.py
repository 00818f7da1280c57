"""What a beam search did, step by step, read from the tree that it leaves.

At every step each hypothesis that is still open proposes its likeliest words; the best `width` of all of them
are kept (Sutskever et al. 2014, 3.2). Width 1 is greedy decoding.
"""

from math import exp
from typing import NamedTuple, cast

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from attention_lab.models.data.word_tokenizer import BOS, EOS
from attention_lab.models.engine.decoding import (
    BeamNode,
    BeamTree,
    LengthPenalty,
    beam_search,
    length_divisor,
)
from attention_lab.models.engine.transformer import Transformer
from attention_lab.pages.lab.lesson import Answer, Lesson, part
from attention_lab.pages.lab.translation.inputs import (
    INCOMPLETE,
    MOST_STEPS,
    PHRASE_CONTROLS,
    SENTENCE,
    Inputs,
    Reading,
    reading_of,
)
from attention_lab.viz_core.boards import Diagram, Fact, Facts, Node, Scrub, Table
from attention_lab.viz_core.labels import brief, decimal


class Step(NamedTuple):
    """One step: the rows of its forward pass; the nodes that were kept and pruned, best first."""

    runs: int
    kept: list[BeamNode]
    pruned: list[BeamNode]


def search(
    model: Transformer,
    source: Int[Tensor, "1 source"],
    width: int,
    length_penalty: float,
    most: int,
    penalty: LengthPenalty = "gnmt",
) -> BeamTree:
    """The engine's search from <bos>, at most `most` words long."""
    return beam_search(
        model,
        torch.tensor([[BOS]]),
        width=width,
        source=source,
        eos_id=EOS,
        max_new_tokens=most,
        length_penalty=length_penalty,
        penalty=penalty,
    )


def steps(tree: BeamTree) -> list[Step]:
    """The tree cut into its steps."""
    result = []
    for number in range(1, max(node.step for node in tree.nodes) + 1):
        nodes = sorted((node for node in tree.nodes if node.step == number), key=lambda node: -node.score)
        runs = len({node.parent for node in nodes})  # each open hypothesis is one row of the batch
        beam = [node for node in nodes if node.kept]
        result.append(Step(runs, beam, [node for node in nodes if not node.kept]))
    return result


def survivors(tree: BeamTree, step: int) -> set[int]:
    """Ids of the nodes on the way to a hypothesis that is open or finished after this step."""
    ids: set[int] = set()
    for node in tree.nodes:
        if node.kept and (node.step == step or (node.finished and node.step <= step)):
            ids |= {part.id for part in tree.path(node.id)}
    return ids


def is_beyond_doubt(log_prob: float) -> bool:
    """Whether no other sentence can be likelier: all sentences' probabilities together are at most 1."""
    return log_prob > -0.6931471805599453  # ln(1/2)


HIDDEN, FAINT, PLAIN, LIT = range(4)


def diagram(tree: BeamTree, steps: list[Step], words: list[str]) -> Diagram:
    """What is kept stays; what is pruned shows at its own step and at the end, faint, and only the best."""
    width = max(len(step.kept) for step in steps)
    n_pruned = min(width, 4) if width <= 4 else 2
    columns = [[*step.kept, *step.pruned[:n_pruned]] for step in steps]
    nodes = [Node(id="0", label="<bos>", column=0, row=0, is_token=True)]
    nodes += [
        Node(
            id=str(node.id),
            label=words[node.token],
            note=brief(node.score),
            column=number,
            row=row,
            is_token=True,
        )
        for number, column in enumerate(columns, start=1)
        for row, node in enumerate(column)
    ]
    edges = [(str(node.parent), str(node.id)) for column in columns for node in column]
    frames = [_levels(tree, columns, step) for step in range(len(steps) + 1)]
    return Diagram(
        title="the tree: each word, and its sentence's log-probability so far",
        nodes=nodes, edges=edges, levels=np.array(frames), row_height=78 if width <= 4 else 44,
    )  # fmt: skip


def _levels(tree: BeamTree, columns: list[list[BeamNode]], step: int) -> list[int]:
    """Open and finished hypotheses plain, the best of them lit, dead ends and what is just pruned faint.

    The best is the one that leads so far; at the end, the one that is chosen.
    """
    alive = survivors(tree, step)
    beam = [node for node in tree.nodes if node.kept]
    ends = [node for node in beam if node.step == step or (node.finished and node.step < step)]
    leader = tree.best if step == len(columns) else max(ends, key=lambda node: node.score, default=None)
    best = {node.id for node in tree.path(leader.id)} if leader and step else set()
    levels = [LIT]
    for number, column in enumerate(columns, start=1):
        for node in column:
            if number > step or (not node.kept and number < step < len(columns)):
                levels.append(HIDDEN)
            elif node.id in best:
                levels.append(LIT)
            else:
                levels.append(PLAIN if node.id in alive else FAINT)
    return levels


MOST_SENTENCES = 5
NAMES: dict[LengthPenalty, str] = {"gnmt": "((5 + length) / 6)", "length": "length"}
DIVISORS: dict[LengthPenalty, str] = {"gnmt": r"((5+|y|)/6)^{\alpha}", "length": r"|y|^{\alpha}"}


def lesson(inputs: Inputs) -> Lesson:
    read, alpha = reading_of(inputs.phrase, inputs.phrase_direction), inputs.length_penalty
    penalty = cast("LengthPenalty", inputs.penalty)
    tree = search(read.model, read.source_ids, inputs.width, alpha, MOST_STEPS, penalty)
    searched = steps(tree)
    runs = np.array([0, *(step.runs for step in searched)], dtype=float)
    proposals = np.array([0, *(len(step.kept) + len(step.pruned) for step in searched)], dtype=float)
    facts = Facts.of(
        Fact("decoder runs at this step", runs, 0),
        Fact("runs so far", runs.cumsum(), 0),
        Fact("words proposed", proposals, 0),
    )
    return Lesson(
        rows=[[diagram(tree, searched, read.vocabulary)], [_hypotheses(read, tree, alpha, penalty), facts]],
        across=1,
        notice=_notices(read, tree, searched, inputs.width),
        scrub=Scrub(
            "step", "step", np.arange(len(searched) + 1),
            ["start", *(f"word {at + 1}" for at in range(len(searched)))], speed=1.2, plays=True,
        ),
        formula=(
            r"\begin{gathered}\log p(y\mid x)=\textstyle\sum_{t}\log p(y_t\mid y_{<t},x)\\"
            r"\hat y=\arg\max_{y}\,\frac{\log p(y\mid x)}{" + DIVISORS[penalty] + r"}\end{gathered}"
        ),
        sizes=rf"\text{{width}}={inputs.width},\; \alpha={alpha:g},\; |y|={tree.best.step}",
        axes={
            "open hypothesis": inputs.width, "vocab": len(read.vocabulary), "proposal": inputs.width,
            "source": len(read.source), "d_model": read.model.config.d_model,
        },
        code=(search, steps, survivors, length_divisor),
    )  # fmt: skip


def _hypotheses(read: Reading, tree: BeamTree, alpha: float, penalty: LengthPenalty) -> Table:
    """The finished sentences, best first, and the greedy one where the beam does not have it."""
    ends = tree.hypotheses()[:MOST_SENTENCES]
    sentences = [(_sentence(read, tree.tokens(end.id)), end.score, end.step) for end in ends]
    greedy = " ".join(read.written)
    if greedy not in [sentence for sentence, *_ in sentences]:
        sentences.append((f"greedy: {greedy}", _greedy_score(read), len(read.written)))
    rows = [
        (sentence, decimal(score), decimal(exp(score), 3), str(n),
         decimal(score / length_divisor(n, alpha, penalty)))
        for sentence, score, n in sentences
    ]  # fmt: skip
    return Table(
        title="the best sentences that it ends with", rows=rows,
        columns=("sentence", "log p", "p", "length", f"log p / {NAMES[penalty]}^{alpha:g}"),
        marked=np.arange(len(rows)) == 0,
    )  # fmt: skip


def _sentence(read: Reading, ids: list[int]) -> str:
    return " ".join(read.vocabulary[id_] for id_ in ids)


def _greedy_score(read: Reading) -> float:
    chosen = read.logits.log_softmax(dim=-1).amax(dim=-1)  # the likeliest word was written at every step
    return float(chosen.sum())


def _notices(read: Reading, tree: BeamTree, searched: list[Step], width: int) -> list[str]:
    notices = ["The model runs **once** and proposes its likeliest first words."]
    for number, step in enumerate(searched[:-1], start=1):
        best = " ".join(_sentence(read, tree.tokens(step.kept[0].id)).split()[-3:])
        notices.append(
            f"Word {number}: {len(step.kept)} kept, {len(step.pruned)} pruned. Best: “… {best}”, "
            f"**{decimal(step.kept[0].score)}**."
        )
    return [*notices, _verdict(read, tree, width)]


def _verdict(read: Reading, tree: BeamTree, width: int) -> str:
    greedy, best = _greedy_score(read), tree.best
    likeliest = max(tree.hypotheses(), key=lambda end: end.score)
    if best.score < likeliest.score:
        return (
            f"The **length penalty** ranks {decimal(best.score)} for {best.step} tokens above "
            f"{decimal(likeliest.score)} for {likeliest.step}: the longer wins, though less likely."
        )
    if best.score > greedy + 1e-4:
        times = exp(best.score - greedy)
        return (
            f"Greedy ends with log-probability {decimal(greedy)}, the beam with **{decimal(best.score)}**: a "
            f"sentence **{times:.1f} times** as likely."
        )
    if is_beyond_doubt(greedy):
        return f"The greedy sentence has probability **{exp(greedy):.3f}**, over ½: no beam can beat it."
    if width == 1:
        return f"A beam of one **is** greedy: it ends with log p = **{decimal(greedy)}**."
    return f"The beam ends with the greedy sentence, log p = **{decimal(greedy)}**."


def questions() -> tuple[Answer, ...]:
    read, whole = reading_of(INCOMPLETE, "fr-en"), reading_of(SENTENCE, "en-fr")
    one, two, eight = (search(read.model, read.source_ids, width, 0.0, MOST_STEPS) for width in (1, 2, 8))
    gained = eight.best.score - two.best.score
    same = exp(_greedy_score(whole))
    runs = [sum(step.runs for step in steps(tree)) for tree in (one, two)]
    more, less = (decimal(tree.best.score) for tree in (eight, two))
    story = f"log p = {more} against {less}."
    if abs(gained) < 1e-4:
        story = (
            f"Both end with log p = {more}, greedy with {decimal(_greedy_score(read))}: more width is more "
            "work."
        )
    return (
        Answer.of(0 if abs(gained) < 1e-4 else 1 if gained > 0 else 2, story=story),
        Answer.of(0 if is_beyond_doubt(_greedy_score(whole)) else 1, same=same, rest=1 - same),
        Answer.of(1 if 1.5 < runs[1] / runs[0] < 2.5 else 0, runs=runs),
    )


CONTROLS = (*PHRASE_CONTROLS, "width", "penalty", "length_penalty")
PART = part(__name__, CONTROLS, lesson, questions, scrub="step")
