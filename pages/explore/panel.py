"""What the viewer draws the controls of a model from: its settings, its texts, and the models beside it."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from attention_lab.models.limits import in_force
from attention_lab.models.zoo.catalogue import MAX_NEW_TOKENS, Offer, Setting, offer_of
from attention_lab.models.zoo.families import FAMILIES
from attention_lab.models.zoo.others import families
from attention_lab.pages.explore import sizes
from attention_lab.pages.explore.payload import Body
from attention_lab.pages.explore.state import Inputs, declared
from attention_lab.pages.shared import on_offer
from attention_lab.pages.shared.state import control_of

MOST_SAID = 200
"""Characters of what a run says of itself."""
MOST_PICTURES = 1_000_000


def offered_models(offer: Offer) -> list[str]:
    """The names of the models that this visitor may choose from, the open one among them."""
    names = [*on_offer.models(), *on_offer.of_transformers(), *on_offer.own()]
    return names if offer.name in names else [*names, offer.name]


def declaration(
    offer: Offer, models: Sequence[str], without: Collection[str] = (), *, opens_others: bool = False
) -> dict[str, Any]:
    """What the viewer needs to know of a model to draw its controls.

    models: those to choose from. without: settings that cannot be turned here. opens_others: whether a
    download and a file of one's own can be opened from here.
    """
    settings = [each for each in offer.settings if each.name not in without]
    return {
        "model": offer.name,
        "models": [_named(name) for name in models],
        "summary": offer.source or offer.summary,
        "sizes": _sizes(offer)[:MOST_SAID],
        "reads": offer.reads,
        "label": offer.label,
        "examples": [{"text": each["text"], "label": each["label"]} for each in offer.examples],
        "knowsWords": bool(offer.words),
        "settings": [_declared(each) for each in settings],
        "linked": list(sizes.linked(settings)),
        "mostNew": MAX_NEW_TOKENS,
        "opensOthers": opens_others,
    }


def known_words(inputs: Inputs) -> dict[str, Any]:
    """All that a model of words knows whole, by language; punctuation left out."""
    offer = offer_of(inputs.model)
    known = offer.words if offer else {}
    return {
        "byLanguage": {
            language: sorted(word for word in words if any(map(str.isalpha, word)))
            for language, words in known.items()
        }
    }


def _named(name: str) -> dict[str, str]:
    offer = offer_of(name)
    shared = {"memory": offer.memory} if offer and offer.memory != name else {}
    # a model whose texts are its own is its own memory
    return {"value": name, "text": on_offer.named(name), **shared}


def _sizes(offer: Offer) -> str:
    if not offer.sizes or any(each.trained for each in offer.settings):  # dials say them
        return ""
    kind, layers, heads, width, positions = map(
        offer.sizes.get, ("kind", "n_layers", "n_heads", "d_model", "positions")
    )
    scheme = f", positions {positions}" if positions else ""
    return f"{kind}: {layers} layers, {heads} heads, d_model {width}{scheme}"


def _declared(setting: Setting) -> dict[str, Any]:
    """A setting as the viewer draws it."""
    rule = setting.offered or setting.rule
    options = [{"value": each, "text": rule.names.get(each, str(each))} for each in rule.options]
    declared = {
        "name": setting.name, "label": setting.label or setting.name, "help": setting.help or "",
        "control": control_of(setting), "options": options, "low": rule.low, "high": rule.high,
        "most": rule.most, "of": setting.of, "usual": setting.default,
        "arguments": {str(name): words for name, words in setting.arguments.items()},
        "placeholder": setting.more.get("placeholder", ""), "dial": setting.trained and not setting.aside,
    }  # fmt: skip
    return {
        name: value
        for name, value in declared.items()
        if value not in (None, "", [], {}, 0) or name == "usual"
    }


def standing(inputs: Inputs) -> str:
    """How well the open member of a family does; "" for other models."""
    family = FAMILIES.get(inputs.model)
    if family is None:
        return ""
    return families.standing(family, {name: inputs.settings[name] for name in family.dials})


def stops(inputs: Inputs, keeps: str) -> dict[str, Any]:
    """By size, how large it is now, and of an untrained model the values to which it can be turned."""
    settings, family = inputs.settings, FAMILIES.get(inputs.model)
    if family is not None:
        values = {name: settings[name] for name in family.dials}
        return {name: {"now": value} for name, value in families.sizes_of(family, values).items()}
    if not {*sizes.LINKED} <= settings.keys():
        return {}
    at = {name: sizes.LINKED.index(name) for name in sizes.LINKED}
    now = sizes.sizes_of(settings)
    return {
        name: {
            "now": now[at[name]],
            "stops": [each[at[name]] for each in sizes.reachable(settings, name, keeps)],
        }
        for name in sizes.LINKED
    }


# What the viewer offers with a text, and how else it may be read.


def swap_of(inputs: Inputs) -> tuple[str, str]:
    """(label, text) of the button that shows another text: this one with a word changed that reverses its
    meaning, or else the next example. ("", "") where there is none.
    """
    current, words = offer_of(inputs.model), inputs.text.split()
    if current is None:
        return "", ""
    if current.reads == "picture":
        return "next picture", str(picture_number(inputs.text) + 1)
    for old, new in current.swaps.items():
        if old in words:
            return f"{old} → {new}", " ".join(new if word == old else word for word in words)
    texts = [example["text"] for example in current.examples]
    after = texts[(texts.index(inputs.text) + 1) % len(texts)] if inputs.text in texts else current.text
    return ("next example", after) if after != inputs.text else ("", "")


def picture_number(typed: str) -> int:
    """The picture that a text names by its number; 0 where it names none."""
    is_number = typed.isdecimal() and len(typed) <= len(str(MOST_PICTURES))
    return int(typed) if is_number and int(typed) < MOST_PICTURES else 0


def other_of(inputs: Inputs) -> str:
    """The text that positions are first patched from, one to one: the text with a word changed, the next
    picture, or the text itself, for the visitor to change a word of.
    """
    label, text = swap_of(inputs)
    return inputs.text if label in ("", "next example") else text


def contrast_of(offer: Offer) -> Offer | None:
    """The model to compare one with, where this visitor may open it."""
    name = offer.contrast.get("model", "")
    return offer_of(name) if on_offer.may_open(name) else None


def can_stand_beside(offer: Offer) -> bool:
    """Whether there is a page that shows what is open beside something else."""
    return not in_force().kiosk and offer.reads not in ("nothing", "any picture")


def beside_link(inputs: Inputs, place: Mapping[str, Any], second_model: str = "") -> dict[str, str]:
    """The link to that page, with the model, the text and the head that are open.

    second_model: the one to compare with, if it is one.
    """
    link = {"model": inputs.model, "text": inputs.text}
    if second_model:
        return link | {"differs": "model", "model2": second_model}
    places = {name: str(place[name])[:MOST_SAID] for name in ("stack", "layer", "head")}
    settings = {"with": urlencode(inputs.overrides)} if inputs.overrides else {}
    other = swap_of(inputs)[1]
    # Without another text that is known to matter, another head of the same text is compared.
    second = {"text2": other} if other else {"differs": "head", "head2": str(int(places["head"] == "0"))}
    return link | second | settings | places


def notes(inputs: Inputs, body: Body, lacking: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """What is to be said of a text that the model cannot read as it was meant, each remedy one press away:
    the setting that suits it better, the words that are not known, the model that was passed over for them.
    """
    said: dict[str, Any] = {"widened": lacking} if lacking else {}
    if body.advice is not None:
        advice, rule = body.advice, declared(inputs.model)[body.advice.setting].rule
        values = (inputs.settings[advice.setting], advice.value)
        read, better = (rule.names.get(value, str(value)) for value in values)
        said["advice"] = {
            "text": f"{advice.because} They are read as {read}:", "better": f"read {better}",
            "setting": advice.setting, "value": advice.value,
        }  # fmt: skip
    elif body.unknown:
        said["unknown"] = body.unknown
    return said
