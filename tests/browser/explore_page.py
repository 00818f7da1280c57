"""Drives Explore as a visitor does, and reads back what it shows: texts, canvas pixels, frames sent."""

import base64
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import urlencode

import numpy as np
from playwright.sync_api import Locator, Page, TimeoutError, expect

from attention_lab.models import ModelConfig, Trace, UntrainedModel

TEXT = "the cat sat on the mat because it was tired"
SECONDS = 30_000
OPENING = 4 * SECONDS
"""For the figure of another model: two processes import transformers for the first, which takes 25 s."""
ARRAYS = ("q", "k", "scores", "pattern")
# What is written on a canvas cannot be read back from its pixels, so it is noted as it is written.
NOTE_CANVAS_TEXT = """
const { fillText, clearRect } = CanvasRenderingContext2D.prototype;
CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
  (this.canvas.written ||= []).push(text);
  return fillText.call(this, text, ...place);
};
CanvasRenderingContext2D.prototype.clearRect = function (...area) {
  this.canvas.written = [];
  return clearRect.call(this, ...area);
};
"""

# Most of what is tested are the lab's views; the story has tests of its own.
IN_THE_LAB = 'try { localStorage.setItem("attention-lab.level", "lab") } catch {}'

PIXELS = """(canvas) => {
  const { width, height } = canvas;
  const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
  const parts = [];
  for (let at = 0; at < data.length; at += 8192)
    parts.push(String.fromCharCode(...data.subarray(at, at + 8192)));
  return [width, height, btoa(parts.join(""))];
}"""
PIXELS_OF_IMAGE = f"""async (image) => {{
  const picture = new Image();
  picture.src = image.href.baseVal;
  await picture.decode();
  const canvas = Object.assign(document.createElement("canvas"), {{
    width: picture.width,
    height: picture.height,
  }});
  canvas.getContext("2d").drawImage(picture, 0, 0);
  return ({PIXELS})(canvas);
}}"""
TERMS = 'rows => rows.map(row => [".term", ".value"].map(part => row.querySelector(part).innerText))'


def untrained(
    text: str = TEXT, *, mask: str = "none", mask_arg: str = "", seed: int = 0, **sizes: Any
) -> Trace:
    """The engine's own trace of what Explore shows for these controls."""
    config = {"n_layers": 2, "n_heads": 4, "d_model": 64, "positions": "sinusoidal", **sizes}
    model = UntrainedModel(
        ModelConfig(kind="encoder-only", vocab_size=1_025, max_len=1_027, **config), seed=seed
    )
    return model.trace(text, mask=mask, mask_arg=mask_arg)


STYLED = "64px"  # what page.css gives the page of Explore
RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def read_number(shown: str) -> float:
    """A number as the page writes it: −0.31, 2.4 × 10⁻⁷, ∞."""
    mantissa, _, power = shown.replace("\xa0", " ").partition(" × 10")
    return float(mantissa.replace("−", "-").replace("∞", "inf")) * 10.0 ** int(power.translate(RAISED) or 0)


def agrees(shown: str, value: float) -> bool:
    """Whether `shown` is `value`, to the digits that are shown."""
    if not np.isfinite(value):
        return read_number(shown) == value
    mantissa, _, power = shown.replace("\xa0", " ").partition(" × 10")
    unit = 10.0 ** (int(power.translate(RAISED) or 0) - len(mantissa.partition(".")[2]))
    return abs(read_number(shown) - value) <= 0.5001 * unit + 1e-6


def settle(page: Page) -> None:
    """Wait until the server has sent all that belongs to the last change, and the page shows it."""
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    expect(page.locator("[data-stale=true]")).to_have_count(0)
    # They stand where a widget will be whose code is still on its way; it may be higher.
    expect(page.get_by_test_id("stSkeleton")).to_have_count(0)


def choose(page: Page, label: str, option: str) -> None:
    """Pick one of a page's list."""
    box = page.get_by_role("combobox", name=label, exact=True)
    box.scroll_into_view_if_needed()
    settle(page)  # a page that scrolls closes an open list
    box.click()
    page.get_by_role("option", name=option, exact=True).click()
    settle(page)


