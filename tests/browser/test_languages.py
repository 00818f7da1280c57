"""Visitors with different languages on one server."""

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.board import BoardPage
from tests.browser.test_talk import Show, packed


def test_each_visitor_reads_his_own_language_which_a_link_and_the_switch_change(
    new_page: Callable[..., Page],
) -> None:
    german, french = new_page(locale="de-DE"), new_page(locale="fr-FR")
    for page in (german, french):
        page.goto("/softmax")
    for page, words in ((german, "Mehr"), (french, "Plus")):
        expect(page.locator(".foot summary")).to_have_text(words)
    expect(german.locator("html")).to_have_attribute("lang", "de")
    expect(german.get_by_role("button", name="Zurücksetzen")).to_be_visible()
    expect(french.get_by_role("button", name="Réinitialiser")).to_be_visible()

    # the same board, which the server has packed once, in another language, and the address says so
    german.goto("/softmax?part=formats&lang=fr")
    expect(german.locator(".foot summary")).to_have_text("Plus")
    assert "lang=fr" in german.url
    german.locator(".languages summary").click()
    german.locator("a[hreflang=en]").click()
    expect(german.locator(".foot summary")).to_have_text("More")
    board = BoardPage(german, "softmax").wait()
    assert board.link() == {"part": "formats", "lang": "en"}
    # a page without it in its address goes on in the language that was chosen
    german.get_by_role("button", name="Learn").click()
    german.get_by_role("menuitem", name="Start here").click()
    expect(german.locator(".done")).to_contain_text("Only this browser remembers")


def test_a_show_what_it_opens_and_its_file_have_the_language_of_its_link(
    new_page: Callable[..., Page], tmp_path: Path
) -> None:
    """What the lecturer wrote stays as it is, even where it is a message of ours."""
    talk = packed("# A talk\n\n## full screen\n\n[Masks](/masks?lang=fr)\n\n- hide: weights\n")
    page, file = new_page(locale="fr-FR"), tmp_path / "talk.html"
    page.goto(f"/{talk.replace('#', '?lang=de#')}")

    def is_german(show: Show) -> None:
        expect(show.page.get_by_role("button", name="Vollbild")).to_be_visible()
        expect(show.inside.locator("html")).to_have_attribute("lang", "de")
        expect(show.inside.locator(".board figcaption").nth(1)).to_have_text("Maske")
        expect(show.inside.locator(".panel.answers figcaption")).to_have_text("Gewichte")
        expect(show.title).to_have_text("full screen")
        expect(show.page.get_by_label("Alle Stationen")).to_have_text("1  full screen")

    is_german(Show(page))
    page.mouse.move(9, 9)  # for the bar
    with page.expect_download() as download:
        page.get_by_role("button", name="als Datei").click()
    download.value.save_as(file)
    page.goto(file.as_uri())
    is_german(Show(page))
    page.goto(f"/{talk.replace('talk/#', 'class/?lang=de#')}")
    expect(page.get_by_role("button", name="die Klasse öffnen")).to_be_visible()
    expect(page).to_have_title("Einer Klasse geben · Attention Lab")
    expect(page.get_by_role("listitem").first).to_have_text("full screen")


def test_a_talk_that_ships_is_listed_presented_and_copied_in_the_language_of_the_page(page: Page) -> None:
    page.goto("/talks?lang=de")
    page.get_by_role("button", name="Eine Kopie von Zehn Minuten Aufmerksamkeit bearbeiten").click()
    expect(page.get_by_label("Titel von Station 2")).to_have_value("Ein Modell sucht die Antwort")
    page.goto("/talk/?lang=fr#shipped=ten-minutes")
    expect(Show(page).title).not_to_be_empty()
    page.keyboard.press("PageDown")
    expect(page.get_by_label("Toutes les étapes")).to_contain_text("Un modèle")
