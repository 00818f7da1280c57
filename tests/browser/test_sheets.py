"""A class on one link: three students on one sheet, and the teacher's page, which sees them."""

import re
import time
from collections.abc import Callable

from playwright.sync_api import Page, Route, expect

from tests.browser.axe import SERIOUS, violations
from tests.browser.test_talk import packed

SHEET = """# Who sees whom?

Three tasks.

## Which?

### Which mask hides the future?
- [ ] padding
- [x] causal

Because it **hides** what comes.

## Reach

[Masks](/masks)

- rule: part = reach, flow = causal+window
- hint: The parts stand *above* the board.

Open the part on reach.

## Say

- write: 200
"""


def test_three_students_work_on_one_sheet(page: Page, new_page: Callable[..., Page]) -> None:
    broken = SHEET.replace("flow =", "mask =")
    page.goto(packed(broken).replace("talk/", "/class/", 1))
    page.get_by_role("button", name="open the class").click()
    expect(page.locator(".problems")).to_have_text(
        "Line 13: In “Reach”: 'mask' is no input of the part reach of Masks; "
        "known are part, flow, flow_argument, length, layers."
    )
    page.goto("about:blank")
    page.goto(packed(SHEET).replace("talk/", "/class/", 1))
    page.get_by_role("button", name="open the class").click()
    link = page.locator(".link a").get_attribute("href")
    assert link

    ada = new_page()
    begin(ada, link, "Ada")
    answer(ada, "padding")
    expect(ada.locator(".verdict.wrong")).to_have_text("That is not so; look again.")
    expect(ada.get_by_text("Your first answer counts; the last is kept too.")).to_be_visible()
    expect(ada.get_by_role("button", name="answer")).to_be_focused()
    answer(ada, "causal")
    expect(ada.locator(".verdict.right")).to_contain_text("Because it hides what comes.")
    ada.reload()
    expect(ada.locator(".verdict.right")).to_contain_text("Because it hides what comes.")
    ada.get_by_role("button", name="next task").click()
    expect(ada.get_by_role("heading", name="2. Reach")).to_be_focused()
    inside = ada.frame_locator("iframe")
    expect(inside.locator(".notice")).to_be_visible()
    expect(inside.locator(".stAppHeader")).to_be_hidden()
    ada.get_by_role("button", name="check").click()
    expect(ada.locator(".verdict.wrong")).to_have_text("Part is mask, which is not asked for.")
    ada.get_by_role("button", name="hint 1 / 1").click()
    expect(ada.locator(".hints em")).to_have_text("above")
    expect(ada.locator(".hints li")).to_be_focused()
    inside.get_by_role("radio", name="Reach").click()
    ada.get_by_role("button", name="check").click()
    expect(ada.locator(".verdict.right")).to_have_text("That is right.")
    expect(ada.locator(".tasks")).to_have_text("1✓2✓3")
    assert violations(ada, impacts=SERIOUS, within=".panel") == []

    ben = new_page(viewport={"width": 390, "height": 844})
    begin(ben, link, "")
    answer(ben, "padding")
    ben.get_by_role("button", name="2. Reach").click()
    frame = ben.locator("iframe")
    expect(frame).to_be_hidden()
    ben.get_by_role("button", name="to the page").click()
    expect(frame).to_be_in_viewport(ratio=0.9)
    assert ben.evaluate("document.documentElement.scrollWidth") == 390
    ben.get_by_role("button", name="back to the task").click()
    expect(ben.get_by_role("heading", name="2. Reach")).to_be_visible()

    eve = new_page(color_scheme="dark")
    begin(eve, link, "Eve")
    eve.get_by_role("button", name="3. Say").click()
    eve.get_by_label("Say", exact=True).fill("It hides keys.")
    eve.get_by_role("button", name="hand in").click()
    expect(eve.locator(".verdict")).to_have_text("It is handed in.")
    context = eve.context
    eve.close()
    eve = context.new_page()  # whoever closes the tab comes back where she was
    eve.goto(link)
    expect(eve.get_by_role("heading", name="3. Say")).to_be_visible()
    expect(eve.get_by_label("Say", exact=True)).to_have_value("It hides keys.")
    assert violations(eve, impacts=SERIOUS) == []

    rows = page.locator(".students tbody tr")
    expect(rows).to_have_text(
        [
            re.compile(
                "Ada✗ → ✓ 2first not right, last right, 2 tries"
                "✗ → ✓ 2first not right, last right, 2 tries, is herenothing yet"
            ),
            re.compile("student 2✗not rightnothing yet, is herenothing yet"),
            re.compile("Evenothing yetnothing yet•answered, is here"),
        ]
    )
    expect(page.locator(".by-task .counted li")).to_have_text(["padding2 → 1", "causal0 → 1"])
    expect(page.locator(".by-task small")).to_have_text(["0 → 1 / 2", "0 → 1 / 1", "1"])
    expect(page.locator(".by-task .options a")).to_have_text(["Ada", "→ last answer"])
    expect(page.locator(".by-task")).to_contain_text("Eve: It hides keys.")
    assert max(rows.evaluate_all("rows => rows.map((row) => row.offsetHeight)")) < 60
    assert violations(page, impacts=SERIOUS) == []
    with page.expect_download() as download:
        page.get_by_role("button", name="answers as CSV").click()
    lines = download.value.path().read_text("utf-8-sig").splitlines()
    assert len(lines) == 5 and lines[1].startswith('"Ada","1","Which?","padding","0","causal","1","2",')
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Remove Eve, with all answers").click()
    expect(rows).to_have_count(2)
    expect(page.locator(".by-task")).not_to_contain_text("Eve: It hides keys.")
    talks = new_page()
    talks.goto(f"{link.partition('/class/')[0]}/talks")
    expect(talks.get_by_text("“Who sees whom?”, 2 in it")).to_be_visible()
    page.route(link, answered_late)  # the class is gone before the page hears of it, and nobody asks for it
    page.get_by_role("button", name="delete the class").click()
    expect(page.locator(".problem")).to_have_text("The class and all answers are deleted.")


