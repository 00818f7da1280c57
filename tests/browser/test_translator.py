"""The translator's story and controls: what the page shows is what the shipped model computes."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from attention_lab.models import list_models, load_model
from attention_lab.pages.lab.any_model import Translator
from attention_lab.pages.shared import glossary
from tests.browser.explore_page import ExplorePage, agrees

TIRED = "the animal did not cross the street because it was too tired"
WIDE = TIRED.replace("tired", "wide")
WORDS = ["<2fr>", *TIRED.split(), "<eos>"]
IT, ANIMAL, STREET = WORDS.index("it"), WORDS.index("animal"), WORDS.index("street")


@pytest.fixture(scope="module")
def lm() -> Translator:
    return load_model("translator")


@pytest.fixture(scope="module")
def card() -> object:
    return next(card for card in list_models() if card.name == "translator")


def inks(explore: ExplorePage) -> np.ndarray:
    """How strong a line ends at each key of the lines view, 0..1."""
    return explore.ends_of_lines(len(WORDS))[1]


def caption(explore: ExplorePage) -> tuple[str, str, str]:
    """(query, key, weight) of the line that says what to notice."""
    found = re.match(
        r"“(.+)” looks at “(.+)”: (\d\.\d{3}) of its", explore.stage.locator(".notice").inner_text()
    )
    assert found
    return found.groups()


def write_target(explore: ExplorePage, target: str) -> None:
    box = explore.control("Target")
    box.fill(target)
    box.press("Enter")


def assert_translation(explore: ExplorePage, text: str) -> None:
    expect(explore.stage.locator(".translation")).to_have_text(
        re.compile(rf"^→ (typed: )?{re.escape(text)}( · .*)?$")
    )


def test_one_word_turns_it_from_the_animal_to_the_street_and_il_to_elle(explore: ExplorePage) -> None:
    explore.open()
    seen = {}
    for name, noun, pronoun in [("tired", ANIMAL, "il"), ("wide", STREET, "elle"), ("tired", ANIMAL, "il")]:
        expect(explore.sentence).to_have_value(TIRED if name == "tired" else WIDE)
        assert caption(explore)[:2] == ("it", WORDS[noun])
        assert inks(explore).argmax() == noun
        assert explore.stage.locator(".translation strong").all_inner_texts() == [pronoun]
        seen[name] = inks(explore)
        with explore.redrawn():
            explore.stage.get_by_role("button", name=f"{name} → ").click()
    assert seen["tired"][ANIMAL] > 4 * seen["wide"][ANIMAL]
    assert seen["wide"][STREET] > 4 * seen["tired"][STREET]


def test_terms_are_explained_where_they_stand_and_all_by_a_key(explore: ExplorePage) -> None:
    explore.open(view="head")
    page = explore.page
    for term in ("layer", "head"):
        explained = explore.stage.locator(".notice abbr", has_text=term)
        expect(explained).to_have_attribute("data-means", glossary.SENTENCES[term])
    told = explore.stage.locator("abbr, .explained").evaluate_all(
        "(terms) => terms.map((term) => term.dataset.means)"
    )
    page.keyboard.press("g")
    drawer = page.locator(".glossary-drawer")
    expect(drawer).to_be_visible()
    listed = drawer.locator("dd").all_inner_texts()
    assert {glossary.SENTENCES[term] for term in ("query", "key", "score", "dot product", "<2fr>")} <= {
        *listed
    }
    assert {sentence for each in told for sentence in each.split("\n")} <= {*listed}
    page.keyboard.press("Escape")
    expect(drawer).not_to_be_visible()


def test_the_page_says_what_was_taught_and_shows_the_other_translator_at_one_press(
    explore: ExplorePage, lm: Translator, card
) -> None:
    plain = load_model("translator-plain")
    explore.open()
    taught = explore.stage.locator(".taught")
    expect(taught.locator("span")).to_have_text(card.card["taught"])
    assert taught.evaluate("(part) => part.scrollWidth <= part.clientWidth")
    with explore.redrawn():
        # pressed twice in haste, it opens once
        taught.get_by_role("button", name=card.card["contrast"]["label"]).dblclick()
    expect(explore.sentence).to_have_value(TIRED)
    expect(taught.locator("span")).to_have_text(plain.card["taught"])
    assert taught.evaluate("(part) => part.scrollWidth <= part.clientWidth")
    shown = plain.card["showcase"]
    assert (explore.chosen("view"), explore.chosen("layer"), explore.chosen("head")) == (
        ["lines"], [str(shown["layer"])], [str(shown["head"])],
    )  # fmt: skip
    row = plain.trace(TIRED)[f"encoder.{shown['layer']}.self.pattern"][shown["head"], IT]
    query, key, weight = caption(explore)
    assert (query, key) == ("it", WORDS[int(row.argmax())]) and agrees(weight, row.max().item())
    expect(explore.page).to_have_url(re.compile("model=translator-plain"))
    explore.choose("view", "head")
    explore.choose("layer", 0)
    with explore.redrawn():
        taught.get_by_role("button", name=plain.card["contrast"]["label"]).click()
    assert (explore.chosen("view"), explore.chosen("layer")) == (["head"], ["0"])  # another head stays open
    row = lm.trace(TIRED)["encoder.0.self.pattern"][int(explore.chosen("head")[0]), IT]
    assert caption(explore)[:2] == ("it", WORDS[int(row.argmax())])


def test_the_decoders_stacks_show_their_own_numbers(explore: ExplorePage, lm: Translator) -> None:
    explore.open(view="head")
    trace = lm.trace(TIRED)
    for kind in ("self", "cross"):
        explore.choose("stack", f"decoder.{kind}")
        explore.choose("layer", 0)
        explore.choose("head", 1)
        for query, key in [(3, 2), (11, 0), (14, 9)]:
            explore.hover_cell(query, key)
            explore.assert_reads(trace, f"decoder.0.{kind}", 1, query, key)


def test_the_step_slider_hides_what_has_not_happened_yet(explore: ExplorePage, lm: Translator) -> None:
    explore.open(view="head", stack="decoder.cross")
    trace = lm.trace(TIRED)
    tokens = trace.tokens["decoder"]
    layer, head = (int(explore.chosen(name)[0]) for name in ("layer", "head"))
    key = int(trace[f"decoder.{layer}.cross.pattern"][head, -1].argmax())  # a link without a key
    assert explore.terms()["key"] == f"{trace.tokens['encoder'][key]} ({key})"
    slider = explore.stage.get_by_role("slider", name="Decoding step")
    for step in (0, 5, len(tokens) - 1):
        slider.fill(str(step))
        said = [*tokens[1:], "<eos>"][step]
        expect(explore.stage.locator(".step output")).to_have_text(f"{step + 1} of {len(tokens)} → {said}")
        visible = explore.heat(len(tokens), len(trace.tokens["encoder"]))[:, 0, 3] == 255
        np.testing.assert_array_equal(visible, np.arange(len(tokens)) <= step)


def test_the_antecedent_that_the_encoder_names_is_shown(explore: ExplorePage, lm: Translator) -> None:
    explore.open(view="output", text=WIDE)
    (named,) = lm.antecedents(lm.trace(WIDE))
    pronoun, word, probability = explore.stage.locator(".antecedents tbody tr > *").all_inner_texts()
    assert (pronoun, word) == ("it", "→ street")
    assert agrees(probability, named.probability)


def test_a_typed_target_is_forced(explore: ExplorePage, lm: Translator) -> None:
    explore.open(view="head", stack="decoder.self")
    forced = "l'animal n'a pas traversé la rue parce qu'elle était trop fatiguée"
    with explore.redrawn():
        write_target(explore, forced)
    assert_translation(explore, forced)
    trace = lm.trace(TIRED, target=forced)
    assert explore.names_beside("y") == trace.tokens["decoder"]
    for query, key in [(12, 11), (14, 2)]:
        explore.hover_cell(query, key)
        explore.assert_reads(
            trace, f"decoder.{explore.chosen('layer')[0]}.self", int(explore.chosen("head")[0]), query, key
        )
    with explore.redrawn():
        write_target(explore, "")
    assert_translation(explore, lm.read(TIRED).answer)


def test_the_first_thing_that_anyone_types_is_translated_and_the_way_back_and_to_both_is_there(
    explore: ExplorePage,
) -> None:
    explore.open()
    with explore.redrawn():
        explore.type("I love you")
    expect(explore.stage.get_by_text("→ Je t'aime")).to_be_visible()
    expect(explore.page.get_by_text("“translator” has no word for “love”")).to_be_visible()
    with explore.redrawn():
        explore.page.get_by_role("button", name="back to “translator”").click()
    expect(explore.sentence).to_have_value("I love you")
    expect(explore.stage.locator(".tokens.queries button.unknown")).to_have_count(1)
    explore.open()
    with explore.redrawn():
        explore.type("my grandmother baked a chocolate cake")
    explore.page.get_by_role("button", name="see both").click()
    expect(explore.page.get_by_text("A: everyday translator")).to_be_visible()


def test_an_unknown_word_is_marked_and_a_click_replaces_it(explore: ExplorePage, lm: Translator) -> None:
    explore.open(text="the animel did not cross the street because it was tired")
    marked = explore.stage.locator(".tokens.queries button.unknown")
    assert marked.all_inner_texts() == ["<unk>"] and marked.get_attribute("title") == "typed: animel"
    (unknown,) = lm.task.encode_source("the animel did not cross the street").unknown
    for word in unknown.suggestions:
        expect(explore.page.get_by_role("button", name=word, exact=True)).to_be_visible()
    with explore.redrawn():
        explore.page.get_by_role("button", name="animal", exact=True).click()
    expect(explore.sentence).to_have_value("the animal did not cross the street because it was tired")
    expect(explore.stage.locator(".tokens button.unknown")).to_have_count(0)
    expect(explore.problem).to_be_hidden()


def test_examples_are_one_click_away(explore: ExplorePage, lm: Translator, card) -> None:
    explore.open(target="le chat")
    for example in card.examples[1:]:
        with explore.redrawn():
            explore.stage.get_by_label("Examples of a text").select_option(label=example["label"])
        expect(explore.sentence).to_have_value(example["text"])
        assert_translation(explore, lm.read(example["text"]).answer)


def test_the_vocabulary_can_be_read(explore: ExplorePage, lm: Translator) -> None:
    explore.open()
    explore.side.get_by_text("Words", exact=True).click()
    for name in ("English", "French"):
        known = lm.card["learnt"]["words"][name.lower()]
        words = sorted(word for word in known if any(map(str.isalpha, word)))
        expect(explore.page.get_by_text(f"{name}: {len(words)} words")).to_be_visible()
        expect(explore.side.get_by_text(", ".join(words), exact=True)).to_be_visible()
    with explore.redrawn():
        explore.control("Put a word at the end of the text").select_option("dog")
    expect(explore.sentence).to_have_value(f"{TIRED} dog")
