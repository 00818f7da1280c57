"""Talks: those that ship, and an own one, from the first “add to talk” to a file and a link."""

import re
from pathlib import Path

from playwright.sync_api import Page, expect

from attention_lab.pages.talks.talks import NAMES
from tests.browser.axe import violations
from tests.browser.board import BoardPage

OTHER = "# Another\n\n## A\n\n[Maskz](/maskz)\n\n## B\n\n[Masks](/masks?part=reach)\n"


def test_an_own_talk_is_made_on_the_way_edited_and_kept(page: Page, tmp_path: Path) -> None:
    page.goto("/masks?part=reach")
    add = BoardPage(page, "masks").wait().more("add to talk")
    for at in (1, 2):
        add.click()  # the menu stays open to say what came of it
        expect(page.get_by_role("button", name=f"stop {at} added")).to_be_visible()
    headline = page.locator(".board .notice").inner_text()
    page.get_by_role("button", name="More", exact=True).click()
    page.get_by_role("menuitem", name="Talks").click()
    title = page.get_by_label("Title of stop", exact=False)
    expect(title).to_have_count(2)
    assert headline.startswith(title.nth(1).input_value())
    expect(page.get_by_role("region", name="Ready-made talks").locator(".card")).to_have_count(len(NAMES))
    assert violations(page) == []

    title.nth(0).fill("How far one layer hears")
    page.locator("summary:not(.languages *)").nth(0).click()
    assert page.get_by_label("Link of stop 1").input_value() == "/masks?part=reach&more=1"
    halts = page.get_by_label("Where the slider halts of stop 1")
    halts.fill("0, many")
    expect(page.get_by_text("at: many is no number; write such as")).to_be_visible()
    halts.fill("")
    page.get_by_label("Notes of stop 1").fill("- hide: nothing\n\n# Point at the dots.")
    give = page.get_by_role("link", name="give to a class", exact=True)
    expect(give).to_be_hidden()
    page.get_by_label("Task of stop 1").fill("hint: Count.\nwrite: 200")
    expect(give).to_be_visible()
    page.get_by_label("Question of stop 1").fill("How many?")
    for at, option in enumerate(("five", "nine"), start=1):
        page.get_by_label(f"Option {at} of stop 1", exact=True).fill(option)
    page.get_by_label("Option 2 of stop 1 is right").check()
    page.get_by_role("button", name="Move stop 1 down").click()
    expect(title.nth(1)).to_have_value("How far one layer hears")
    expect(page.get_by_role("button", name="Move stop 2 down")).to_be_disabled()
    page.get_by_role("button", name="Move stop 2 up").click()
    expect(title.nth(0)).to_have_value("How far one layer hears")
    page.get_by_role("button", name="Delete stop 2").click()
    expect(title).to_have_count(1)
    page.get_by_role("button", name="undo").click()
    expect(title).to_have_count(2)

    with page.expect_download() as download:
        page.get_by_role("button", name="download").click()
    file = tmp_path / download.value.suggested_filename
    download.value.save_as(file)
    text = file.read_text("utf-8")
    assert file.name == "my-talk.md"
    for line in (
        "- hint: Count.\n- write: 200",
        "## How far one layer hears",
        "[masks](/masks?part=reach&more=1)",
        "- [x] nine",
        "#### Point at",
    ):
        assert line in text

    opens = page.locator("input[type=file]")
    opens.set_input_files({"name": "b.md", "mimeType": "text/markdown", "buffer": OTHER.encode()})
    expect(page.locator(".problems")).to_contain_text("Line 5: /maskz is no link to a page of this app")
    expect(page.locator(".told")).to_contain_text("b.md is open.")
    talks = page.get_by_role("list", name="My talks").get_by_role("listitem")
    expect(talks).to_have_text([re.compile("^My talk"), re.compile("^Another")])
    opens.set_input_files({"name": "c.md", "mimeType": "text/markdown", "buffer": b"\xff\x00"})
    expect(page.locator(".told")).to_contain_text("c.md has no stop")
    expect(title).to_have_count(2)
    many = OTHER + "## C\n\n" * 10_204
    opens.set_input_files({"name": "d.md", "mimeType": "text/markdown", "buffer": many.encode()})
    expect(page.locator(".told")).to_contain_text("A talk of 10206 stops: at most 100 are read; make it two.")
    expect(talks).to_have_count(2)
    opens.set_input_files(file)
    expect(page.locator(".told")).to_contain_text("my-talk.md is open.")
    page.reload()  # a visit later
    expect(title.nth(0)).to_have_value("How far one layer hears")

    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="copy as a link").click()
    expect(page.locator(".told")).to_contain_text("Copied a link of")
    assert "/talk/#talk=" in page.evaluate("navigator.clipboard.readText()")


def test_several_talks_are_kept_and_all_that_was_done_can_be_undone(page: Page) -> None:
    page.add_init_script(
        "localStorage['attention-lab.talk'] ??= '# Of before\\n\\n## One\\n\\n[Masks](/masks)\\n'"
    )
    page.goto("/talks")
    title = page.get_by_label("Title of my talk")
    expect(title).to_have_value("Of before")
    talks = page.get_by_role("list", name="My talks").get_by_role("listitem")
    page.get_by_role("button", name="Edit a copy of Why scale").click()
    expect(title).to_have_value("Why scale")
    title.fill("Why I scale")
    for _ in range(3):
        page.get_by_role("button", name="Delete stop 1", exact=True).click()
    link = page.get_by_role("region", name="My talk").get_by_role("link", name="present")
    expect(link).to_have_attribute("href", re.compile(r"#own=\.1$"))
    page.get_by_role("button", name="Duplicate Of before").click()
    expect(title).to_have_value("Of before (2)")
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Delete Of before", exact=True).click()
    expect(talks).to_have_count(2)
    undo = page.get_by_role("button", name="undo")
    undo.click()
    expect(talks).to_have_count(3)
    for _ in range(6):
        undo.click()
    expect(undo).to_be_hidden()
    expect(talks).to_have_text([re.compile("^Of before")])
    expect(title).to_have_value("Of before")


def test_a_page_that_cannot_be_presented_is_no_stop(page: Page) -> None:
    page.goto("/documents")
    page.locator(".map[data-generation]").get_by_text("More", exact=True).click()
    expect(page.get_by_role("button", name="copy link")).to_be_visible()
    expect(page.get_by_role("button", name="add to talk")).to_be_hidden()
