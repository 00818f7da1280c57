"""The lab as static files: served as `python -m http.server` does, from a folder of a larger site, and as one
file from a disk; and the app in a frame of another site.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Browser, Page, expect

from attention_lab.models import load_model
from attention_lab.models.zoo import catalogue
from attention_lab.pages.lab.lesson import lab_page
from attention_lab.pages.lab.static import parts_of
from attention_lab.pages.shared import words
from attention_lab.viz_core.viewer.static.documents import page_as_file
from benchmarks.live import served
from tests.browser.axe import SERIOUS, violations
from tests.browser.test_talk import packed
from tests.models.zoo.hub import families
from tools.site import build

WAITS = 20_000  # milliseconds
PAGES = ("", "start/", "talks/", "softmax/", "masks/")
TRANSLATORS = ("translator", "translator-plain")
HIGHEST = 3_000_000  # bytes on the wire before the first figure of the lab, nothing packed
HIGHEST_FIRST = 1_000_000  # the same of the first page, with all that is fetched after it
OWN = "I love you"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, module_of_unchecked_shapes: None) -> Path:
    """The folder above the site's."""
    folder = tmp_path_factory.mktemp("site")
    models = [*TRANSLATORS, "everyday", "masked", "shakespeare"]
    build(folder / "lab", models, PAGES, "https://lab.example.org/")
    assert (folder / "lab" / "models" / "onnxruntime.ThirdPartyNotices.txt").is_file()
    return folder


@pytest.fixture
def site(browser: Browser, built: Path) -> Iterator[tuple[Page, str, list[str]]]:
    """A page, the site's address, and what is requested; neither may go wrong nor lead elsewhere."""
    context = browser.new_context(viewport={"width": 1366, "height": 768})
    page, faults, asked = context.new_page(), list[str](), list[str]()
    context.on("console", lambda message: faults.extend([message.text] * (message.type == "error")))
    context.on("weberror", lambda error: faults.append(str(error.error)))
    context.on("request", lambda request: asked.append(request.url))
    with served(built) as address:
        yield page, f"{address}lab/", asked
    assert faults == []
    assert all(url.startswith((address, "data:", "blob:")) for url in asked)
    context.close()


def test_the_site_is_whole_without_a_server(browser: Browser, site: tuple[Page, str, list[str]]) -> None:
    page, address, asked = site
    _first_page(page, address, asked)
    _arrive(page, address)
    _take_part(page, address, asked)
    _leave_cells_alone(page, address)
    _explore(page, address)
    _save_pictures(page, address)
    _own_sentence(page, address)
    _walk(page, address)
    _follow_links(page, address)
    _be_embedded(page, address)
    _be_german(browser, address)
    _give_a_talk(page, address)
    page.wait_for_load_state("networkidle")  # the stops behind the talk's last one are still on their way
    page.context.set_offline(True)  # what was opened was kept, and its words
    page.goto(f"{address}masks/?lang=de")
    expect(page.locator(".board .notice")).not_to_be_empty(timeout=WAITS)
    expect(page.locator(".foot summary")).to_have_text("Mehr")
    page.goto(f"{address}?model=everyday&text=Thank+you&level=read")
    expect(page.locator(".story-side")).to_contain_text("Merci", timeout=WAITS)


def _first_page(page: Page, address: str, asked: list[str]) -> None:
    """Explore's story, and a head switched off; the model comes when it is asked for."""
    page.goto(address)
    notice = page.locator(".stage .notice")
    expect(notice).to_contain_text("“it” looks at “animal”", timeout=WAITS)
    page.evaluate("navigator.serviceWorker.ready.then(({ active }) => active)")
    page.wait_for_load_state("networkidle")
    sent = "performance.getEntries().reduce((sum, each) => sum + (each.transferSize ?? 0), 0)"
    assert page.evaluate(sent) < HIGHEST_FIRST
    assert not [url for url in asked if "/models/" in url or "plotly" in url]
    card = page.locator("meta[property='og:image']")
    expect(card).to_have_attribute("content", "https://lab.example.org/card.png")
    page.get_by_role("button", name="and without these 4 heads?").click()
    expect(notice).to_contain_text("Without these 4 heads it writes “elle”", timeout=WAITS)
    expect(page.locator(".answers td").last).to_contain_text("elle était trop fatiguée")
    assert any(url.endswith("/ort.wasm.packed") for url in asked)