def _array(read: tuple[int, int, str]) -> np.ndarray:
    width, height, data = read
    return np.frombuffer(base64.b64decode(data), np.uint8).reshape(height, width, 4)


class Tab:
    """A page in one tab, what its browser sends, and the figure that the server draws on it."""

    def __init__(self, page: Page, figure: str) -> None:
        self.page = page
        self.sent: list[bytes | str] = []
        page.set_default_timeout(SECONDS)
        page.on("websocket", lambda socket: socket.on("framesent", lambda frame: self.sent.append(frame)))
        self.figure = page.locator(f"{figure}[data-generation]")

    @contextmanager
    def redrawn(self) -> Iterator[None]:
        """What is done inside makes the server send a figure: wait until it is drawn, and the rest."""
        before = self.figure.get_attribute("data-generation")
        yield
        expect(self.figure).not_to_have_attribute("data-generation", str(before), timeout=OPENING)
        settle(self.page)

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """What is done inside asks the server nothing."""
        before = len(self.sent)
        yield
        self.page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 100)))")
        assert len(self.sent) == before, "a frame was sent to the server"


class ExplorePage(Tab):
    """Explore in one tab."""

    def __init__(self, page: Page, *, reads: bool = False) -> None:
        """reads: on the level of a first visit; else all controls are there."""
        super().__init__(page, ".stage")
        page.add_init_script(NOTE_CANVAS_TEXT)
        if not reads:
            page.add_init_script(IN_THE_LAB)
        self.stage = self.figure

    def open(self, **params: Any) -> "ExplorePage":
        return self.open_link(f"/?{urlencode(params)}")

    def open_link(self, link: str) -> "ExplorePage":
        self.page.goto(link)
        self.stage.wait_for()
        # Streamlit loads a popover's button and what applies page.css a moment later; the page moves.
        expect(self.page.get_by_role("button", name="Words")).to_be_visible()
        expect(self.page.get_by_test_id("stMainBlockContainer")).to_have_css("padding-top", STYLED)
        settle(self.page)
        return self

    def trained(self, model: str, **params: Any) -> "ExplorePage":
        """Another model than the translator, and without its list of words."""
        self.page.goto(f"/?{urlencode({'model': model, **params})}")
        self.stage.wait_for(timeout=OPENING)
        expect(self.page.get_by_test_id("stMainBlockContainer")).to_have_css("padding-top", STYLED)
        settle(self.page)
        return self

    def untrained(self, **params: Any) -> "ExplorePage":
        return self.open(**{"model": "untrained", "text": TEXT, **params})

    def choose_model(self, title: str) -> None:
        """Pick another model in the column beside the stage."""
        self.page.get_by_test_id("stSelectbox").filter(has_text="Model").get_by_role("combobox").click()
        self.page.get_by_role("option", name=title, exact=True).click()

    def type(self, text: str) -> None:
        self.sentence.fill(text)
        self.sentence.press("Enter")

    @property
    def sentence(self) -> Locator:
        return self.page.get_by_role("textbox", name="Sentence")

    @property
    def problem(self) -> Locator:
        """The box that says what was refused."""
        return self.page.locator("[class*=st-key-problems]")

    def choose(self, group: str, *values: object) -> None:
        """Press the buttons of the stage's group (view, stack, layer, head, show, scale), or choose from its
        list (sort by).
        """
        for value in values:
            if self.choice(group).locator("select").count():
                self.choice(group).locator("select").select_option(str(value))
            else:
                self.choice(group).locator(f'button[data-value="{value}"]').click()

    def choice(self, group: str) -> Locator:
        return self.stage.locator(f'.choice[aria-label="{group}"]')

    def chosen(self, group: str) -> list[str]:
        chosen = self.choice(group).locator("select")
        if chosen.count():
            return [chosen.input_value()]
        pressed = self.choice(group).locator('button[aria-pressed="true"]')
        return [button.get_attribute("data-value") or "" for button in pressed.all()]

    def terms(self) -> dict[str, str]:
        """The readout at one moment: what is said of each term."""
        return dict(self.stage.locator(".readout > div").evaluate_all(TERMS))

    def written(self, canvas: str) -> list[str]:
        return self.stage.locator(canvas).first.evaluate("(canvas) => canvas.written")

    def pixels(self, canvas: str) -> np.ndarray:
        """uint8 [row, column, rgba] of a canvas."""
        return _array(self.stage.locator(canvas).first.evaluate(PIXELS))

    def heat(self, n_query: int, n_key: int) -> np.ndarray:
        """uint8 [query, key, rgba]: the colours at the middle of every cell of the heatmap."""
        self.wait_for_heatmap()
        pixels = _array(self.stage.locator(".head-board image").evaluate(PIXELS_OF_IMAGE))
        rows, columns = (
            ((np.arange(count) + 0.5) * size / count).astype(int)
            for count, size in zip((n_query, n_key), pixels.shape, strict=False)
        )
        return pixels[np.ix_(rows, columns)].astype(int)

    def wait_for_heatmap(self) -> None:
        expect(self.stage.locator(".head-board [aria-busy]")).to_have_attribute("aria-busy", "false")

    def names_beside(self, axis: str) -> list[str]:
        """What is written along the heatmap's "x" or "y", from the first cell to the last."""
        self.wait_for_heatmap()
        return self.stage.locator(f".head-board .{axis}tick text").all_text_contents()

    def of_view(self, view: str, expression: str) -> Any:
        """A measure of one of the stage's views, such as where its cells begin."""
        views = "stage.parentNode.parentNode.attentionLab.views"
        return self.stage.evaluate(f"(stage) => ((view) => {expression})({views}[{json.dumps(view)}])")

    def ends_of_lines(self, n_tokens: int) -> tuple[np.ndarray, np.ndarray]:
        """Opacity 0..1 of the strongest line that begins at each query and that ends at each key."""
        height = self.of_view("lines", "view.row")
        alpha = self.pixels(".lines-board canvas")[..., 3] / 255
        # The lines of several heads run beside each other around the middle of a token's row.
        rows = [slice(int((at + 0.1) * height), int((at + 0.9) * height)) for at in range(n_tokens)]
        left, right = ([alpha[row, column].max() for row in rows] for column in (4, -5))
        return np.array(left), np.array(right)

    def hover_cell(self, query: int, key: int) -> None:
        """Put the pointer on a cell of the heatmap, once the page stands still."""
        settle(self.page)
        for _ in range(SECONDS // 1_000):
            self.wait_for_heatmap()
            cell, left, top = self.of_view("head", "[view.size.cell, view.size.left, view.size.top]")
            place = {"x": left + (key + 0.5) * cell, "y": top + (query + 0.5) * cell}
            with suppress(TimeoutError):
                self.stage.locator(".head-board").hover(position=place, timeout=1_000)
                self.page.wait_for_timeout(100)  # a page that moves after all moves under the pointer
                if self.of_view("head", "view.over") == {"query": query, "key": key}:
                    return
        raise AssertionError(f"the pointer never was on the cell of query {query} and key {key}")

    def assert_reads(self, trace: Trace, address: str, head: int, query: int, key: int) -> None:
        """The heatmap's readout tells of this cell what the trace has at the address of its layer."""
        q, k, scores, pattern = (trace[f"{address}.{name}"][head].double() for name in ARRAYS)
        side = address.split(".")[0]
        queries, keys = trace.tokens[side], trace.tokens["encoder" if "cross" in address else side]
        terms = self.terms()
        if "cross" in address:  # the word read, and the one written next
            queries = [
                f"{read} → {written}" for read, written in zip(queries, [*queries[1:], "<eos>"], strict=True)
            ]
        assert terms["query"] == f"{queries[query]} ({query})"
        assert terms["key"] == f"{keys[key]} ({key})"
        assert agrees(terms["dot product"], (q[query] @ k[key]).item())
        if f"{address}.bias" in trace:
            assert agrees(terms["bias"], trace[f"{address}.bias"][head, query, key].item())
        else:
            assert "bias" not in terms
        assert agrees(terms["score"].removesuffix(" (masked)"), scores[query, key].item())
        assert agrees(terms["weight"], pattern[query, key].item())


NewExplore = Callable[..., ExplorePage]
