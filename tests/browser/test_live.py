"""A shipped model in a page that no server answers: it is served as files, and reads what is typed."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from attention_lab.pages.explore.live import write_live
from benchmarks.live import served, write_page
from tools.javascript import copy_runtime


@pytest.mark.usefixtures("unchecked_shapes")
def test_a_page_of_files_reads_what_is_typed(browser: Browser, tmp_path: Path) -> None:
    write_live("masked", tmp_path)
    copy_runtime(tmp_path)
    page, faults, asked = browser.new_page(), list[str](), list[str]()
    page.on("console", lambda message: faults.extend([message.text] * (message.type == "error")))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    with served(write_page(tmp_path)) as address:
        page.goto(f"{address}?model=masked")
        notice = page.locator(".notice").first
        expect(notice).to_contain_text("[MASK]")
        page.fill("#text", "the dog did not cross the [MASK] because the street was too wide")
        expect(page.locator("#stage")).to_contain_text("wide")
        for name in ("Lab", "Grid", "Layer 0 head 0, is on"):
            page.get_by_role("button", name=name, exact=True).first.click()
        expect(notice).to_contain_text("Without this head it")
        page.fill("#text", "the ☃ [MASK]")
        expect(page.locator("#said")).to_contain_text("“☃” (nothing near it is known)")
        page.fill("#text", "")
        expect(page.locator("#said")).to_have_text("the text is empty; give at least one word")
        assert all(url.startswith(address) for url in asked)
    assert faults == []
    page.close()