def _walk(page: Page, address: str) -> None:
    """The walk's stations, each a page under a bar that leads on."""
    page.goto(f"{address}start/")
    page.get_by_role("button", name="Begin the walk").click(timeout=WAITS)
    bar = page.locator(".walk")
    expect(bar).to_contain_text("Station 1 of 12 · Why a word needs others", timeout=WAITS)
    expect(page.locator(".stage .notice")).to_contain_text("“it” looks at")
    expect(page.get_by_role("button", name="and without these 4 heads?")).to_be_in_viewport()
    bar.get_by_role("link", name="next").click()
    expect(bar).to_contain_text("Station 2 of 12")
    expect(page.locator(".story-view")).to_have_attribute("data-beat", "2")
    page.goto(f"{address}masks/?part=late&walk=1")  # of another page
    expect(page.locator(".board .notice")).not_to_be_empty(timeout=WAITS)
    assert bar.count() == 0
    page.goto(f"{address}start/")
    expect(page.get_by_role("button", name="Continue the walk at station 3")).to_be_visible(timeout=WAITS)


def _save_pictures(page: Page, address: str) -> None:
    """What is shown, as an SVG whose texts are texts and lie where the screen has them, and as a PNG."""
    page.goto(f"{address}?level=lab&view=lines")
    expect(page.locator(".stage .notice")).to_contain_text("“it” looks at “animal”", timeout=WAITS)
    panel = page.locator(".stage .panel").bounding_box()
    token = page.locator(".tokens.queries button", has_text="street").bounding_box()
    assert panel and token
    picture = ElementTree.fromstring(_saved(page, "SVG"))
    texts = {text.text: text for text in picture.iter(f"{SVG}text")}
    assert {"animal", "because", "query", "L1 H3", "0.997 of its attention in"} <= {
        part for text in texts for part in (text or "", (text or "").removeprefix("”: "))
    }
    middle = float(texts["street"].get("y", "")) - float(texts["query"].get("y", ""))
    head = page.locator(".lines-heads .query").bounding_box()
    assert head and abs(middle - (token["y"] + token["height"] / 2 - head["y"] - head["height"] / 2)) < 6
    (lines,) = picture.iter(f"{SVG}image")
    assert lines.get("href", "").startswith("data:image/png")
    png = _saved(page, "PNG")
    width, height = (int.from_bytes(png[at : at + 4], "big") for at in (16, 20))
    assert [width, height] == [2 * int(picture.get(side, "")) for side in ("width", "height")]
    assert panel["height"] < height / 2 < panel["height"] + 150
    page.goto(f"{address}softmax/?part=formats")  # Plotly's own shapes, and its texts
    expect(page.locator(".plot svg").first).to_be_visible(timeout=WAITS)
    chart = ElementTree.fromstring(_saved(page, "SVG"))
    assert len(list(chart.iter(f"{SVG}path"))) > 5


def _saved(page: Page, kind: str) -> bytes:
    page.locator("details.more summary").first.click()
    with page.expect_download() as download:
        page.get_by_role("button", name=f"picture ({kind})").click()
    return download.value.path().read_bytes()


