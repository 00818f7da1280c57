"""The lab as static files: served as `python -m http.server` does, from a folder of a larger site."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from attention_lab.pages.shared.lab_stops import STOPS
from attention_lab.site import build
from benchmarks.live import served

WAITS = 20_000  # milliseconds


@pytest.fixture
def site(browser: Browser, tmp_path: Path, unchecked_shapes: None) -> Iterator[tuple[Page, str, list[str]]]:
    """A page, the site's address, and what is requested; neither may go wrong nor lead elsewhere."""
    build(tmp_path / "lab", ["masked"])
    context = browser.new_context(viewport={"width": 1366, "height": 768})
    page, faults, asked = context.new_page(), list[str](), list[str]()
    context.on("console", lambda message: faults.extend([message.text] * (message.type == "error")))
    context.on("weberror", lambda error: faults.append(str(error.error)))
    context.on("request", lambda request: asked.append(request.url))
    with served(tmp_path) as address:
        yield page, f"{address}lab/", asked
        context.set_offline(True)  # its files were kept at the first visit
        page.goto(f"{address}lab/masks/")
        expect(page.locator(".board .notice")).not_to_be_empty(timeout=WAITS)
    assert faults == []
    assert all(url.startswith((f"{address}lab/", "data:", "blob:")) for url in asked)
    context.close()


def test_the_site_is_whole_without_a_server(site: tuple[Page, str, list[str]]) -> None:
    page, address, asked = site
    page.goto(address)
    page.evaluate("navigator.serviceWorker.ready.then(({ active }) => active)")
    page.get_by_role("link", name="Rotary").click()
    expect(page).to_have_url(f"{address}positions/?part=rotary")
    for stop in STOPS[::-1]:
        page.goto(f"{address}{stop.name}/")
        expect(page.locator(".board .notice")).not_to_be_empty(timeout=WAITS)
        expect(page.locator(".see")).not_to_be_empty()
        assert page.locator("header").evaluate("each => each.scrollWidth <= each.clientWidth")
    _explore(page, address)
    _take_part(page, address, asked)
    _be_embedded(page, address)


def _explore(page: Page, address: str) -> None:
    """What is typed is read by the model in the browser, and stands in the address."""
    page.goto(f"{address}explore/")
    expect(page.locator(".notice").first).to_contain_text("[MASK]", timeout=WAITS)
    page.fill("#text", "the dog did not cross the [MASK] because the street was too wide")
    expect(page.locator(".place")).to_contain_text("wide")
    expect(page).to_have_url(re.compile(r"/explore/\?.*text=the\+dog"))


def _take_part(page: Page, address: str, asked: list[str]) -> None:
    """An experiment, a question and a slider; the slider asks for nothing, and its link brings all back."""
    page.goto(f"{address}softmax/?part=head")
    notice = page.locator(".board .notice")
    expect(notice).to_contain_text("street")
    page.get_by_role("button", name="heat all four to 50").click()
    expect(notice).not_to_contain_text("1.00")
    page.get_by_role("button", name="questions").click()
    page.locator("fieldset").first.get_by_role("radio").first.check()
    expect(page.locator("fieldset").first.get_by_role("status")).to_contain_text(".")
    page.get_by_role("button", name="Close").click()
    page.get_by_role("button", name="formula").click()
    expect(page.locator(".drawer.formula math").first).to_be_visible()
    count = len(asked)
    page.get_by_role("slider").fill("3")
    expect(page.locator(".board[data-frame='3']")).to_be_visible()
    expect(page).to_have_url(re.compile(r"/softmax/\?part=head&.*temperature=0\.0"))
    assert len(asked) == count
    said = notice.inner_text()
    page.reload()
    expect(page.locator(".board[data-frame='3']")).to_be_visible()
    expect(notice).to_have_text(said)


def _be_embedded(page: Page, address: str) -> None:
    """A frame shows the board alone, in the colours that are asked for, and says its height."""
    page.evaluate(
        """(address) => {
        const frame = document.createElement("iframe");
        document.body.replaceChildren(frame);
        globalThis.told = new Promise((hear) => addEventListener("message", ({ data }) =>
          data.type === "attention-lab:height" && data.height > 200 && hear(data.height)));
        frame.src = address;
        }""",
        f"{address}masks/?embed=1&theme=dark",
    )
    frame = page.frame_locator("iframe")
    expect(frame.locator(".board .notice")).not_to_be_empty(timeout=WAITS)
    expect(frame.locator("header, .heading, .side").first).to_be_hidden()
    assert page.evaluate("told") < 2_000
    colour = frame.locator("body").evaluate("each => getComputedStyle(each).backgroundColor")
    assert colour == "rgb(14, 17, 23)"
