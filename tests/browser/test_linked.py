"""One trace, five views: what is chosen in one holds in the others, and choosing asks the server nothing."""

from playwright.sync_api import expect

from tests.browser.lab import TEXT, Lab, NewLab, agrees, untrained

VIEWS = ("head", "lines", "numbers", "output", "grid")
SEED = {"seed": 5}


def test_a_head_opened_in_the_grid_is_open_in_every_view(lab: Lab) -> None:
    lab.untrained(**SEED)
    lab.stage.locator('.grid-buttons button[data-layer="1"][data-head="3"]').click()
    trace = untrained(**SEED)
    lab.hover_cell(2, 4)
    lab.assert_reads(trace, "encoder.1.self", 3, 2, 4)
    lab.choose("view", "lines")
    lab.stage.locator('.tokens.queries button[data-at="2"]').hover()
    heaviest = trace["encoder.1.self.pattern"][3, 2].max().item()
    assert agrees(lab.terms()["H3"].split(", ")[0].split()[-1], heaviest)
    lab.choose("view", "numbers")
    assert 'trace["encoder.1.self.q|k|v|scores|pattern|z"][3]' in lab.stage.locator(".pickers").inner_text()
    lab.choose("view", "grid")
    opened = lab.stage.locator('.grid-buttons button[aria-pressed="true"]')
    assert (opened.get_attribute("data-layer"), opened.get_attribute("data-head")) == ("1", "3")


def test_a_cell_chosen_in_the_heatmap_is_worked_out_in_numbers_and_kept_in_lines(lab: Lab) -> None:
    lab.untrained(view="head", **SEED)
    lab.hover_cell(6, 3)
    lab.page.mouse.down()
    lab.page.mouse.up()
    lab.choose("view", "numbers")
    assert lab.stage.get_by_label("query", exact=True).input_value() == "6"
    assert lab.stage.get_by_label("key", exact=True).input_value() == "3"
    score = untrained(**SEED)["encoder.0.self.scores"][0, 6, 3].item()
    assert agrees(lab.stage.locator(".formula strong").inner_text(), score)


def test_layer_and_head_chosen_in_one_view_hold_in_the_others(lab: Lab) -> None:
    lab.untrained(view="numbers", **SEED)
    lab.choose("layer", 1)
    lab.choose("head", 2)
    for view in ("head", "lines"):
        lab.choose("view", view)
        assert (lab.chosen("layer"), lab.chosen("head")) == (["1"], ["2"])
    lab.choose("view", "head")
    lab.hover_cell(1, 1)
    lab.assert_reads(untrained(**SEED), "encoder.1.self", 2, 1, 1)


def test_the_choice_survives_another_sentence_and_another_model(lab: Lab) -> None:
    lab.untrained(view="head", layer=1, head=3, **SEED)
    text = TEXT.replace("cat", "dog")
    with lab.redrawn():
        lab.type(text)
    assert (lab.chosen("view"), lab.chosen("layer"), lab.chosen("head")) == (["head"], ["1"], ["3"])
    lab.hover_cell(1, 5)
    lab.assert_reads(untrained(text, **SEED), "encoder.1.self", 3, 1, 5)


def test_views_heads_layers_and_hovering_ask_the_server_nothing(lab: Lab) -> None:
    lab.untrained(**SEED)
    with lab.quiet():
        lab.choose("sort by", "entropy")
        lab.choose("scale", "row")
        lab.stage.locator('.grid-buttons button[data-layer="1"][data-head="3"]').click()
        for view in VIEWS:
            lab.choose("view", view)
        lab.choose("view", "head")
        lab.choose("layer", 0)
        lab.choose("head", 1)
        lab.choose("show", "scores")
        lab.hover_cell(3, 3)
        lab.stage.locator(".head-board").press("ArrowRight")
        lab.choose("view", "lines")
        lab.choose("head", 2, 3)
        lab.choose("layer", 1)
        for side in ("queries", "keys"):
            lab.stage.locator(f'.tokens.{side} button[data-at="4"]').hover()
            lab.stage.locator(f'.tokens.{side} button[data-at="4"]').click()
        lab.choose("view", "numbers")
        lab.stage.get_by_label("key", exact=True).select_option("2")


def test_the_translators_stacks_and_steps_ask_the_server_nothing(lab: Lab) -> None:
    lab.open()
    slider = lab.stage.get_by_role("slider", name="Decoding step")
    with lab.quiet():
        for stack in ("decoder.self", "decoder.cross"):
            lab.choose("stack", stack)
            for view in ("head", "lines"):
                lab.choose("view", view)
                for key in ("Home", "ArrowRight", "ArrowRight", "End"):
                    slider.press(key)
        lab.choose("view", "output")
        slider.press("Home")
    expect(lab.stage.locator(".step output")).to_contain_text("1 of ")


def test_a_long_texts_heads_and_hovering_ask_the_server_nothing_in_grid_and_lines(lab: Lab) -> None:
    lab.untrained(text=" ".join(f"w{at}" for at in range(60)), n_layers=2, n_heads=4)
    with lab.quiet():
        lab.choose("sort by", "distance")
        lab.choose("view", "lines")
        lab.choose("head", 1, 2, 3)
        lab.choose("layer", 1)
        lab.stage.locator('.tokens.queries button[data-at="3"]').hover()


def test_a_control_of_the_model_does_ask_the_server(lab: Lab) -> None:
    """Else the tests above would count nothing."""
    lab.untrained()
    before = len(lab.sent)
    with lab.redrawn():
        lab.page.get_by_role("slider", name="Seed").press("ArrowRight")
    assert len(lab.sent) > before


def test_two_visitors_do_not_see_each_others_state(new_lab: NewLab) -> None:
    one, two = new_lab().untrained(view="head", **SEED), new_lab().untrained(view="head", **SEED)
    with one.redrawn():
        one.type("only for one")
    with two.redrawn():
        two.page.get_by_role("slider", name="Seed").press("ArrowRight")
    one.choose("head", 2)
    two.choose("head", 1)
    for visitor, text, seed, head in [(one, "only for one", 5, 2), (two, TEXT, 6, 1)]:
        expect(visitor.sentence).to_have_value(text)
        visitor.hover_cell(2, 1)
        visitor.assert_reads(untrained(text, seed=seed), "encoder.0.self", head, 2, 1)
