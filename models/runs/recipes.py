"""What a recipe is: how a shipped model is trained, and what its card says of it beyond the numbers."""

from dataclasses import dataclass, field
from typing import Any, get_args

from models.config import Normalizer
from models.data.grammar.lexicon import rows
from models.zoo.suite import SCHEMES

Example = tuple[str, str, str] | tuple[str, str, str, dict[str, int]]
Examples = tuple[Example, ...]
"""(label, text to type, what to see, and where: a query, and the layer and head where they are others)."""
_FEW = "It is small and was trained for minutes: a model to look into, not to work with."


def examples_of(table: str) -> Examples:
    """The examples of a table with one a line: label | text | what to see."""
    return tuple((label, text, see) for label, text, see in rows(table))


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """A task with its options, what differs from the task's own sizes and training, and words for the card.

    title: in pickers, where the name alone does not say enough. contrast: the model to compare it with, and
    the label of the button that opens it; models with the same memory read the same texts. note: what
    else is known of it.
    showcase: the view that Explore opens with, of the head whose story the first example tells.
    keeps_run: the run's curves and snapshots ship, too, so that its heads can be watched as they form.
    """

    task: str
    summary: str = ""
    title: str = ""
    contrast: dict[str, str] = field(default_factory=dict)
    memory: str = ""
    note: str = ""
    examples: Examples = ()
    options: dict[str, Any] = field(default_factory=dict)
    sizes: dict[str, Any] = field(default_factory=dict)
    training: dict[str, Any] = field(default_factory=dict)
    limits: str = _FEW
    showcase: dict[str, Any] = field(default_factory=dict)
    keeps_run: bool = False


# How each shipped model is trained.


def _first(view: str, stack: str, layer: int, head: int, **more: Any) -> dict[str, Any]:
    return {"view": view, "stack": f"{stack}.self", "layer": layer, "head": head, **more}


_CLS = {"query": 0, "pinned": "query"}
_ALONE = {"threads": 1}  # the same numbers on any machine of this kind
_TRANSLATING = {"steps": 5000, "batch_size": 128, "warmup_steps": 400, **_ALONE}
_ALIKE = (
    "From a pronoun, all four heads of encoder layer 1 do alike. Where naming taught one of them alone, that "
    "head did worse: after 3,250 of 5,000 steps it put 0.74 on the antecedent, and less on the other noun in "
    "92% of the sentences; so these weights were kept."
)
_TEXT = {"source": "tiny-shakespeare"}
_LONG = {"steps": 1200, "batch_size": 8, "learning_rate": 4e-3, **_ALONE}
_NONSENSE = "It writes lines that look like Shakespeare's and mean little."
_SPEECH = "First Citizen:\nBefore we proceed any further, hear me speak.\n\nAll:\nSpeak, speak.\n"

_LETTERS = "It knows its own language of letters and nothing else."
_ONE_SEED = (
    "It knows the words and sentences of its own grammar only. It is small, trained briefly, with one seed: "
    "that one scheme does better than another here says little of large models."
)