def _own_sentence(page: Page, address: str) -> None:
    """A sentence of words that the first model lacks is read by the wider one, and goes along to others."""
    page.goto(f"{address}?level=read")
    notes, text = page.locator(".notes"), page.locator("textarea.text")
    expect(text).to_have_value(re.compile("^the animal"), timeout=WAITS)
    _type(page, OWN)
    expect(notes).to_contain_text("“translator” has no word for “love”; this model reads", timeout=WAITS)
    expect(page.locator(".story-side")).to_contain_text("Je t'aime")
    expect(page).to_have_url(re.compile(r"model=everyday&text=I\+love\+you"))
    notes.get_by_role("button", name="back to “translator”").click()
    expect(notes).to_contain_text("read as <unk>:“love”")
    expect(page).to_have_url(re.compile(r"/lab/\?text=I\+love\+you"))
    page.goto(f"{address}?text=I+love+you&level=lab")  # a link is read as what is typed
    expect(notes).to_contain_text("this model reads the sentence", timeout=WAITS)
    model = page.get_by_label("Model", exact=True)
    model.select_option("shakespeare")
    expect(page).to_have_url(re.compile(r"model=shakespeare&text=I\+love\+you"), timeout=WAITS)
    page.get_by_role("slider", name="Temperature").fill("0")
    page.get_by_role("button", name="Continue").click()
    expect(text).to_have_value(re.compile(r"^I love you\S*\s.{15}", re.DOTALL))
    assert page.get_by_role("option", name="flip its sign").count() == 0
    page.locator(".stage .top-end summary").click()
    expect(page.get_by_role("button", name="Sums")).to_be_visible()
    assert page.get_by_role("button", name=re.compile("^(Sweep|Map)$")).count() == 0
    page.goto(f"{address}?level=lab")
    page.get_by_role("button", name="FR → EN").click(timeout=WAITS)
    expect(text).to_have_value(re.compile("^l'animal n'a pas"), timeout=WAITS)
    expect(page.locator(".translation")).to_contain_text("the animal did not cross the street")


def _arrive(page: Page, address: str) -> None:
    """The first figure of whoever follows a link to it, and the way to the others, in the link's language
    until it is switched.
    """
    page.goto(f"{address}softmax/?lang=de")
    expect(page.locator(".board .notice")).to_contain_text("Standardabweichung", timeout=WAITS)
    expect(page.locator("html")).to_have_attribute("lang", "de")
    expect(page.locator(".foot summary")).to_have_text("Mehr")
    expect(page.locator(".needs code")).to_have_text("uvx attention-lab")
    sent = "performance.getEntries().reduce((sum, each) => sum + (each.transferSize ?? 0), 0)"
    assert page.evaluate(sent) < HIGHEST
    page.evaluate("navigator.serviceWorker.ready.then(({ active }) => active)")
    page.locator("header summary", has_text="Lernen").click()
    page.get_by_role("link", name="Einstieg").click()
    page.locator(".stop").nth(3).locator("summary").click()
    page.get_by_role("link", name="Graph").click()
    expect(page).to_have_url(f"{address}masks/?part=graph&lang=de")
    expect(page.locator(".board .notice")).not_to_be_empty(timeout=WAITS)
    assert page.locator("header").evaluate("each => each.scrollWidth <= each.clientWidth")
    page.locator("header summary", has_text="Deutsch").click()
    page.get_by_role("link", name="English").click()
    expect(page).to_have_url(f"{address}masks/?part=graph&lang=en")
    expect(page.locator(".foot summary")).to_have_text("More", timeout=WAITS)


def _take_part(page: Page, address: str, asked: list[str]) -> None:
    """An experiment, a question and a slider; the slider asks for nothing, and its link brings all back."""
    page.goto(f"{address}softmax/?part=head")
    notice = page.locator(".board .notice")
    expect(notice).to_contain_text("street", timeout=WAITS)
    page.get_by_role("button", name="heat all four to 50").click()
    expect(notice).not_to_contain_text("1.00")
    page.get_by_role("button", name="questions").click()
    page.locator("fieldset").first.get_by_role("radio").first.check()
    expect(page.locator("fieldset").first.get_by_role("status")).to_contain_text(".")
    page.get_by_role("button", name="Close").click()
    page.get_by_role("button", name="formula").click()
    expect(page.locator(".drawer.formula math").first).to_be_visible()
    expect(page.locator(".drawer.formula .query").first).to_have_css("color", re.compile("rgb"))
    count = len(asked)
    page.get_by_role("slider").fill("3")
    expect(page.locator(".board[data-frame='3']")).to_be_visible()
    expect(page).to_have_url(re.compile(r"/softmax/\?part=head&.*temperature=0\.0"))
    assert len(asked) == count
    said = notice.inner_text()
    page.locator(".foot summary").click()
    page.get_by_role("button", name="add to talk").click()
    page.reload()
    expect(page.locator(".board[data-frame='3']")).to_be_visible(timeout=WAITS)
    expect(notice).to_have_text(said)


