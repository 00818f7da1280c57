"""The first visit: a story in five beats, whose numbers are the model's own, on a level for reading."""

import itertools
import re
from collections.abc import Callable
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from attention_lab.models import load_model
from attention_lab.pages.explore.quantities import head_quantity
from attention_lab.pages.explore.state import Inputs
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
    return story.stage.locator(".story-column[data-at] .bar-number").all_inner_texts()


def test_a_first_visit_reads_a_story_of_the_models_own_numbers(story: ExplorePage) -> None:
    trace = load_model("translator").trace(TIRED)
    q, k = (trace[f"encoder.{LAYER}.self.{name}"][HEAD] for name in "qk")
    scores, pattern = (trace[f"encoder.{LAYER}.self.{name}"][HEAD, IT] for name in ("scores", "pattern"))
    story.open()
    page, stage = story.page, story.stage
    assert story.chosen("level") == ["read"] and story.chosen("story") == ["1"]
    assert not urlsplit(page.url).query
    for part in (story.side, story.choice("view").first, stage.get_by_role("button", name="settings")):
        expect(part).to_be_hidden()
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
    mixes = stage.get_by_role("group", name="story").get_by_role("button", name="4 values mix")
    with story.redrawn():  # by the words that are nearest
        mixes.click()
    assert agrees(notice(story).split("share of ")[1].rstrip("."), pattern[ANIMAL].item())
    near = head_quantity(Inputs(), "nearest", "encoder.self", LAYER, HEAD, 0, 0)["nearest"]
    words = stage.locator(".story-column .bar-number b").all_inner_texts()
    assert words == [first for (first, _), *_ in [*near["values"], near["sums"][IT]]]
    assert words[ANIMAL] == words[-1] == "animal"
    line = ", ".join("“{}” (cosine {:.2f})".format(*each) for each in near["sums"][IT][:1])
    expect(stage.locator(".mixes")).to_contain_text(f"z is most like {line}")
    with story.quiet():
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
    expect(story.choice("view").first).to_be_visible()
    expect(story.side).to_be_visible()
    assert story.chosen("view") == ["lines"] and "level=lab" in page.url
    page.goto("/")  # this browser remembers
    story.stage.wait_for()
    assert story.chosen("level") == ["lab"]


def test_an_own_sentence_opens_on_its_words_in_the_most_telling_head(story: ExplorePage) -> None:
    """Two words of four letters and more that are no neighbours; what pieces weigh is joined."""
    trace = load_model("everyday").trace("My name is Priya and I like trains")
    pieces = trace.tokens["encoder"]
    words: list[list[int]] = []  # the positions of each word's pieces
    for at, piece in enumerate(pieces):
        if at and piece.isalpha() and pieces[at - 1].strip().isalpha():
            words[-1].append(at)
        else:
            words.append([at])
    names = ["".join(pieces[at] for at in word).strip() for word in words]
    assert names == ["<2fr>", *["My", "name", "is", "Priya", "and", "I", "like", "trains"], "<eos>"]
    content = [at for at, name in enumerate(names) if name.isalpha() and len(name) > 3]
    patterns = [trace[f"encoder.{layer}.self.pattern"].double() for layer in range(3)]

    def weight(layer: int, head: int, query: int, key: int) -> float:
        return float(patterns[layer][head][words[query]][:, words[key]].sum(1).mean())

    most, (layer, head, query, key) = max(
        (weight(*place), place)
        for place in itertools.product(range(3), range(4), content, content)
        if abs(place[2] - place[3]) > 1
    )
    story.open()
    with story.redrawn():
        story.type("My name is Priya and I like trains")
    told = rf"“{names[query]}” looks at “{names[key]}”: (\S+) of its attention in layer {layer} head {head}\."
    said = re.fullmatch(told, notice(story))
    assert said and agrees(said[1], most)
    columns = story.stage.locator(".story-column .name")
    assert columns.all_inner_texts() == names
    assert story.stage.locator(".story-column.skips").count() == 0  # no word is left out
    translation = story.stage.locator(".answer")
    expect(translation).to_contain_text("doubtful: the model's own probability is ")
    story.choose("level", "lab")
    story.choose("view", "lines")
    keys = story.stage.locator(".tokens.keys button")
    assert keys.all_inner_texts() == names
    expect(story.stage.locator(".lines-view")).to_contain_text("Pieces of a word count as one")
    story.choose("words", "pieces")
    assert len(keys.all_inner_texts()) == len(pieces)
    assert "words=pieces" in story.page.url
    with story.redrawn():
        story.type("Με λένε Μαρία")
    expect(story.stage.locator(".translation")).to_contain_text("translator does not read")
    with story.redrawn():
        story.type("the dog was tired")  # whose words the first translator knows
    assert "model=" not in story.page.url
    assert "doubtful" not in story.stage.inner_text()