RECIPES: dict[str, Recipe] = {
    "translator": Recipe(
        task="translation",
        options={"antecedent_weight": 0.5},
        training=_TRANSLATING,
        contrast={"model": "translator-plain", "label": "see one that was only taught to translate"},
        note=_ALIKE,
    ),
    "translator-plain": Recipe(
        task="translation",
        title="translator, translation alone",
        options={"antecedent_weight": 0.0},
        training=_TRANSLATING,
        contrast={"model": "translator", "label": "see the one that was taught that, too"},
        memory="translator",
    ),
    "induction": Recipe(
        task="induction",
        summary="Two layers that learnt to look up what came after a letter the first time",
        examples=examples_of("""
            twice | RtnuOIVwNfpRtnuOIVwNfp | lower diagonal: each letter looks at what followed it before
            short | abcdabcd | the second “a” looks at “b”, which followed the first
            broken | kBmPzqkBmPzU | “U” is new: there is nothing to look up
        """),
        showcase=_first("head", "decoder", 1, 0),
        training={"steps": 800, **_ALONE},
        keeps_run=True,
    ),
    "shakespeare": Recipe(
        task="language-model",
        summary="Writes Shakespeare letter by letter",
        examples=(
            (
                "speak",
                "First Citizen:\nBefore we proceed any",
                "the letters of “itizen” look back at “C”, where their word began",
                {"layer": 1, "head": 1, "query": 9},
            ),
            (
                "romeo",
                "ROMEO:\nBut soft, what light through yonder",
                "layer 2, head 0 looks at where the line began",
                {"layer": 2, "head": 0, "query": 41},
            ),
            (
                "spaces",
                "To be, or not to be, that is the",
                "layer 0, head 3 looks at the letter before",
                {"layer": 0, "head": 3, "query": 31},
            ),
        ),
        showcase=_first("head", "decoder", 1, 1),
        options=_TEXT,
        training={"steps": 2000, "learning_rate": 3e-3, "warmup_steps": 100, **_ALONE},
        limits=_NONSENSE,
    ),
    "masked": Recipe(
        task="masked",
        summary="Tells hidden words from those around them, as BERT does",
        examples=(
            (
                "street",
                "the animal did not cross the [MASK] because it was too tired",
                "[MASK] asks the verb what is crossed; the view Output lists the guesses",
                {"layer": 0, "head": 2},
            ),
            (
                "pronoun",
                "the animal did not cross the street because [MASK] was too wide",
                "what is too wide? [MASK] looks at “street”; the view Output says “it”",
                {"layer": 0, "head": 2},
            ),
            (
                "who",
                "the [MASK] did not read the letters because they were too long",
                "layer 1, head 1 asks the verb: who reads?",
                {"layer": 1, "head": 1},
            ),
        ),
        showcase=_first("lines", "encoder", 0, 2),
        options={"vocabulary": 2000},
        training={"steps": 3000, "batch_size": 64, **_ALONE},
        limits="It knows the sentences of its own grammar only.",
    ),
    "sentiment": Recipe(
        task="sentiment",
        summary="Praise or blame: reads reviews, and what negation and contrast make of them",
        examples=(
            (
                "contrast",
                "the plot was dull , but the acting was superb .",
                "all look at “superb”: what follows “but” decides",
            ),
            ("negation", "the story was not good .", "all look at “not”, which turns “good” round"),
            (
                "anything but",
                "the acting was anything but boring .",
                "[CLS] looks at “anything”: “anything but” means “not”",
                {"query": 0},
            ),
            (
                "although",
                "although the music was lovely , the ending was weak .",
                "[CLS] looks at “weak”: the main clause decides",
                {"query": 0},
            ),
        ),
        showcase=_first("lines", "encoder", 1, 0),
        training=_ALONE,
        limits="It knows the words and patterns of its own corpus only.",
    ),
    "verbs": Recipe(
        task="verb-number",
        summary="Singular or plural: reads a sentence up to its verb, past nouns that do not count",
        examples=(
            (
                "keys",
                "the keys to the cabinet",
                "[CLS] looks at “keys”, though “cabinet” is nearer",
                {"query": 0},
            ),
            (
                "far",
                "the key to the old cabinets near my doors",
                "[CLS] looks past two plural nouns at “key”",
                {"query": 0},
            ),
            (
                "clause",
                "the dogs that the man saw",
                "[CLS] looks at “dogs”, the subject that “that” goes on about",
                {"query": 0},
            ),
            (
                "place",
                "near the gates , the boy",
                "[CLS] looks at “boy”: a noun before the comma does not count",
                {"query": 0},
            ),
        ),
        showcase=_first("lines", "encoder", 4, 1, **_CLS),
        training=_ALONE,
        limits="It knows the words and patterns of its own corpus only; most of its sentences mean little.",
    ),
    "digits-autoencoder": Recipe(
        task="digits-autoencoder",
        summary="Rebuilds 8 x 8 pictures of digits from their rows",
        examples=(
            ("a six", "1", "the picture as read and as rebuilt; each row looks at nearly all rows alike"),
            ("an eight", "7", "another digit, read by the same heads"),
        ),
        showcase=_first("grid", "encoder", 0, 6),
        training=_ALONE,
    ),
    "digits-classifier": Recipe(
        task="digits-classifier",
        summary="Says which digit an 8 x 8 picture shows",
        examples=(
            ("a nine", "6", "[CLS] looks at row 6: one stroke, on the right"),
            ("a five", "3", "[CLS] looks at row 6 again: a five, too, has one stroke there"),
            ("an eight", "7", "[CLS] looks at row 5, the waist of the eight"),
        ),
        showcase=_first("lines", "encoder", 1, 2, **_CLS),
        training=_ALONE,
    ),
    "long-memory": Recipe(
        task="long-context",
        summary="Transformer-XL on letters of Shakespeare: a segment, and a memory of the one before",
        examples=(
            ("speech", _SPEECH, "a staircase: each segment of 23 letters sees itself and the 23 before"),
        ),
        showcase=_first("head", "decoder", 1, 2, range="log"),
        options={**_TEXT, "attention": "transformer-xl"},
        training=_LONG,
        limits=_NONSENSE,
    ),
    "sparse": Recipe(
        task="long-context",
        summary="Sparse attention on letters of Shakespeare: a block, and the last letters of earlier ones",
        examples=(("speech", _SPEECH, "a block sees itself and, as columns, the last letters of others"),),
        showcase=_first("head", "decoder", 0, 1, range="log"),
        options={**_TEXT, "attention": "fixed"},
        training=_LONG,
        limits=_NONSENSE,
    ),
    "grokking": Recipe(
        task="modular-addition",
        summary="Adds modulo 113: it knew its examples by heart, and found the rule long after",
        examples=examples_of("""
            sum | 45 90 = | “=” looks at both numbers; the view Output says 22, which is 135 less 113
            small | 3 4 = | no remainder: 7
            order | 90 45 = | the same sum the other way round
        """),
        showcase=_first("head", "decoder", 0, 0),
        options={"percent": 40},
        training={"batch_size": 5107, "steps": 3000, "learning_rate": 2e-3, **_ALONE},
        limits="It adds numbers below 113 and knows nothing else.",
        keeps_run=True,
    ),
    "needle": Recipe(
        task="needle",
        summary="Finds a code in a haystack of words: few heads fetch it from far back",
        examples=examples_of("""
            far | the code of ana 17 42 30 . grass sky here we go there and back again a long \
day by the river some rain fell on old trees birds sang what ? the code of ana | \
“42” looks far back at 30, which followed it there
            two | the code of ana 17 42 30 . a long day the code of ben 51 28 36 . what ? \
the code of ben | “28” looks at 36, in Ben's code; Ana's is no matter
            begun | the code of ana 17 42 30 . birds sang here what ? the code of ana 17 | \
given 17, it goes on: “42” looks at 30
        """),
        showcase=_first("head", "decoder", 1, 0),
        training=_ALONE,
        limits="It knows a hundred words, and codes of three numbers in texts of at most 64.",
    ),
    **{
        f"depth/{n_layers}": Recipe(
            task="induction",
            summary=f"Repeated letters, attention alone: {n_layers} layer{'s' * (n_layers > 1)}",
            sizes={"n_layers": n_layers, "feed_forward": False},
            training={"steps": 1500, **_ALONE},
            keeps_run=True,
        )
        for n_layers in (1, 2)
    },
    **{
        f"sinks/{normalizer}": Recipe(
            task="back-copy",
            summary=f"Letters that come back after vowels, one of three: normalizer={normalizer!r}",
            sizes={"normalizer": normalizer},
            training={"steps": 3000, **_ALONE},
            limits=_LETTERS,
            keeps_run=True,
        )
        for normalizer in get_args(Normalizer)
    },
    **{
        f"positions/{scheme}": Recipe(
            task="next-word",
            summary=f"next-word model of English sentences, one of a suite: positions={scheme!r}",
            options={"reach": 32 if scheme == "learned" else 128, "words": 2_000_000},
            sizes={"positions": scheme},
            training={"steps": 1500, "warmup_steps": 150, **_ALONE},
            limits=_ONE_SEED,
        )
        for scheme in SCHEMES
    },
}
