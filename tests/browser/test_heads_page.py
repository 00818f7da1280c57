"""The heads page in a real browser: what it shows is what the engine computes."""

import re

import pytest
from playwright.sync_api import Page, expect

from models import ModelConfig, UntrainedModel, load_model
from tests.browser.board import BoardPage
from tests.browser.explore_page import agrees

TEXT = "the animal did not cross the street because it was too tired"
NAMES = ["the", "animal", "did", "not", "cross", "the₂", *TEXT.split()[6:]]
IMPOSSIBLE = (
    "d_model=32 is not divisible by n_heads=12; try n_heads=8 or 16, d_model=24 or 48, or choose d_head"
)


@pytest.fixture
def heads(page: Page) -> BoardPage:
    return BoardPage(page, "heads")


def model(**fields: int) -> UntrainedModel:
    sizes = {"n_layers": 1, "n_heads": 4, "d_model": 32, "vocab_size": 1_025, "max_len": 1_027, **fields}
    return UntrainedModel(ModelConfig(kind="encoder-only", **sizes), seed=0)


def pointed_at(heads: BoardPage, title: str) -> tuple[str, str, str]:
    """Point into the middle of a picture: the row, the column and the number that the status line tells."""
    heads.panel(title).locator(".plot .nsewdrag").hover()
    status = heads.board.locator(".status")
    expect(status).to_contain_text(" = ")
    told = status.inner_text().removeprefix(f"{title}: ")
    found = re.fullmatch(r"\w+ ([^,]+), \w+ (.+) = (.+)", told)
    assert found
    return found[1], found[2], found[3]


def test_each_heads_pattern_is_the_engines_and_asks_the_server_nothing(heads: BoardPage):
    heads.open()
    pattern = model().trace(TEXT)["encoder.0.self.pattern"]
    for head in (3, 0):
        with heads.quiet():
            heads.scrub(head)
            query, key, shown = pointed_at(heads, "its pattern")
        assert agrees(shown, pattern[head, NAMES.index(query), NAMES.index(key)].item())
        assert f"columns {8 * head} to {8 * head + 7} of W_Q" in heads.notice
        assert heads.notice.endswith(f"{pattern[head].max():.2f}.")


def test_queries_of_all_heads_are_x_times_w_q(heads: BoardPage):
    heads.open(n_heads=8)
    word, column, shown = pointed_at(heads, "Q: all heads' queries")
    q = model(n_heads=8).trace(TEXT)["encoder.0.self.q"]  # [head, query, 4]
    head, channel = divmod(int(column), 4)
    assert agrees(shown, q[head, NAMES.index(word), channel].item())


def test_parameters_are_those_of_the_module(heads: BoardPage):
    heads.open()
    heads.attempt("heads as wide as d_model")
    layer = model(d_head=32).model.encoder.layers[0]
    shown = heads.facts()
    assert shown["d_head"] == "32"
    assert shown["parameters: attention"] == f"{sum(p.numel() for p in layer.self_attention.parameters()):,}"
    assert shown["= the layer, sum(p.numel())"] == f"{sum(p.numel() for p in layer.parameters()):,}"


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
    assert heads.facts()["d_head"] == "8"
    assert heads.link() == {}


def test_a_link_restores_sizes_and_head(heads: BoardPage):
    heads.open(n_heads=16, head=5)
    assert "Head 5 owns columns 10 to 11" in heads.notice
    assert heads.link() == {"n_heads": "16", "head": "5"}


def test_shares_are_those_of_the_trained_layer(heads: BoardPage):
    heads.open(part="contributions")
    heads.attempt("a trained layer")
    lm = load_model("translator")
    trace = lm.trace(TEXT)
    rows = lm.model.encoder.layers[1].self_attention.out_proj.weight.detach().T.view(4, 16, 64)
    c = trace["encoder.1.self.z"] @ rows  # [head, query, d_model]
    lengths, total = c.norm(dim=-1), c.sum(0)
    expected = {
        "share of the lengths": lengths / lengths.sum(0),
        "share of the sum": (c * total).sum(-1) / total.square().sum(-1),
    }
    for title, shares in expected.items():
        for row, cells in zip(shares.T.tolist(), heads.cells(title), strict=True):
            assert all(agrees(cell, share) for cell, share in zip(cells, row, strict=True))
    at = trace.tokens["encoder"].index("it")
    assert (
        "At “it”, head 1" in heads.notice and f"{lengths[1, at] / lengths[:, at].sum():.2f}" in heads.notice
    )


def test_costs_follow_the_slider(heads: BoardPage):
    heads.open(part="cost")
    with heads.quiet():
        heads.scrub(4)
    values = [fact.locator("dd").inner_text() for fact in heads.board.locator(".fact").all()]
    narrow, wide = values[:5], values[5:]
    assert narrow[:2] == ["4", "16,384"] and wide[:2] == ["64", "262,144"]
    assert narrow[3] == wide[3] == f"{16 * 64 * 64:,}"
    assert all(float(row[4].removesuffix(" ms")) > 0 for row in (narrow, wide))
    assert "16 times as many" in heads.notice


def test_the_same_weights_with_more_heads(heads: BoardPage):
    heads.open(part="recut")
    trace = model(d_model=64).trace(TEXT)
    row = heads.cells("weights of 1, 2, 4 and 8 heads: head i of h")[3:7]  # of four heads
    for head in range(4):
        expected = trace["encoder.0.self.pattern"][head, 8].tolist()
        assert all(agrees(cell, weight) for cell, weight in zip(row[head], expected, strict=True))
    title = "q · k in each of 8 heads, their sum, and q · k of the one head"
    with heads.quiet():
        heads.scrub(1)
        *_, together, one = heads.cells(title)
    products = (trace["encoder.0.self.q"] @ trace["encoder.0.self.k"].mT).sum(0)[1].tolist()
    for cells in (together, one):
        assert all(agrees(cell, product) for cell, product in zip(cells, products, strict=True))


def test_a_question_is_answered_with_computed_numbers(heads: BoardPage):
    heads.open(part="cost")
    assert "16,384 with one head and 16,384 with eight" in heads.predict(0, "as many")