def _leave_cells_alone(page: Page, address: str) -> None:
    """A cell that changes beside numbers that nobody computes would be false: here none can be pressed."""
    page.goto(f"{address}masks/?more=1")
    cells = page.locator(".board td[data-cell]")
    expect(cells.first).to_be_visible(timeout=WAITS)
    before = cells.all_inner_texts()
    assert page.locator(".board td").locator("button, input").count() == 0
    cells.nth(16).click()  # one of the mask, whose cells flip in the app
    assert cells.all_inner_texts() == before


def _follow_links(page: Page, address: str) -> None:
    """What of a link needs the app is said, and the address stays until somebody presses something."""
    link = f"{address}masks/?mask=window&argument=3"
    page.goto(link)
    problem = page.locator(".problem")
    expect(problem).to_contain_text("mask=window, argument=3 needs the app", timeout=WAITS)
    expect(page.locator(".board[data-linked]")).to_be_visible()
    assert page.url == link
    page.get_by_role("button", name="a sliding window").click()
    expect(page).not_to_have_url(link)
    link = f"{address}?model=translator&text=the+dog+slept&edits=encoder.1.self+head+0%3A+scale+2"
    page.goto(link)
    expect(problem).to_contain_text("encoder.1.self head 0: scale 2", timeout=WAITS)
    page.wait_for_timeout(400)  # the stage writes the address after a moment
    assert page.url == link
    page.goto(f"{address}?level=lab")
    page.get_by_role("button", name="see one that was only taught to translate").click(timeout=WAITS)
    expect(page).to_have_url(re.compile("model=translator-plain"), timeout=WAITS)
    text = page.locator("textarea.text")
    expect(text).to_have_value(re.compile("^the animal did not cross"))


def _explore(page: Page, address: str) -> None:
    """What is typed is read by the model in the browser, and stands in the address."""
    page.goto(f"{address}?model=masked&level=read")
    notice = page.locator(".notice").first
    expect(notice).to_contain_text("[MASK]", timeout=WAITS)
    _type(page, "the dog did not cross the [MASK] because the street was too wide")
    expect(page.locator(".story-view")).to_contain_text("wide")
    expect(page).to_have_url(re.compile(r"/lab/\?.*text=the\+dog"))
    for name in ("Explore", "Grid"):
        page.get_by_role("button", name=name, exact=True).first.click()
    page.get_by_role("gridcell", name=re.compile("^layer 0 head 0")).click(modifiers=["Alt"])
    expect(notice).to_contain_text("Without this head it")
    other = page.get_by_role("gridcell", name=re.compile("^layer 0 head 1"))
    other.click(modifiers=["Alt"])
    expect(notice).to_contain_text("Without these 2 heads it")
    expect(other).to_have_class("off")
    _type(page, "the ☃ [MASK]")
    expect(page.locator(".notes")).to_contain_text("“☃” (nothing near it is known)")
    _type(page, "")
    expect(page.locator(".notes")).to_contain_text("the text is empty; give at least one word")


def _type(page: Page, text: str) -> None:
    page.locator("textarea.text").fill(text)
    page.locator("textarea.text").press("Enter")