def answered_late(route: Route) -> None:
    response = route.fetch()
    time.sleep(3.5)
    route.fulfill(response=response)


def test_the_link_is_projected_without_names_and_secret(page: Page, new_page: Callable[..., Page]) -> None:
    page.goto(packed(SHEET).replace("talk/", "/class/", 1))
    page.get_by_role("button", name="open the class").click()
    link = page.locator(".link a").get_attribute("href")
    assert link
    begin(new_page(), link, "Ada")
    name = page.get_by_role("rowheader", name="Ada")
    expect(name).to_be_visible()
    button = page.get_by_role("button", name="show the link")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        button.press("Enter")
        expect(page.get_by_role("img", name="QR code of the link")).to_be_in_viewport(ratio=1)
        projected = page.get_by_role("dialog", name="The link")
        expect(projected.locator(".link")).to_have_text(link.partition("://")[2])
        expect(projected.locator(".link")).to_have_css("font-size", re.compile(r"^[45]\d"))
        assert page.url == f"{link}/teacher"
        assert "Ada" not in projected.inner_text()
        behind = page.evaluate(
            "getComputedStyle(document.querySelector('dialog'), '::backdrop').backgroundColor"
        )
        assert behind == page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert violations(page) == []
        page.keyboard.press("Escape")
        expect(projected).to_be_hidden()
        expect(button).to_be_focused()
        page.reload()  # the tab knows the secret
        expect(name).to_be_visible()
    page.on("dialog", lambda dialog: dialog.accept())
    page.evaluate("navigator.clipboard.writeText = (text) => { globalThis.copied = text; }")
    page.get_by_role("button", name="copy the teacher's link").click()
    elsewhere = new_page()
    elsewhere.goto(page.evaluate("copied"))
    expect(elsewhere.get_by_role("rowheader", name="Ada")).to_be_visible()
    assert elsewhere.url == f"{link}/teacher"


def test_all_who_have_answered_nothing_are_removed_at_once(page: Page, new_page: Callable[..., Page]) -> None:
    page.goto(packed(SHEET).replace("talk/", "/class/", 1))
    page.get_by_role("button", name="open the class").click()
    link = page.locator(".link a").get_attribute("href")
    assert link
    removal = page.get_by_role("button", name="remove all without answers")
    expect(removal).to_be_hidden()
    for name in ("Ben", "Eve", "Ada"):
        ada = new_page()
        begin(ada, link, name)
    answer(ada, "padding")
    rows = page.locator(".students tbody tr")
    expect(rows).to_have_count(3)
    expect(rows.last).to_contain_text("✗")
    asked = []
    page.once("dialog", lambda dialog: dialog.dismiss())
    removal.click()
    expect(rows).to_have_count(3)
    page.once("dialog", lambda dialog: (asked.append(dialog.message), dialog.accept()))
    removal.click()
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("Ada")
    assert asked == ["Remove all students without answers? Those at work begin again."]
    expect(removal).to_be_hidden()
    expect(page.locator(".wide")).to_be_focused()


def test_a_server_that_is_away_costs_a_student_nothing(
    page: Page, new_page: Callable[..., Page], problems: list[str]
) -> None:
    page.goto(packed(SHEET).replace("talk/", "/class/", 1))
    page.get_by_role("button", name="open the class").click()
    link = page.locator(".link a").get_attribute("href")
    assert link
    ada = new_page()
    begin(ada, link, "Ada")
    ada.get_by_label("padding").check()
    ada.get_by_role("button", name="3. Say").click()
    ada.context.set_offline(True)
    ada.get_by_label("Say", exact=True).fill("It hides keys.")
    ada.get_by_role("button", name="2. Reach").click()
    away = ada.get_by_text("The server does not answer; your work is kept")
    expect(away).to_be_visible()
    ada.get_by_role("button", name="3. Say").click()
    expect(ada.get_by_label("Say", exact=True)).to_have_value("It hides keys.")
    ada.get_by_role("button", name="hand in").click()
    expect(away).to_be_visible()
    ada.context.set_offline(False)
    expect(ada.locator(".verdict")).to_have_text("It is handed in.")
    expect(away).to_be_hidden()
    ada.get_by_role("button", name="2. Reach").click()
    expect(ada.frame_locator("iframe").locator(".notice")).to_be_visible()
    ada.context.set_offline(True)
    ada.locator("iframe").evaluate("frame => frame.contentWindow.location.reload()")  # as a link in it would
    expect(away).to_be_visible()
    ada.context.set_offline(False)
    expect(ada.frame_locator("iframe").locator(".notice")).to_be_visible()
    ada.reload()
    ada.get_by_role("button", name="1. Which?").click()
    expect(ada.get_by_label("padding")).to_be_checked()
    problems[:] = [each for each in problems if "ERR_INTERNET_DISCONNECTED" not in each]


def begin(page: Page, link: str, name: str) -> None:
    page.goto(link)
    page.get_by_label("Your name, or none").fill(name)
    page.get_by_role("button", name="begin").click()
    expect(page.get_by_role("heading", name="1. Which?")).to_be_visible()


def answer(page: Page, option: str) -> None:
    page.get_by_label(option).check()
    page.get_by_role("button", name="answer").click()
