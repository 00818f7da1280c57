"""The heads page in a real browser: what cannot be is explained in its place."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.board import BoardPage

IMPOSSIBLE = (
    "d_model=32 is not divisible by n_heads=12; try n_heads=8 or 16, d_model=24 or 48, or choose d_head"
)


@pytest.fixture
def heads(page: Page) -> BoardPage:
    return BoardPage(page, "heads")


def test_an_impossible_cut_is_explained_and_the_last_figure_stays(heads: BoardPage):
    heads.open(head=2)
    heads.attempt("eight heads")
    before = heads.notice, heads.facts()
    heads.attempt("12 heads share 32 columns")
    expect(heads.problem).to_have_text(IMPOSSIBLE)
    assert (heads.notice, heads.facts()) == before
    assert heads.link()["n_heads"] == "12"
    with heads.redrawn():
        heads.page.get_by_role("button", name="Reset", exact=True).click()
    expect(heads.problem).to_have_count(0)
    assert heads.facts()["d_head"] == "16"  # the translator's
    assert heads.link() == {}