COLUMN = """(column) => {
  const canvas = column.querySelector(".rise canvas");
  const { data } = canvas.getContext("2d").getImageData(0, 0, 1, canvas.height);
  return Array.from({ length: canvas.height }, (_, at) => Array.from(data.subarray(4 * at, 4 * at + 3)));
}"""


def test_values_times_their_shares_stand_beside_their_sum_in_one_scale(story: ExplorePage) -> None:
    """Each cell has the colour of weight times value; the last column that of z."""
    story.open(level="read", beat=4, query=WORDS.index("because"))
    trace = load_model("translator").trace(TIRED)
    pattern, v, z = (trace[f"encoder.{LAYER}.self.{name}"][HEAD].double() for name in ("pattern", "v", "z"))
    parts = pattern[WORDS.index("because")][:, None] * v
    total = z[WORDS.index("because")]
    columns = story.stage.locator(".story-column").evaluate_all(f"(all) => all.map({COLUMN})")
    assert len(columns) == len(WORDS) + 1
    vectors = [*parts.tolist(), total.tolist()]
    cells = sorted(
        (number, colour)
        for one, two in zip(vectors, columns, strict=True)
        for number, colour in zip(one, two, strict=True)
    )
    warmth = [red - blue for _, (red, _, blue) in cells]
    assert warmth[0] < 0 < warmth[-1]  # blue where negative, red where positive
    for (number, colour), (other, same) in itertools.pairwise(cells):
        assert colour == same or other - number > 0
    strongest = max(abs(number) for number, _ in cells)
    end = story.stage.locator(".story-legend .legend-ends span").last.inner_text()
    assert agrees(end, strongest)


def test_a_mark_stands_where_the_story_leaves_words_out(story: ExplorePage) -> None:
    text = "my friends love this city and every morning we walk along an old river to its station in rain"
    words = ["<2fr>", *text.split(), "<eos>"]
    story.open()
    with story.redrawn():
        story.type(text)
    columns = story.stage.locator(".story-column[data-at]")
    expect(columns.locator(".name").nth(1)).to_have_text("my")  # what was asked before may be drawn first
    shown = columns.locator(".name").all_inner_texts()
    kept = len(shown)
    assert kept < len(words)
    expect(story.stage.locator(".others")).to_contain_text(f"{len(words) - kept} others")
    places = [int(at) for at in columns.evaluate_all("(all) => all.map((each) => each.dataset.at)")]
    skips = columns.evaluate_all('(all) => all.map((each) => each.classList.contains("skips"))')
    at = [*map(words.index, shown), len(words)]
    assert skips == [one + 1 != next_one for one, next_one in itertools.pairwise(at)]
    assert places == sorted(places)


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
    page.keyboard.press("Escape")
    with story.redrawn():  # an example is read to its end
        stage.get_by_label("Examples of a text").select_option(label="station")
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
    expect(story.problem).to_contain_text("The text is empty; give at least one word.")
    expect(story.stage.locator(".curves")).to_have_css("opacity", "0.35")


def test_a_term_of_the_story_says_what_it_means_to_a_finger(new_page: Callable[..., Page]) -> None:
    story = ExplorePage(new_page(viewport={"width": 1366, "height": 768}, has_touch=True), reads=True)
    story.open()
    term = story.stage.locator("abbr, .explained").first
    term.tap()
    box = story.page.locator(".lab-meaning")
    expect(box).to_have_text(term.get_attribute("data-means") or "")
    expect(box).to_be_in_viewport()
    story.page.touchscreen.tap(5, 760)
    expect(box).to_have_count(0)
