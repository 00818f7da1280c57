"""Edits by hand: a head switched off, a cell set, a line written; the pass before, after, and the effect."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from attention_lab.models import load_model
from attention_lab.models.interventions.head_paths import path
from attention_lab.viz_core import theme
from tests.browser.explore_page import ExplorePage, agrees, read_number, settle

TEXT = "the animal did not cross the street because it was too tired"
HEAD = {"view": "head", "stack": "encoder.self", "layer": 1, "head": 3, "query": 9, "key": 2}
SET = "encoder.1.self.pattern heads 3 at 9: set 2=0.25 renormalised"


def shown_weight(explore: ExplorePage) -> float:
    return read_number(explore.terms()["weight"])


def test_a_head_is_switched_off_its_effect_opens_and_it_is_switched_on_again(explore: ExplorePage) -> None:
    explore.open(view="grid")
    switch = explore.stage.locator('.overview [data-place="encoder.self 0 2"]')
    with explore.redrawn():
        switch.click(modifiers=["Alt"])
    assert explore.chosen("view") == ["effect"]
    off = "encoder.0.self heads 2: zero"
    expect(explore.stage.locator(".edit-lines button")).to_have_text(f"{off} ×")
    assert "edits=" in explore.page.url
    moved = load_model("translator")
    reading = moved.read(TEXT)
    before, after = moved.trace(reading), moved.trace(reading, edits=[off])
    with explore.quiet():
        explore.choose("view", "grid")
        explore.choose("see", "difference")
        explore.choose("view", "effect")
    p, q = (trace["logits"].double().softmax(-1) for trace in (before, after))
    kl = (p * (p / q).log()).sum(-1)
    cells = explore.stage.locator(".positions tbody tr").first.locator("td.weight")
    assert agrees(cells.inner_text(), float(kl[0]))
    assert f"step={int(kl.argmax())}&" in explore.page.url + "&"  # where the effect is largest
    left = [trace["encoder.1.resid_post"].double() for trace in (before, after)]
    far = (left[1] - left[0]).norm(dim=-1) / left[0].norm(dim=-1)
    rows = explore.stage.locator(".stream").first.locator("tbody tr")
    expect(rows.locator("th")).to_have_text(["entering", "after layer 0", "after layer 1"])
    seen = rows.nth(2).locator("td").all_inner_texts()
    assert len(seen) == len(far) and all(map(agrees, seen, far.tolist()))
    expect(explore.stage.locator(".translation")).to_contain_text("without the edits →")
    explore.choose("view", "grid")
    with explore.redrawn():
        switch.click(modifiers=["Alt"])
    expect(explore.stage.locator(".edit-lines")).to_be_hidden()
    assert explore.chosen("view") == ["grid"]
    assert "edits=" not in explore.page.url


def test_a_cell_is_set_by_its_slider_and_the_row_renormalised(explore: ExplorePage) -> None:
    explore.open(**HEAD)
    slider = explore.stage.get_by_label("Set the weight of the marked cell")
    with explore.redrawn():
        slider.evaluate(
            "(slider) => { slider.value = '0.25'; slider.dispatchEvent(new Event('input'));"
            " slider.dispatchEvent(new Event('change')); }"
        )
    expect(explore.stage.locator(".edit-lines button")).to_have_text(f"{SET} ×")
    model = load_model("translator")
    reading = model.read(TEXT)
    before = model.trace(reading)["encoder.1.self.pattern"][3, 9]
    after = model.trace(reading, edits=[SET])["encoder.1.self.pattern"][3, 9]
    assert float(after[2]) == pytest.approx(0.25) and float(after.sum()) == pytest.approx(1)
    assert shown_weight(explore) == 0.25
    with explore.quiet():
        explore.choose("see", "before")
    assert agrees(explore.terms()["weight"], float(before[2]))
    explore.choose("see", "difference")
    terms = explore.terms()
    assert agrees(terms["change"], float(after[2] - before[2]))
    assert agrees(terms["before"], float(before[2])) and agrees(terms["after"], 0.25)


def test_a_row_is_painted_by_a_drag_by_keys_and_all_at_once(explore: ExplorePage) -> None:
    explore.open(**HEAD)
    model = load_model("translator")
    reading = model.read(TEXT)
    line = explore.stage.locator(".edit-lines span")

    def agrees_with_its_line() -> None:
        row = model.trace(reading, edits=[line.inner_text()])["encoder.1.self.pattern"][3, 9]
        bars = explore.stage.locator(".row-strip [role=slider]")
        seen = [float(bar.get_attribute("aria-valuenow") or "nan") for bar in bars.all()]
        assert seen == pytest.approx(row.tolist(), abs=6e-4)

    strip = explore.stage.get_by_role("group", name="Weights of the row")
    explore.wait_for_heatmap()  # until then, what stands beside it may still move
    settle(explore.page)
    box = strip.bounding_box()
    assert box is not None
    with explore.redrawn():
        explore.page.mouse.move(box["x"] + 4, box["y"] + 0.8 * box["height"])
        explore.page.mouse.down()
        explore.page.mouse.move(box["x"] + box["width"] / 3, box["y"] + 0.5 * box["height"], steps=3)
        explore.page.mouse.up()
    expect(line).to_contain_text("encoder.1.self.pattern heads 3 at 9: set 0=0.")
    expect(line).to_contain_text("renormalised")
    expect(explore.stage.get_by_role("status")).to_contain_text(["it still writes “il”"])
    agrees_with_its_line()
    with explore.redrawn():
        explore.stage.get_by_role("button", name="undo", exact=True).click()
    expect(line).to_have_count(0)
    first = explore.stage.get_by_role("slider", name="Weight of “the”").first
    with explore.redrawn():
        first.press("ArrowUp")
    agrees_with_its_line()
    for name, change in {"only this key": "only 2", "alike": "uniform"}.items():
        with explore.redrawn():
            explore.stage.get_by_role("button", name=name, exact=True).click()
        expect(line).to_have_text(f"encoder.1.self.pattern heads 3 at 9: {change}")
        agrees_with_its_line()


def test_a_link_brings_its_edits_and_what_does_not_fit_is_refused(explore: ExplorePage) -> None:
    explore.open(**HEAD, edits=SET)
    assert shown_weight(explore) == 0.25
    explore.choose("edit", "write")
    field = explore.stage.locator(".edit-bar input")
    field.fill("encoder.0.self heads 9: zero")
    field.press("Enter")
    expect(explore.problem).to_contain_text("encoder.0.self heads 9: head 9 is not there; give 0 to 3")
    assert shown_weight(explore) == 0.25  # what was there stays
    expect(explore.stage.locator(".edit-lines button")).to_have_count(1)
    with explore.redrawn():
        explore.stage.get_by_role("button", name="undo all").click()
    expect(explore.problem).to_be_hidden()
    assert shown_weight(explore) > 0.9
    explore.trained("shakespeare", edits=SET)
    expect(explore.problem).to_contain_text("encoder")


def test_the_first_page_asks_what_the_pronoun_would_be_without_its_heads(explore: ExplorePage) -> None:
    explore.open()
    explore.stage.get_by_role("button", name="and without these 4 heads?").click()
    answers = explore.stage.locator(".answers")
    expect(answers.locator("tr").nth(1)).to_contain_text("parce qu'elle était trop fatiguée")
    expect(answers.locator("tr").nth(0)).to_contain_text("parce qu'il était trop fatigué")
    expect(explore.stage.locator(".edit-lines button")).to_have_text("encoder.1.self heads 0,1,2,3: zero ×")
    expect(explore.stage.locator(".positions .chosen")).to_contain_text("il → elle")


def test_a_sweep_shows_what_every_head_alone_does_and_opens_one(explore: ExplorePage) -> None:
    explore.open(view="sweep", step=10)
    view = explore.stage.locator(".sweep-view")
    cells = view.locator("table").first.locator("td button")
    expect(cells).to_have_count(8)
    model = load_model("translator")
    reading = model.read(TEXT)
    plain = model.trace(reading)["logits"][10]
    best, second = plain.topk(2).indices.tolist()
    off = model.trace(reading, edits="encoder.1.self heads 3: zero")["logits"][10]
    change = float(off[best] - off[second] - plain[best] + plain[second])
    assert agrees(cells.nth(7).get_attribute("title").split(":")[0], change)
    painted = "(all) => all.map((td) => [td.textContent, td.style.backgroundColor])"
    seen = view.locator(".channel").evaluate_all(painted)
    most = max(abs(read_number(text)) for text, _ in seen if text != "≈0")
    table = theme.lookup_table("diverging").astype(int)
    for text, colour in seen:  # one scale for all tables
        level = table[round(127.5 + 127.5 * read_number(text.replace("≈", "")) / most)]
        assert np.abs(level - [int(part) for part in re.findall(r"\d+", colour)]).max() <= 6, (text, colour)
    explore.choose("effect on", "probability")
    expect(view.locator("h3").first).to_contain_text("(in 10⁻³)")  # not "≈0" in every cell
    p, q = (float(logits.double().softmax(-1)[best]) for logits in (plain, off))
    assert float(cells.nth(7).inner_text().replace("−", "-")) == pytest.approx(1e3 * (q - p), abs=6e-3)
    cells.nth(7).click()
    assert explore.chosen("view") == ["head"] and explore.chosen("head") == ["3"]


def test_parts_of_a_logit_and_a_path_are_in_the_link_and_taken_away(explore: ExplorePage) -> None:
    explore.open(view="sweep", sweep="parts")
    model = load_model("translator")
    reading = model.read(TEXT)
    logits = model.trace(reading)["logits"].double()
    step = int(logits.softmax(-1).amax(-1).argmin())  # where the answer was least sure
    assert f"step={step}&" in explore.page.url + "&"
    best, second = logits[step].topk(2).values.tolist()
    rows = explore.stage.locator(".parts tr")
    assert agrees(rows.first.locator(".weight").inner_text(), best - second)
    with explore.redrawn():
        explore.choose("sweep", "path")
    explore.choose("put", "mean")
    explore.choose("to", "decoder.1.cross heads 2")
    told = explore.stage.locator(".sweep-view .measure")
    expect(told).to_contain_text("0.self heads 0: mean through q and k and v of decoder.1.cross heads 2")
    assert told.evaluate("(told) => told.scrollHeight <= told.clientHeight")  # the heading stands below it
    heard = path(model, reading, "encoder.0.self heads 0: mean", "decoder.1.cross heads 2")["logits"][step]
    name = model.outputs[int(logits[step].argmax())]
    row = explore.stage.locator(".sweep-tables tbody tr").filter(has_text=name).first
    assert agrees(row.locator(".weight").nth(1).inner_text(), float(heard.double().softmax(-1).max()))
    assert "receiver=decoder.1.cross+heads+2" in explore.page.url and "put=mean" in explore.page.url
    explore.page.reload()
    expect(told).to_contain_text("of decoder.1.cross heads 2")
    code = explore.take_away().locator("code").first
    expect(code).to_contain_text("ends = 'encoder.0.self heads 0: mean', 'decoder.1.cross heads 2'")
