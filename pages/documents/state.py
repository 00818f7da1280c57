"""What a link to a long text holds, and what is computed from it."""

from dataclasses import dataclass
from itertools import islice
from typing import Any

from attention_lab.models.data.grammar import sample_pairs
from attention_lab.models.fields import characters, fields_of, one_of, setting, table, whole
from attention_lab.models.zoo.catalogue import offer_of
from attention_lab.pages.documents.reading import DocumentRequest
from attention_lab.pages.shared import on_offer
from attention_lab.pages.shared.state import State

MOST_CHARACTERS = 400_000
"""32,768 tokens of English are about 150,000 characters."""
IN_LINKS = 2_000
"""Characters of a text that a link carries; a longer one stays with its visitor."""
DEFAULT = "sparse"
MEASURES = {"largest": "largest weight", "mean": "mean weight"}
STACKS = {"encoder.self": "encoder", "decoder.self": "decoder", "decoder.cross": "cross"}
RANGES = {"linear": "linear", "log": "log"}


def sample() -> str:
    """A text of about 6,000 letters: sentences of the grammar, which repeat what they speak of."""
    sentences = (" ".join(pair.english) for pair in islice(sample_pairs(0, "training"), 100))
    return "\n".join(sentences)


def readers() -> list[str]:
    """The models to choose from: those that read text."""
    return [name for name in on_offer.listed() if _reads_text(name)]


def _reads_text(name: str) -> bool:
    offer = offer_of(name)
    return offer is not None and offer.reads != "picture"


@dataclass(frozen=True)
class Inputs:
    model: str = setting(
        DEFAULT,
        on_offer.model_rule(
            "the name of a model that reads text, run:<its id> or hf:<its name>", _reads_text
        ),
        "Model",
        control="list",
    )
    text: str = setting("", characters(MOST_CHARACTERS), "Document", control="area", more={"height": 100})
    stack: str = setting("encoder.self", one_of(STACKS), "Attention", control="segments")
    layer: int = setting(0, whole(0, 127), "Layer")
    head: int = setting(0, whole(0, 127), "Head")
    measure: str = setting("largest", one_of(MEASURES), "A cell shows its", control="segments")
    range: str = setting("linear", one_of(RANGES), "Scale", control="segments")
    without: int = setting(
        0, one_of({0: "all keys", 1: "without the first"}), "Keys", "The first is often a sink", "segments"
    )
    zoom: tuple[tuple[float, float], ...] = setting((), table((2, 2), (2, 2)))
    pair: tuple[tuple[float, float], ...] = setting((), table((1, 1), (2, 2)))


PAGE = "documents"


def page() -> State:
    return State(PAGE, fields_of(Inputs))


def request(values: dict[str, Any]) -> DocumentRequest:
    """The head and the document that the inputs describe."""
    offer = offer_of(values["model"])
    settings = tuple((s.name, s.default) for s in offer.settings if s.builds) if offer else ()
    names = ("model", "stack", "layer", "head", "measure", "without")
    return DocumentRequest(
        text=values["text"] or sample(), settings=settings, **{name: values[name] for name in names}
    )


def link(values: dict[str, Any]) -> dict[str, str]:
    """The query parameters; a long text is not among them."""
    parameters = page().link(values)
    if len(parameters.get("text", "")) > IN_LINKS:
        del parameters["text"]
    return parameters
