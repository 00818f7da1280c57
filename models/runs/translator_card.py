"""What the card of a trained translator says beyond any other card."""

from typing import Any

from models.data.grammar import showcase
from models.data.grammar_text import held_out
from models.data.parallel import UNKNOWN_SHARE
from models.data.tasks.translation import Translation
from models.data.word_tokenizer import WordTokenizer
from models.engine.transformer import Transformer
from models.runs.recipe import examples_of
from models.training.evaluation import evaluate, look

EXAMPLES = examples_of("""
tired | the animal did not cross the street because it was too tired | “it” is the animal, so French says “il”
wide | the animal did not cross the street because it was too wide | “it” is now the street; French: “elle”
trophy | the trophy did not fit in the suitcase because it was too small | what is too small? try “big”
letters | the children did not read the letters because they were too long | persons or things? try “tired”
pronoun first | because it was too fast, the dog did not catch the rabbit | the pronoun is first; try “slow”
so that | the girl cleaned the basket for the cat so that it would be happy | three nouns; try “dry”
even though | even though it was very tired, the goat crossed the river | another kind of clause; try “deep”
which | the old cars which the man saw were expensive | the French participle agrees: “vues”
question | did the big dog see a red car? | “grand” stands before its noun, “rouge” after it
student | i am a student | the classic: French leaves out the article
""")
"""Sentences to try: a short name, the sentence, and what to see in it."""

_HELD_OUT = "one in ten combinations of subject and object noun; training never shows such two together"
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
    "It knows its vocabulary and its sentence patterns only, and writes persons of unstated gender in the "
    "masculine. The metrics are over sentences of the same grammar, not over text from elsewhere."
)


def make_card(task: Translation, model: Transformer, metrics: dict[str, Any], seed: int) -> dict[str, Any]:
    """The entries that only a translator's card has, as JSON values. seed: of its training."""
    named = task.antecedent_weight > 0
    told = "also taught to name what each pronoun means" if named else "taught to translate, and nothing else"
    return {
        "summary": f"English-French translator that was {told}",
        "taught": _taught(metrics, named),
        "data": {"grammar": "models.data.grammar", "seed": seed, "held_out": _HELD_OUT},
        "objective": _TRANSLATING + _NAMING * named + _SHOWN,
        "limits": _LIMITS,
        "metrics": metrics,
        "showcase": {"view": "lines", **story_head(model, task.words)},
        "examples": [{"label": label, "text": text, "see": see} for label, text, see in EXAMPLES],
        "label": "Sentence: type your own. A real transformer reads it; see which words each word looks at.",
        "swaps": {"tired": "wide", "wide": "tired"},
    }


def _taught(metrics: dict[str, Any], named: bool) -> str:
    """What the model was trained for; where it was translating alone, what its heads do from a pronoun."""
    if named:
        return "Besides translating, it was taught to name the noun that each pronoun means."
    right, best = metrics["en-fr"]["pronoun"], metrics["en-fr"]["head"]["weight"]
    return (
        f"Only taught to translate: {right:.0%} of its pronouns are right, yet its best head gives the noun "
        f"meant {best:.2f} on average."
    )


def measures(model: Transformer, tokenizer: WordTokenizer) -> dict[str, Any]:
    """`evaluate` on held-out sentences; under "en-fr", where the attention is of English pronouns alone."""
    examples = held_out(_SENTENCES)
    english = evaluate(model, tokenizer, [each for each in examples if each[1] == "en-fr"])
    kept = ("sentences", "pronouns", "flips", "pronoun", "named", "layers", "layer", "head")
    return evaluate(model, tokenizer, examples) | {"en-fr": {name: english[name] for name in kept}}


def story_head(model: Transformer, tokenizer: WordTokenizer) -> dict[str, Any]:
    """The encoder head that tells the showcase's two sentences apart best.

    It maximises the smaller of two weights: from "it" to animal (tired), and from "it" to street (wide).
    """
    seen = []
    for adjective in ("tired", "wide"):
        pair = showcase(adjective)
        assert pair.english_mention
        seen.append(look(model, tokenizer, pair, "en-fr", pair.english_mention).antecedent)
    weakest = seen[0].minimum(seen[1])  # [layer, head]
    layer, head = divmod(int(weakest.argmax()), model.config.n_heads)
    return {"stack": "encoder.self", "layer": layer, "head": head}
