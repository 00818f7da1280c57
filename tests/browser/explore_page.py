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


PLACE = ("stack", "layer", "head")
RARE = ("map", "sums", "sweep")  # views behind More
SEVERAL = ("lines", "sums")  # views of chosen heads
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
    choice = page.get_by_role("option", name=option, exact=True)
    for _ in range(5):
        settle(page)
        box.click()
        try:
            choice.click(timeout=5_000)
            break
        except TimeoutError:  # a page that scrolls, or is drawn once more, closes an open list
            page.keyboard.press("Escape")
    else:
        choice.click()
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
        page.on(
            "request", lambda request: self.sent.append(request.url) if request.method == "POST" else None
        )
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

    def more(self, name: str) -> Locator:
        """A button behind More, which is opened for it."""
        self.figure.locator(".more").wait_for()
        if self.figure.locator(".more:not([open])").count():
            self.figure.locator(".more > summary").click()
        return self.figure.locator(".more-list").get_by_role("button", name=name)


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
        # Streamlit loads what applies page.css a moment later; the page moves.
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
        """Pick another model in the panel beside the picture."""
        models = self.side.get_by_label("Model", exact=True)
        if models.locator("option[value='']").count():
            models.evaluate("(list) => (list.showPicker = () => {})")  # Playwright chooses beside it
            models.select_option("")
        models.select_option(models.get_by_role("option", name=title).last.inner_text())

    def take_away(self) -> Locator:
        """Open the dialog of what can be kept."""
        self.more("take away").click()
        return self.page.get_by_role("dialog")

    def type(self, text: str) -> None:
        self.sentence.fill(text)
        self.sentence.press("Enter")

    @property
    def sentence(self) -> Locator:
        return self.stage.locator("textarea.text")

    @property
    def side(self) -> Locator:
        """The panel of settings."""
        return self.stage.locator(".side-panel")

    @property
    def problem(self) -> Locator:
        """What was refused, of what is shown or of the link that led here."""
        return self.stage.locator(".notes")

    @property
    def refused_in_dialog(self) -> Locator:
        """What a dialog for another model or a picture refused."""
        return self.page.locator(".st-key-problems_dialog")

    def control(self, name: str) -> Locator:
        """The slider, list, line or group of buttons of a setting."""
        return self.side.get_by_label(name, exact=True)

    def set(self, name: str, option: str) -> None:
        """Choose a value of a setting, from its list or among its buttons."""
        control = self.control(name)
        if control.evaluate("(control) => control.matches('select')"):
            control.select_option(label=option)
        else:
            control.get_by_role("button", name=option, exact=True).click()

    def slide(self, name: str, *keys: str) -> None:
        for key in keys:
            self.control(name).press(key)

    def heads_of(self, layer: int, stack: str = "encoder.self") -> Locator:
        """The cells of a layer in the picture of the whole model."""
        return self.stage.locator(f'.overview [data-place^="{stack} {layer} "]')

    def places(self) -> list[str]:
        """Stack, layer and head of all cells in the picture of the whole model."""
        cells = self.stage.locator(".overview [data-place]")
        return cells.evaluate_all("(cells) => cells.map((cell) => cell.dataset.place)")

    def choose(self, group: str, *values: object) -> None:
        """Press the buttons of the stage's group (view, stack, layer, head, show, scale), or choose from its
        list (sort by).
        """
        for value in values:
            if group in PLACE:
                self.show_head(group, value)
            elif group == "view" and value in RARE:
                self.more(str(value).capitalize()).click()
            elif self.choice(group).locator("select").count():
                self.choice(group).locator("select").select_option(str(value))
            else:
                self.choice(group).locator(f'button[data-value="{value}"]').click()

    def show_head(self, group: str, value: object) -> None:
        """Press a cell of the picture of the whole model: another head of the layer, or the same elsewhere;
        in views of chosen heads, one more head.
        """
        view = self.view
        place = [str({**view, group: value}[name]) for name in PLACE]
        if group != "head" and [str(view[name]) for name in PLACE] == place:
            return
        cell = self.stage.locator(f'.overview [data-place="{" ".join(place)}"]')
        cell.click(modifiers=["Shift"] if group == "head" and view["view"] in SEVERAL else [])

    @property
    def view(self) -> dict[str, Any]:
        """The state of the view."""
        return self.stage.evaluate("(stage) => stage.parentNode.parentNode.attentionLab.view")

    def choice(self, group: str) -> Locator:
        return self.stage.locator(f'.choice[aria-label="{group}"]')

    def chosen(self, group: str) -> list[str]:
        if group in PLACE:
            name = "heads" if group == "head" and self.view["view"] in SEVERAL else group
            shown = self.view[name]
            return [str(each) for each in (shown if isinstance(shown, list) else [shown])]
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
        if "cross" in address:  # the word read, and the one written next
            queries = [
                f"{read} → {written}" for read, written in zip(queries, [*queries[1:], "<eos>"], strict=True)
            ]
        place = [f"{queries[query]} ({query})", f"{keys[key]} ({key})"]
        for _ in range(SECONDS // 100):  # a busy machine takes its time to leave another cell
            terms = self.terms()
            if [terms.get("query"), terms.get("key")] == place:
                break
            self.page.wait_for_timeout(100)
        assert [terms.get("query"), terms.get("key")] == place, self.of_view("head", "view.over")
        assert agrees(terms["dot product"], (q[query] @ k[key]).item())
        if f"{address}.bias" in trace:
            assert agrees(terms["bias"], trace[f"{address}.bias"][head, query, key].item())
        else:
            assert "bias" not in terms
        assert agrees(terms["score"].removesuffix(" (masked)"), scores[query, key].item())
        assert agrees(terms["weight"], pattern[query, key].item())


NewExplore = Callable[..., ExplorePage]
