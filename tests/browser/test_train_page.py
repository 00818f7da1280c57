"""Train in a real browser: settings and what they cost, then a run from its start to its end."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from attention_lab.models import ModelConfig
from attention_lab.models.data.tasks import make_task
from attention_lab.models.engine.transformer import Transformer
from attention_lab.models.training.config import run_config
from tests.browser.explore_page import choose
from tests.browser.training import ENDLESS, TINY, TRAINING_SECONDS, TrainPage, assert_sound

NewPage = Callable[..., Page]


@pytest.fixture
def train(page: Page) -> TrainPage:
    return TrainPage(page)


def parameters(**sizes: int) -> str:
    model = Transformer(run_config(make_task("reverse"), sizes=sizes).model, seed=0)
    return f"{sum(parameter.numel() for parameter in model.parameters()):,}"


def test_sizes_are_counted_before_the_start_and_go_into_the_link(train: TrainPage) -> None:
    train.open(task="reverse", n_layers=1)
    assert train.facts()["parameters"] == parameters(n_layers=1)
    with train.redrawn():
        train.number("d_model").fill("32")
        train.number("d_model").press("Enter")
    train.settle()
    assert train.facts()["parameters"] == parameters(n_layers=1, d_model=32)
    assert train.link() == {"task": "reverse", "n_layers": "1", "d_model": "32"}
    expect(train.page.get_by_text("d_head = 32 / 4 = 8")).to_be_visible()


def test_an_impossible_size_is_told_and_cannot_be_started(train: TrainPage) -> None:
    train.open(task="reverse", n_heads=7)
    expect(train.problem).to_have_text(
        "d_model=64 is not divisible by n_heads=7; try 63 or 70, or set d_head"
    )
    expect(train.button("Start")).to_be_disabled()
    assert_sound(train)


def test_a_preset_sets_the_widgets(train: TrainPage) -> None:
    train.open(task="reverse")
    train.unfold()
    with train.redrawn():
        train.button("ten times the work").click()
    train.settle()
    expect(train.number("d_model")).to_have_value("128")
    steps = 3 * make_task("reverse").training["steps"]
    assert train.link() == {"task": "reverse", "d_model": "128", "steps": str(steps)}


def test_a_run_is_watched_to_its_end_and_shown_again_after_a_reload(
    train: TrainPage, new_page: NewPage
) -> None:
    train.open(**TINY)
    run_id = train.finish()
    facts = train.facts()
    assert facts["step"] == "60" and facts["heads of step"] == "60"
    assert facts["score, held out"].endswith(" %")
    lines = [trace for trace in train.traces("loss") if trace["mode"] == "lines"]
    assert lines and all(sum(y is not None for y in line["y"]) > 1 for line in lines)
    opened = [head for head in ("L0 H0", "L0 H1") if train.panel(head).count() == 2]  # thumbnail, and large
    assert re.search("held out: [0-9.]+ % after 60 of 60 steps", train.notice)
    assert "No head copies yet" in train.notice or f"Head {opened[0]} " in train.notice
    expect(train.page.locator(".typed")).to_contain_text("wanted")
    before = train.shown()
    train.page.reload()
    train.wait()
    assert train.shown() == before
    theirs = TrainPage(new_page()).open(run=run_id)
    assert theirs.facts() == facts
    other = "L0 H1" if opened == ["L0 H0"] else "L0 H0"
    thumbnail = train.board.get_by_role("button", name=f"Show {other} large")
    with train.quiet():
        thumbnail.click()
        expect(thumbnail).to_have_attribute("aria-pressed", "true")
        assert train.panel(other).count() == 2
        thumbnail.press("Enter")
        expect(thumbnail).to_have_attribute("aria-pressed", "false")
    assert_sound(train)


def test_a_running_run_moves_without_rebuilding_is_offered_to_others_and_paused_resumed_and_stopped(
    train: TrainPage, new_page: NewPage
) -> None:
    train.open(**ENDLESS)
    run_id = train.start()
    expect(train.progress).to_contain_text("left", timeout=TRAINING_SECONDS)
    drawing = train.panel("loss").locator(".plot .main-svg").first.element_handle()
    for _ in range(2):
        with train.redrawn():
            pass
    assert drawing.evaluate("(node) => node.isConnected")
    for button, state in (("Pause", "Paused"), ("Resume", "left")):
        train.button(button).click()
        expect(train.progress).to_contain_text(state, timeout=TRAINING_SECONDS)
    theirs = TrainPage(new_page()).open(task="reverse")
    theirs.page.locator(".st-key-train_live").get_by_role("button", name=run_id).click()
    expect(theirs.button("New run")).to_be_visible()
    expect(theirs.page).to_have_url(re.compile(rf"[?&]run={run_id}\b"))
    train.button("Stop").click()
    expect(train.progress).to_contain_text("Stopped", timeout=TRAINING_SECONDS)
    expect(train.button("Stop")).to_have_count(0)
    expect(theirs.progress).to_contain_text("Stopped", timeout=TRAINING_SECONDS)


def test_a_text_that_is_handed_in_is_read(train: TrainPage) -> None:
    text = "to be or not to be, that is the question\n" * 40
    train.open(task="language-model", n_layers=1)
    with train.redrawn():
        file = {"name": "hamlet.txt", "mimeType": "text/plain", "buffer": text.encode()}
        train.page.locator("input[type=file]").first.set_input_files(file)
    train.settle()
    expect(train.page.get_by_text("Reads hamlet.txt")).to_be_visible()
    letters = len(set(text)) + 1  # and one for letters never seen
    sizes = {"n_layers": 1, "vocab_size": letters}
    config = run_config(make_task("language-model"), sizes={"n_layers": 1}).model.to_dict() | sizes
    model = Transformer(ModelConfig.from_dict(config), seed=0)
    counted = sum(parameter.numel() for parameter in model.parameters())
    assert train.facts()["parameters"] == f"{counted:,}"


def test_a_table_of_one_s_own_is_chosen_from_looked_at_and_trained_on(train: TrainPage) -> None:
    said = [("beau", "oui") if at % 2 else ("gris", "non") for at in range(60)]
    rows = [f"{at};l'été était très {how}, {at};{label}" for at, (how, label) in enumerate(said)]
    table = "\r\n".join(["nº;phrase;avis", *rows]).encode("cp1252")
    train.open(**{name: value for name, value in TINY.items() if name != "length"} | {"task": "sentiment"})
    file = {"name": "été <b>.csv", "mimeType": "text/csv", "buffer": table}
    train.page.locator("input[type=file]").first.set_input_files(file)
    expect(train.problem).to_contain_text("'été <b>.csv' is no text in UTF-8 (byte 1)")
    train.settle()
    choose(train.page, "Encoding", "Windows-1252 (Western Europe)")
    expect(train.problem).to_contain_text("'été <b>.csv' has the columns 'nº, phrase, avis'")
    expect(train.button("Start")).to_be_disabled()
    train.settle()
    for label, column in (("Text column", "phrase"), ("Label column", "avis")):
        choose(train.page, label, column)
    panel = train.page.locator(".st-key-train_data")
    expect(panel).to_contain_text("read as Windows-1252", timeout=TRAINING_SECONDS)
    expect(panel).to_contain_text("60 rows, 60 of them used; none is left out")
    expect(panel.locator(".read_examples .cell").first).to_have_text("[CLS]")
    board = panel.locator(".board")
    board.locator(".more > summary").click()
    board.get_by_role("button", name="as a table").click()
    expect(board.locator(".reader")).to_be_visible()
    expect(board.locator(".reader")).to_contain_text("examples of each class")
    train.page.keyboard.press("Escape")
    train.start()
    expect(train.progress).to_contain_text("Finished", timeout=TRAINING_SECONDS)
