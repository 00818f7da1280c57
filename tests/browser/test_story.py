"""The first visit: a story in five beats, whose numbers are the model's own, on a level for reading."""

import re
from collections.abc import Callable
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from attention_lab.models import load_model
from tests.browser.explore_page import ExplorePage, agrees, settle

TIRED = "the animal did not cross the street because it was too tired"
WORDS = ["<2fr>", *TIRED.split(), "<eos>"]
IT, ANIMAL = WORDS.index("it"), WORDS.index("animal")
LAYER, HEAD = 1, 3


@pytest.fixture
def story(page: Page) -> ExplorePage:
    return ExplorePage(page, reads=True)


def notice(story: ExplorePage) -> str:
    return story.stage.locator(".notice").inner_text()


def numbers(story: ExplorePage) -> list[str]:
    """What stands at the bars of all tokens."""
    return story.stage.locator(".story-column .bar-number").all_inner_texts()


def test_a_first_visit_reads_a_story_of_the_models_own_numbers(story: ExplorePage) -> None:
    trace = load_model("translator").trace(TIRED)
    q, k = (trace[f"encoder.{LAYER}.self.{name}"][HEAD] for name in "qk")
    scores, pattern = (trace[f"encoder.{LAYER}.self.{name}"][HEAD, IT] for name in ("scores", "pattern"))
    story.open()
    page, stage = story.page, story.stage
    assert story.chosen("level") == ["read"] and story.chosen("story") == ["1"]
    assert not urlsplit(page.url).query
    expect(stage.locator(".controls")).to_be_hidden()
    expect(page.locator(".st-key-explore_side")).to_be_hidden()
    assert notice(story).startswith("“it” looks at “animal”")
    with story.quiet():
        page.keyboard.press("ArrowRight")  # the query meets the keys
        assert all(agrees(shown, score.item()) for shown, score in zip(numbers(story), scores, strict=True))
        assert agrees(notice(story).rsplit(" ", 1)[1].rstrip("."), scores.max().item())
        products = (q[IT] * k[ANIMAL] / q.shape[-1] ** 0.5).tolist()
        bars = stage.locator(".products > span").evaluate_all("(all) => all.map((one) => one.title)")
        assert all(agrees(bar.split(": ")[1], each) for bar, each in zip(bars, products, strict=True))
        summed = stage.locator(".story-match strong")
        assert agrees(summed.inner_text().split("= ")[1].split(",")[0], scores[ANIMAL].item())
        stage.locator(".story-column").nth(WORDS.index("street")).hover()
        assert agrees(summed.inner_text().split("= ")[1].split(",")[0], scores[WORDS.index("street")].item())
        page.keyboard.press("ArrowRight")  # scores become shares
        shares = [float(shown.replace("≈", "")) for shown in numbers(story)]
        assert shares == pytest.approx(pattern.tolist(), abs=6e-4)
        stage.get_by_role("group", name="story").get_by_role("button", name="4 values mix").click()
        assert agrees(notice(story).split("shares, ")[1].split()[0], pattern[ANIMAL].item())
        page.keyboard.press("ArrowRight")  # from the pressed button too; a word is written
    outputs = stage.get_by_role("group", name="Likeliest outputs").get_by_role("button")
    il = trace["logits"].softmax(-1)[trace.tokens["decoder"].index("qu'")]
    first, share = outputs.first.inner_text().split()
    assert first == "il" and agrees(share, il.max().item())
    with story.redrawn():  # the pronoun turns where the story stands
        stage.get_by_role("button", name="tired → wide").last.click()
    expect(outputs.first).to_contain_text("elle")
    assert story.chosen("story") == ["5"]
    expect(stage.get_by_text("With “tired” it was “il”, 0.999.")).to_be_visible()
    story.choose("story", 3)
    stage.get_by_role("button", name="The numbers of “street”").click()  # each number opens its computation
    expect(stage.get_by_role("region", name="The numbers of one cell")).to_contain_text("street")
    assert notice(story).startswith("“it” gives “street” ")
    stage.get_by_role("button", name="back to the story").click()
    assert story.chosen("story") == ["3"]
    story.choose("story", 1)
    story.choose("level", "lab")
    expect(stage.locator(".controls")).to_be_visible()
    expect(page.locator(".st-key-explore_side")).to_be_visible()
    assert story.chosen("view") == ["lines"] and "level=lab" in page.url
    page.goto("/")  # this browser remembers
    story.stage.wait_for()
    assert story.chosen("level") == ["lab"]


def test_a_typed_sentence_is_told_by_the_model_that_can_read_it(new_page: Callable[..., Page]) -> None:
    """With motion, and in front of a hall."""
    story = ExplorePage(new_page(reduced_motion="no-preference"), reads=True).open()
    page, stage = story.page, story.stage
    with story.redrawn():
        story.type("my friends love this city")
    settle(page)
    assert "model=everyday" in page.url and "level=read" in page.url
    assert "␣" not in stage.inner_text()
    expect(stage.get_by_role("button", name="5 a piece is written")).to_be_visible()
    stage.locator(".notice").click()  # out of the field
    page.keyboard.press("p")
    page.keyboard.press("Space")  # it plays
    expect(stage.get_by_role("button", name="pause")).to_be_visible()
    page.keyboard.press("Space")
    expect(stage.get_by_role("button", name="play")).to_be_visible()
    begun = int(story.chosen("story")[0])  # a busy machine may have played on
    page.keyboard.press("PageDown")
    assert story.chosen("story") == [str(begun + 1)]
    rows = stage.get_by_role("group", name="Ask from").get_by_role("button")
    rows.nth(1).click()
    assert rows.nth(1).get_attribute("aria-pressed") == "true"
    page.keyboard.press("Escape")
    with story.redrawn():  # an example is read to its end
        page.get_by_text("station", exact=True).click()
    story.choose("level", "lab")
    step = stage.get_by_role("slider", name="Decoding step")
    expect(step).to_have_attribute("aria-valuetext", re.compile(r"(\d+) of \1 "))


def test_what_a_mask_forbids_has_no_bar_and_a_text_opens_on_words(story: ExplorePage) -> None:
    story.trained("shakespeare", beat=2, level="read", text="ROMEO: what light", query=5, step=5)
    heights = story.stage.locator(".story-column").evaluate_all(
        "(all) => all.flatMap((one) => [...one.querySelectorAll('.rise')].map((bar) =>"
        " [one.innerText, bar.getBoundingClientRect().height]))"
    )
    forbidden = [height for text, height in heights if "−∞" in text]
    assert forbidden and max(forbidden) == 0
    assert max(height for text, height in heights if "−∞" not in text) > 20
    story.trained("translator", text="the cat saw the dog", level="read")
    asks = story.stage.locator(".story-column.asks")
    expect(asks).to_have_count(1)
    assert "special" not in str(asks.get_attribute("class"))
    story.type("")  # what stays is not of what was typed
    expect(story.problem).to_have_text("The text is empty; give at least one word.")
    expect(story.page.locator(".st-key-stage .curves")).to_have_css("opacity", "0.35")