def _give_a_talk(page: Page, address: str) -> None:
    """Its stops are pages of the site; the speaker's window needs no server either."""
    talk = "# A talk\n## Late\n[Masks](/masks?part=late)\n## Own\n[Explore](/?model=masked)\n\nMine."
    page.goto(f"{address}talks/")
    added = page.locator(".stop").get_by_role("link", name="Softmax and scale")
    expect(added).to_have_attribute("href", re.compile(r"^\.\./softmax/\?part=head&.*temperature=0\.0"))
    present = page.get_by_role("link", name="Present: Why scale")
    expect(present).to_have_attribute("href", "../talk/#shipped=why-scale")
    page.goto(f"{address}{packed(talk)}")
    seen = page.locator(".frames iframe:not(.behind)").content_frame
    expect(seen.locator(".board .notice")).not_to_be_empty(timeout=WAITS)
    expect(page.locator(".frames iframe.behind[data-ready]")).to_be_attached(timeout=WAITS)
    with page.context.expect_page() as opened:
        page.keyboard.press("s")
    opened.value.get_by_role("button", name="on ▶").click()
    for _ in range(20):  # over the frames of the first stop
        if page.get_by_role("heading", level=1).text_content() == "Own":
            break
        opened.value.get_by_role("button", name="on ▶").click()
    expect(seen.locator(".stage .notice")).to_contain_text("looks at")
    expect(opened.value.locator(".notes")).to_have_text("Mine.")
    opened.value.close()


def _be_embedded(page: Page, address: str) -> None:
    """A frame shows the board alone, in the colours that are asked for, and says its height."""
    page.goto(f"{address}..")  # the list of a folder, which may frame what it likes
    _frame(page, f"{address}masks/?embed=1&theme=dark")
    frame = page.frame_locator("iframe")
    expect(frame.locator(".board .notice")).not_to_be_empty(timeout=WAITS)
    expect(frame.locator("header, .heading, .side").first).to_be_hidden()
    assert 200 < page.evaluate("told") < 2_000  # the first that is told is that of the figure
    colour = frame.locator("body").evaluate("each => getComputedStyle(each).backgroundColor")
    assert colour == "rgb(14, 17, 23)"
    page.goto(f"{address}..")
    _frame(page, f"{address}?embed=1&level=read")  # with a sentence to type
    expect(frame.locator(".stage .notice")).to_contain_text("“it” looks at", timeout=WAITS)
    text = frame.locator("textarea.text")
    text.fill("the street was too wide")
    text.press("Enter")
    expect(frame.locator(".story-side")).to_contain_text("la rue était trop large", timeout=WAITS)


def _be_german(browser: Browser, address: str) -> None:
    """A link without a language is read in that of the browser, and its links are no more than that."""
    page = browser.new_page(locale="de-DE")
    page.goto(f"{address}start/")
    expect(page.locator(".done")).to_contain_text("Nur dieser Browser", timeout=WAITS)
    expect(page).to_have_title("Einstieg · Attention Lab")
    expect(page.locator(".markdown em")).to_have_text("Attention Is All You Need")
    expect(page.locator("header a", has_text="Befunde")).to_have_attribute("href", f"{address}findings/")
    page.goto(f"{address}?lang=xx&model=masked")
    expect(page.get_by_label("Modell", exact=True)).to_have_value("masked", timeout=WAITS)
    expect(page.locator(".notice").first).to_contain_text("Aufmerksamkeit", timeout=WAITS)
    page.close()


