"""Visitors with different languages on one server."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.board import BoardPage


def test_each_visitor_reads_his_own_language_which_a_link_and_the_switch_change(
    new_page: Callable[..., Page],
) -> None:
    german, french = new_page(locale="de-DE"), new_page(locale="fr-FR")
    for page in (german, french):
        page.goto("/softmax")
    for page, words in ((german, "Link kopieren"), (french, "copier le lien")):
        expect(page.get_by_role("button", name=words)).to_be_visible()
    expect(german.locator("html")).to_have_attribute("lang", "de")
    expect(german.get_by_role("button", name="Zurücksetzen")).to_be_visible()
    expect(french.get_by_role("button", name="Réinitialiser")).to_be_visible()

    # the same board, which the server has packed once, in another language, and the address says so
    german.goto("/softmax?part=formats&lang=fr")
    expect(german.get_by_role("button", name="copier le lien")).to_be_visible()
    assert "lang=fr" in german.url
    german.locator("a[hreflang=en]").click()
    expect(german.get_by_role("button", name="copy link")).to_be_visible()
    board = BoardPage(german, "softmax").wait()
    assert board.link() == {"part": "formats", "lang": "en"}
    # a page without it in its address goes on in the language that was chosen
    german.get_by_role("link", name="Start here").click()
    expect(german.locator(".done")).to_contain_text("This browser alone remembers")
