"""Part 3: attention does not know the order of its tokens."""

from collections.abc import Sequence

from models.lessons.attention import examples, order
from models.lessons.attention.order import Comparison
from pages.lab.attention.inputs import Inputs
from pages.lab.controls import Set
from pages.lab.lesson import Lesson, Part, Question, Shape, Try
from pages.shared.state import State
from pages.shared.wording import distinct
from viz_core.boards import Board, Matrix, Panel
from viz_core.labels import short

TRIES = (
    Try("Read it backwards", {"sentence": examples.SENTENCE, "reordered": "man the bites dog the"}),
    Try("Move one word", {"sentence": examples.SENTENCE, "reordered": "bites the dog the man"}),
    Try("Keep the order", {"sentence": examples.SENTENCE, "reordered": examples.SENTENCE}),
)


def lesson(inputs: Inputs) -> Lesson:
    words = inputs.sentence.split()
    new = order.order_of(words, inputs.reordered.split())
    plain, placed = (
        order.compare(words, new, positions=positions, seed=inputs.order_seed)
        for positions in ("none", "sinusoidal")
    )
    board = Board(
        rows=[_row("no positions", words, new, plain), _row("with positions", words, new, placed)],
        notice=_notice(new, plain.largest, placed.largest),
    )
    n_words, d_model = plain.original.shape
    return Lesson(
        see="An encoder of 2 layers reads a sentence, then the same words in another order, and gives one "
        "row of numbers for each word. It does so twice: without positions, and with sinusoidal positions "
        "added.",
        board=board,
        formula=r"f(P X) = P f(X) \quad\text{for every reordering } P",
        sizes=rf"n = {n_words} \text{{ words}},\; d_\text{{model}} = {d_model}",
        shapes=[
            Shape("X", "token channel", (n_words, d_model)),
            Shape("P", "place token", (n_words, n_words)),
            Shape("f(X)", "token channel", (n_words, d_model)),
        ],
        code=[order.compare, order.encoder, order.outputs],
    )


def _row(label: str, words: Sequence[str], new: Sequence[int], found: Comparison) -> list[Panel]:
    """Outputs in both orders, and how far each word's output moved."""
    reach = float(found.original.abs().max())
    moved = found.difference.amax(dim=1, keepdim=True)
    return [
        Matrix(
            title=f"outputs, {label}", values=found.original.numpy(), reach=reach,
            rows=distinct(words), row_axis="token", column_axis="channel",
        ),
        Matrix(
            title=f"reordered, {label}", values=found.reordered.numpy(), reach=reach,
            rows=[distinct(words)[at] for at in new], row_axis="place", column_axis="channel",
        ),
        Matrix(
            title=f"difference, {label}", values=moved.numpy(), reach=reach, rows=distinct(words),
            row_axis="token",
        ),
    ]  # fmt: skip


def _notice(new: Sequence[int], plain: float, placed: float) -> str:
    if list(new) == sorted(new):
        return "The order is the same, and so is every output. Change the order."
    return (
        f"Without positions the outputs only change places: they differ by **{short(plain)}**, no more "
        f"than rounding. With positions they differ by up to **{placed:.2f}**."
    )


def _backwards(state: State) -> None:
    """A new sentence needs a new order: its own words backwards."""
    state.put({"reordered": " ".join(reversed(state.kept["sentence"].split()))})


def questions() -> tuple[Question, ...]:
    words = examples.SENTENCE.split()
    swapped = order.order_of(words, examples.REORDERED.split())
    plain, placed = (
        order.compare(words, swapped, positions=positions) for positions in ("none", "sinusoidal")
    )
    bites = words.index("bites")
    still = [bool(found.difference[bites].max() < 1e-5) for found in (plain, placed)]
    twins = float((plain.original[0] - plain.original[3]).abs().max())
    return (
        Question(
            "Without positions, “dog” and “man” swap places. What becomes of the output of “bites”?",
            ("it changes", "it stays the same"),
            int(still[0]),
            f"It differs by {short(plain.difference[bites].max())}: the order of its terms makes no "
            "difference to a sum. Who bites whom is lost.",
            told=True,
        ),
        Question(
            "With positions, what becomes of the output of “bites”, which keeps its place?",
            ("it changes", "it stays the same"),
            int(still[1]),
            f"It differs by {placed.difference[bites].max():.2f}: “dog” at place 2 and “dog” at place 5 have "
            "different embeddings now.",
        ),
        Question(
            "Without positions, how do the outputs of the two “the” differ?",
            ("not at all", "each is about its own noun"),
            0 if twins < 1e-5 else 1,
            f"They differ by {short(twins)}: the same embedding and the same words to look at give the same "
            "output.",
        ),
    )


PART = Part(
    "order", "Order", (Set("sentence", then=_backwards), "reordered", "order_seed"),
    lesson, TRIES, questions,
)  # fmt: skip