def test_a_model_of_transformers_runs_in_the_browser(
    browser: Browser, tmp_path: Path, unchecked_shapes: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its numbers are PyTorch's but for what its card says; the page is isolated, so that it has threads."""
    monkeypatch.setattr(catalogue, "_REGISTERED", dict(catalogue._REGISTERED))
    model = families.save("gpt2", tmp_path / "tiny gpt2", n_embd=64)
    build(tmp_path / "lab", ["induction"], ("",), folders=[model])
    page, faults = browser.new_page(viewport={"width": 1366, "height": 768}), list[str]()
    page.on("console", lambda message: faults.extend([message.text] * (message.type == "error")))
    notice, text = page.locator(".stage .notice"), page.locator("textarea.text")
    with served(tmp_path) as address:
        page.goto(f"{address}lab/?model=tiny-gpt2&level=lab")
        expect(text).to_have_value(re.compile("^When Mary"), timeout=WAITS)
        assert page.evaluate("crossOriginIsolated")
        expect(page.locator(".needs").last).to_contain_text("With models of transformers, only the app")
        expect(page.locator("body")).to_contain_text("its weights are rounded to 8 bits")
        _type(page, "the street was wide")
        expect(page).to_have_url(re.compile(r"model=tiny-gpt2.*text=the\+street\+was\+wide"))
        page.get_by_role("gridcell", name=re.compile("^layer 1 head 2")).click(modifiers=["Alt"])
        expect(notice).to_contain_text("Without this head it", timeout=WAITS)
        said = re.search(r"P\((.+)\) \w+ from (\S+) to ([\d.]*\d)", notice.inner_text())
        assert said
        page.get_by_role("slider", name="Temperature").fill("0")
        page.get_by_role("button", name="Continue").click()
        expect(text).to_have_value(re.compile("^the street was wide.", re.DOTALL), timeout=WAITS)
    page.close()
    assert faults == []
    lm = load_model(model)
    reading = lm.read("the street was wide")
    for edits, probability in (([], said[2]), (["decoder.1.self heads 2: zero"], said[3])):
        logits = lm.trace(reading, edits=edits)["logits"][-1]
        assert logits.softmax(-1)[lm.outputs.index(said[1].replace("␣", " "))].item() == pytest.approx(
            float(probability), rel=0.2
        )


def test_a_page_of_the_site_opened_from_a_disk_says_how_to_serve_it(page: Page, built: Path) -> None:
    faults = list[str]()
    page.on("pageerror", lambda error: faults.append(str(error)))
    for name in ("index.html", "masks/index.html"):
        page.goto((built / "lab" / name).as_uri())
        expect(page.locator(".problem")).to_contain_text("start python -m http.server", timeout=WAITS)
    assert faults == []


def _frame(page: Page, address: str) -> None:
    page.evaluate(
        """(address) => {
        const frame = document.createElement("iframe");
        document.body.replaceChildren(frame);
        globalThis.told = new Promise((hear) => addEventListener("message", ({ data }) =>
          data.type === "attention-lab:height" && hear(data.height)));
        frame.src = address;
        }""",
        address,
    )


def test_a_page_of_the_lab_opens_from_one_file_on_a_disk(page: Page, tmp_path: Path) -> None:
    asked = list[str]()
    page.on("request", lambda request: asked.append(request.url))
    file = tmp_path / "softmax.html"
    german, parts = words.catalogue("de").data, parts_of(lab_page("softmax"))
    file.write_text(page_as_file("Softmax", "softmax", parts, at="formats", words=german), "utf-8")
    page.goto(file.as_uri())
    expect(page.locator("[aria-current=true]")).to_have_text("Zahlenformate", timeout=WAITS)
    expect(page.locator("html")).to_have_attribute("lang", "de")
    expect(page.locator(".plot svg").first).to_be_visible(timeout=WAITS)
    page.get_by_role("link", name="Ein echter Kopf").click()
    expect(page.locator(".board .notice")).to_contain_text("„street“ bekommt am meisten")
    page.get_by_role("slider").fill("3")
    expect(page.locator(".board[data-frame='3']")).to_be_visible()
    assert all(url.startswith(("file:", "data:", "blob:")) for url in asked)


def test_the_app_in_a_frame_shows_the_figure_alone_and_says_its_height(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/favicon.png")  # a page of the same site, which may always frame it
    _frame(page, f"{app_url}/masks?embed=1&theme=dark")
    frame = page.frame_locator("iframe")
    expect(frame.locator(".board .notice")).not_to_be_empty(timeout=WAITS)
    for outside in (".st-key-lab_heading", ".st-key-lab_side", ".stAppHeader"):
        expect(frame.locator(outside)).to_be_hidden()
    assert 200 < page.evaluate("told") < 2_000
    page.set_viewport_size(
        {"width": 390, "height": 844}
    )  # a phone has no button for controls that are not there
    expect(frame.get_by_role("button", name="formula")).to_be_visible()
    expect(frame.get_by_role("button", name="controls")).to_be_hidden()
    assert frame.locator(".board .status").evaluate("each => each.offsetHeight") < 80
    assert frame.locator(".stApp").evaluate("each => getComputedStyle(each).colorScheme") == "dark"
    assert violations(page.frames[1], impacts=SERIOUS) == []
