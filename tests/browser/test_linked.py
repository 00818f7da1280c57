"""One trace, five views: what is chosen in one holds in the others, and choosing asks the server nothing."""

from playwright.sync_api import expect

from tests.browser.explore_page import TEXT, ExplorePage, NewExplore, agrees, untrained

VIEWS = ("head", "lines", "numbers", "output", "grid")
SEED = {"seed": 5}


def test_what_is_chosen_in_one_view_holds_in_the_others_and_for_another_sentence(
    explore: ExplorePage,
) -> None:
    explore.untrained(**SEED)
    explore.stage.locator('.grid-buttons button[data-layer="1"][data-head="3"]').click()
    trace = untrained(**SEED)
    explore.hover_cell(2, 4)
    explore.assert_reads(trace, "encoder.1.self", 3, 2, 4)
    explore.choose("view", "lines")
    explore.stage.locator('.tokens.queries button[data-at="2"]').hover()
    heaviest = trace["encoder.1.self.pattern"][3, 2].max().item()
    assert agrees(explore.terms()["L1 H3"].split(", ")[0].split()[-1], heaviest)
    explore.choose("view", "numbers")
    assert (
        'trace["encoder.1.self.q|k|v|scores|pattern|z"][3]' in explore.stage.locator(".pickers").inner_text()
    )
    explore.choose("view", "grid")
    opened = explore.stage.locator('.grid-buttons button[aria-pressed="true"]')
    assert (opened.get_attribute("data-layer"), opened.get_attribute("data-head")) == ("1", "3")
    explore.choose("view", "head")  # a cell chosen here is worked out in numbers
    explore.hover_cell(6, 3)
    explore.page.mouse.down()
    explore.page.mouse.up()
    explore.choose("view", "numbers")
    assert explore.stage.get_by_label("query", exact=True).input_value() == "6"
    assert explore.stage.get_by_label("key", exact=True).input_value() == "3"
    score = trace["encoder.1.self.scores"][3, 6, 3].item()
    assert agrees(explore.stage.locator(".formula strong").inner_text(), score)
    text = TEXT.replace("cat", "dog")
    with explore.redrawn():
        explore.type(text)
    assert [explore.view[name] for name in ("view", "layer", "head")] == ["numbers", 1, 3]
    explore.choose("view", "head")
    explore.hover_cell(1, 5)
    explore.assert_reads(untrained(text, **SEED), "encoder.1.self", 3, 1, 5)


def test_views_heads_layers_and_hovering_ask_the_server_nothing(explore: ExplorePage) -> None:
    explore.untrained(**SEED)
    with explore.quiet():
        explore.choose("sort by", "entropy")
        explore.choose("scale", "row")
        explore.stage.locator('.grid-buttons button[data-layer="1"][data-head="3"]').click()
        for view in VIEWS:
            explore.choose("view", view)
        explore.choose("view", "head")
        explore.choose("layer", 0)
        explore.choose("head", 1)
        explore.choose("show", "scores")
        explore.hover_cell(3, 3)
        explore.stage.locator(".head-board").press("ArrowRight")
        explore.choose("view", "lines")
        explore.choose("head", 2, 3)
        explore.choose("layer", 1)
        for side in ("queries", "keys"):
            explore.stage.locator(f'.tokens.{side} button[data-at="4"]').hover()
            explore.stage.locator(f'.tokens.{side} button[data-at="4"]').click()
        explore.choose("view", "numbers")
        explore.stage.get_by_label("key", exact=True).select_option("2")
    before = len(explore.sent)
    with explore.redrawn():  # else what is quiet would count nothing
        explore.slide("Seed", "ArrowRight")
    assert len(explore.sent) > before


def test_the_translators_stacks_and_steps_ask_the_server_nothing(explore: ExplorePage) -> None:
    explore.open()
    slider = explore.stage.get_by_role("slider", name="Decoding step")
    with explore.quiet():
        for stack in ("decoder.self", "decoder.cross"):
            explore.choose("stack", stack)
            for view in ("head", "lines"):
                explore.choose("view", view)
                for key in ("Home", "ArrowRight", "ArrowRight", "End"):
                    slider.press(key)
        explore.choose("view", "output")
        slider.press("Home")
    expect(explore.stage.locator(".step output")).to_contain_text("1 of ")


def test_two_visitors_do_not_see_each_others_state(new_explore: NewExplore) -> None:
    one, two = new_explore().untrained(view="head", **SEED), new_explore().untrained(view="head", **SEED)
    with one.redrawn():
        one.type("only for one")
    with two.redrawn():
        two.slide("Seed", "ArrowRight")
    one.choose("head", 2)
    two.choose("head", 1)
    for visitor, text, seed, head in [(one, "only for one", 5, 2), (two, TEXT, 6, 1)]:
        expect(visitor.sentence).to_have_value(text)
        visitor.hover_cell(2, 1)
        visitor.assert_reads(untrained(text, seed=seed), "encoder.0.self", head, 2, 1)
