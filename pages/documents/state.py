"""What a link to a long text holds, and what is computed from it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Any

from models.data.grammar import sample_pairs
from models.fields import Rule, characters, checked, fields_of, one_of, setting, whole
from models.limits import in_force
from models.zoo.offers import HUB, RUN, offer_of, offers
from pages.documents.reading import DocumentRequest
from pages.shared import on_offer
from pages.shared.state import State

MOST_CHARACTERS = in_force().document_characters
IN_LINKS = in_force().field_characters
"""Characters of a text that a link carries; a longer one stays with its visitor."""
DEFAULT = "sparse"
MEASURES = {"largest": "largest weight", "mean": "mean weight"}
STACKS = {"encoder.self": "encoder", "decoder.self": "decoder", "decoder.cross": "cross"}
RANGES = {"linear": "linear", "log": "log"}


def sample() -> str:
    """A text of about 6,000 letters: sentences of the grammar, which repeat what they speak of."""
    sentences = (" ".join(pair.english) for pair in islice(sample_pairs(0, "training"), 100))
    return "\n".join(sentences)


def _read_name(raw: str) -> str:
    return checked(raw, lambda name: name in offers() or any(p.fullmatch(name) for p in (RUN, HUB)))


def readers() -> list[str]:
    """The models to choose from: those that read text."""
    names = [*on_offer.models(), *on_offer.of_transformers()]
    return [name for name in names if _reads_text(name)]


def _reads_text(name: str) -> bool:
    offer = offer_of(name)
    return offer is not None and offer.reads != "picture"


def _is_reader(value: Any) -> bool:
    return isinstance(value, str) and on_offer.may_open(value) and _reads_text(value)


@dataclass(frozen=True)
class Inputs:
    model: str = setting(
        DEFAULT,
        Rule(
            "the name of a model that reads text, run:<its id> or hf:<a model of transformers here>",
            _read_name,
            _is_reader,
        ),
        "Model",
        "Those that read text. Learnt positions end where training ended.",
        control="list",
    )
    text: str = setting("", characters(MOST_CHARACTERS), "Document", control="area", more={"height": 100})
    stack: str = setting("encoder.self", one_of(STACKS), "Attention", control="segments")
    layer: int = setting(0, whole(0, 127), "Layer")
    head: int = setting(0, whole(0, 127), "Head")
    measure: str = setting("largest", one_of(MEASURES), "A cell shows its", control="segments")
    range: str = setting("linear", one_of(RANGES), "Scale", control="segments")
    without: int = setting(
        0,
        one_of({0: "all keys", 1: "without the first"}),
        "Keys",
        "The first token is often a sink, beside which nothing else can be seen",
        "segments",
    )


PAGE = "documents"


def page() -> State:
    return State(PAGE, fields_of(Inputs))


def request(kept: dict[str, Any]) -> DocumentRequest:
    """The wish that the inputs describe."""
    offer = offer_of(kept["model"])
    settings = tuple((s.name, s.default) for s in offer.settings if s.builds) if offer else ()
    return DocumentRequest(
        kept["model"], kept["text"] or sample(), kept["stack"], kept["layer"], kept["head"],
        kept["measure"], kept["without"], settings,
    )  # fmt: skip


def link(kept: dict[str, Any]) -> dict[str, str]:
    """The query parameters; a long text is not among them."""
    found = page().link(kept)
    if len(found.get("text", "")) > IN_LINKS:
        del found["text"]
    return found
