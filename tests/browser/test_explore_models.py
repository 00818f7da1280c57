"""Explore of models with a task, shipped ones and runs: what is drawn is what the model computes."""

import io
import json
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect

from attention_lab.models import load_model
from attention_lab.models.zoo.catalogue import offer_of
from attention_lab.models.zoo.engine_model import TrainedModel
from attention_lab.models.zoo.hub.photos import drawn_picture
from attention_lab.viz_core import theme
from tests.browser.explore_page import ExplorePage, agrees
from tests.models.zoo.hub import families
from tests.pages.shared.runs import write_run

ACCENT = theme.palette()["accent"]
SHIPPED = ("digits-classifier", "everyday", "long-memory", "verbs")
"""Pictures, three stacks, a range, a marked query; tests/pages/explore/test_trained.py opens all of them."""


@pytest.fixture
def runs(server_folder: Path) -> Path:
    """Where the server's own training runs live."""
    return server_folder / "runs"


def open_run(
    explore: ExplorePage, runs: Path, task: str, **params: object
) -> tuple[ExplorePage, TrainedModel]:
    name = f"{task}-explored"
    if not (runs / name).exists():
        write_run(runs, task, name)
    return explore.trained(f"run:{name}", **params), load_model(runs / name)


def top(explore: ExplorePage) -> list[tuple[str, str]]:
    rows = explore.stage.locator(".next tbody tr").all()
    return [(row.locator("th").inner_text(), row.locator(".weight").inner_text()) for row in rows]


def views(explore: ExplorePage) -> list[str]:
    """Those that are not behind More."""
    buttons = explore.stage.locator(".top > .views button").all()
    return [button.get_attribute("data-value") or "" for button in buttons]


@pytest.mark.parametrize("model", SHIPPED)
def test_a_shipped_model_opens_with_its_example_and_its_link_shows_the_same(
    explore: ExplorePage, model: str
) -> None:
    offer = offer_of(model)
    assert offer is not None
    explore.trained(model)
    expect(explore.problem).to_be_hidden()
    heads = offer.sizes["n_layers"] * offer.sizes["n_heads"]
    if "view" not in offer.showcase:
        expect(explore.stage.locator(".grid-buttons button")).to_have_count(heads)
    address = explore.page.url
    explore.page.goto("about:blank")
    explore.page.goto(address)
    explore.stage.wait_for()
    expect(explore.page).to_have_url(address)


def test_an_example_opens_on_the_head_and_the_token_that_it_tells_of(explore: ExplorePage) -> None:
    explore.trained("shakespeare")
    expect(explore.sentence).to_have_attribute("rows", "2")
    notice = explore.stage.locator(".notice")
    expect(notice).to_contain_text(
        "To write “z” after “i”, it looks at “C”: 0.989 of its attention in layer 1"
    )
    with explore.redrawn():
        explore.stage.get_by_role("button", name="next example").click()
    expect(explore.stage.locator(".translation")).to_contain_text("layer 2 head 0 looks at where the line")
    expect(notice).to_contain_text(re.compile(r"“r” looks at “.”: 0.98\d of its attention in layer 2 head 0"))
    assert (explore.chosen("layer"), explore.chosen("head")) == (["2"], ["0"])
    assert explore.terms()["key"].endswith("(6)")  # the end of the line before
    with explore.redrawn():
        explore.sentence.fill("To be")
        explore.sentence.press("Control+Enter")
    expect(notice).to_contain_text("“e” looks at")  # a text of one's own is read to its end


def test_a_decoders_rows_appear_with_its_steps(explore: ExplorePage, runs: Path) -> None:
    explore, lm = open_run(explore, runs, "induction", text="abcdabcd", view="output")
    logits = lm.trace("abcdabcd")["logits"].double().softmax(-1)
    button = explore.stage.locator('.steps button[data-step="5"]')
    button.click()
    best = logits[5].sort(descending=True)
    assert top(explore)[0][0] == lm.outputs[int(best.indices[0])]
    assert agrees(top(explore)[0][1], best.values[0].item())
    assert explore.stage.locator(".next h3").inner_text() == "Step 6: after “b” comes"
    assert explore.stage.locator(".steps button").all_inner_texts() == [*"bcdabcd", "?"]


def test_a_pooled_answer_has_class_probabilities_and_no_steps(explore: ExplorePage, runs: Path) -> None:
    explore, lm = open_run(explore, runs, "digits-classifier", text="3", view="output")
    best = lm.trace("3")["logits"][0].double().softmax(-1).sort(descending=True)
    assert [name for name, _ in top(explore)] == [str(int(at)) for at in best.indices]
    assert all(agrees(shown, p.item()) for (_, shown), p in zip(top(explore), best.values, strict=True))
    expect(explore.stage.locator(".steps")).to_be_hidden()
    expect(explore.stage.locator(".step")).to_be_hidden()
    expect(explore.stage.locator(".pictures figcaption")).to_have_text(["read", "where “[CLS]” looks"])
    explore.choose("view", "lines")  # its answer stands above every view
    expect(explore.stage.locator(".translation")).to_contain_text(
        f"→ {int(best.indices[0])} {best.values[0]:.3f}, {int(best.indices[1])} "
    )


def test_an_autoencoder_shows_both_pictures_and_no_output_view(explore: ExplorePage, runs: Path) -> None:
    explore, lm = open_run(explore, runs, "digits-autoencoder", text="2")
    assert views(explore) == ["grid", "head", "lines", "numbers", "picture"]
    expect(explore.stage.locator(".pictures figcaption")).to_have_text(
        ["read", "rebuilt", "where “row 1” looks"]
    )
    picture = lm.read("2").picture
    assert picture is not None
    pixels = explore.pixels('.pictures canvas[aria-label="read"]')
    side = pixels.shape[0] / 8
    for row, column in [(0, 3), (3, 4), (7, 5)]:
        shade = pixels[int((row + 0.5) * side), int((column + 0.5) * side), 0]
        assert abs(shade - 255 * picture[row, column].item()) <= 1
    explore.choose("view", "lines")
    with explore.redrawn():
        explore.stage.get_by_role("button", name="next picture").click()
    expect(explore.sentence).to_have_value("3")


def test_a_click_masks_a_word_and_its_candidates_are_the_model_s(explore: ExplorePage) -> None:
    text = "the animal did not cross the street because it was too tired"
    explore.trained("masked", text=text, view="output")
    with explore.redrawn():
        explore.stage.get_by_role("group", name="Press a word").get_by_role("button", name="street").click()
    masked = text.replace("street", "[MASK]")
    expect(explore.sentence).to_have_value(masked)
    lm = load_model("masked")
    at = lm.read(masked).tokens["encoder"].index("[MASK]")
    explore.page.get_by_role("group", name="Steps").get_by_role("button", name="[MASK]").click()
    best = lm.trace(masked)["logits"][at].argmax()
    assert top(explore)[0][0] == lm.outputs[int(best)]


def hand_in(explore: ExplorePage, name: str, content: bytes) -> None:
    explore.side.get_by_role("button", name="another model…").click()
    file = {"name": name, "mimeType": "application/octet-stream", "buffer": content}
    explore.page.locator("input[type=file]").set_input_files([file])


def test_attention_of_one_s_own_is_handed_in_seen_in_every_view_and_there_after_a_reload(
    explore: ExplorePage,
) -> None:
    weights = np.array([[[[0.125, 0.625, 0.25], [1, 0, 0]], [[0, 0.5, 0.5], [0.375, 0.625, 0]]]])
    tokens = {"query_tokens": ["der", "Hund"], "key_tokens": ["the", "old", "dog"]}
    explore.trained("induction")
    with explore.redrawn():
        hand_in(explore, "mine.json", json.dumps({"attention": weights.tolist(), **tokens}).encode())
    explore.page.keyboard.press("Escape")
    expect(explore.stage.locator(".grid-buttons button")).to_have_count(2)
    assert views(explore) == ["grid", "head", "lines"]  # nothing but patterns
    explore.choose("view", "head")
    explore.choose("head", 1)
    assert (explore.names_beside("x"), explore.names_beside("y")) == ([*tokens.values()][1], ["der", "Hund"])
    explore.hover_cell(1, 1)
    assert explore.terms() == {"query": "Hund (1)", "key": "old (1)", "weight": "0.625"}
    address = explore.page.url
    explore.page.reload()
    explore.stage.wait_for()
    explore.hover_cell(0, 2)
    assert explore.terms() == {"query": "der (0)", "key": "dog (2)", "weight": "0.500"}
    explore.choose("view", "lines")
    expect(explore.stage.locator(".lines-board")).to_be_visible()
    hand_in(explore, "wrong.json", b"[[0.5, 0.6], [1]]")
    expect(explore.refused_in_dialog).to_contain_text("has lists of different lengths or no numbers")
    expect(explore.refused_in_dialog).to_contain_text("the previous model stays loaded")
    assert explore.page.url.split("&")[0] == address.split("&")[0]


def colours_of_parts(explore: ExplorePage, rows: int, columns: int) -> np.ndarray:
    """uint8 [row, column, rgba] in every part of a picture, 8 x 8 pixels each, one behind its middle."""
    pixels = explore.pixels(".picture-board canvas")
    height, width = pixels.shape[:2]
    at = [((np.arange(n) + 4.5 / 8) * size / n).astype(int) for n, size in ((rows, height), (columns, width))]
    return pixels[np.ix_(*at)].astype(int)


def test_a_picture_is_asked_from_where_it_is_pressed_and_one_of_one_s_own_is_read(
    explore: ExplorePage, tmp_path: Path
) -> None:
    name = f"hf:{families.save_picture_model('vit', tmp_path)}"
    lm = load_model(name)
    explore.trained(name)
    assert views(explore)[-2:] == ["picture", "output"] and explore.chosen("view") == ["picture"]
    expect(explore.stage.get_by_role("heading", name="The whole picture is read as")).to_be_visible()
    best = lm.outputs[int(lm.trace("1")["logits"][0].argmax())]
    assert top(explore)[0][0] == best
    box = explore.stage.locator(".picture-board canvas").bounding_box()
    assert box is not None
    with explore.quiet():  # patch 3,2: of no picture anything is asked of the server again
        explore.page.mouse.click(box["x"] + 1.5 / 4 * box["width"], box["y"] + 2.5 / 4 * box["height"])
        explore.choose("layer", 1)
        explore.choose("head", 2)
    pattern = lm.trace("1")["encoder.1.self.pattern"]
    heaviest = int(pattern[2, 10].argmax())
    explore.page.mouse.move(0, 0)
    terms = explore.terms()
    assert terms["query"] == "patch 3,2 (10)" and terms["key"].endswith(f"({heaviest})")
    assert agrees(terms["weight"], pattern[2, 10].max().item())
    with explore.quiet():
        explore.choose("look through", "mean")
        explore.stage.get_by_role("button", name="[CLS]").click()
    mean = pattern[:, 0].mean(0)[1:].reshape(4, 4).numpy()
    picture = lm.read("1").picture
    assert picture is not None
    middles = picture.numpy()[4::8, 4::8]
    grey = 255 * middles @ np.array([0.3, 0.59, 0.11])  # as canvases weigh colours
    accent = np.array([int(ACCENT[at : at + 2], 16) for at in (1, 3, 5)])
    share = 0.85 * mean / mean.max()
    expected = share[..., None] * accent + (1 - share[..., None]) * grey[..., None]
    np.testing.assert_allclose(colours_of_parts(explore, 4, 4)[..., :3], expected, atol=6)
    photo = io.BytesIO()
    Image.fromarray(drawn_picture(3)).save(photo, "JPEG", quality=95)
    explore.stage.get_by_role("button", name="a picture of your own…").click()
    file = {"name": "me.jpg", "mimeType": "image/jpeg", "buffer": photo.getvalue()}
    with explore.redrawn():
        explore.page.locator("input[type=file][accept*=webp]").set_input_files([file])
    explore.page.keyboard.press("Escape")
    assert re.search(r"text=[0-9a-f]{64}\.jpg", explore.page.url)
    expected_best = lm.trace(lm.read_picture(Image.open(photo)))["logits"][0].softmax(0).max().item()
    assert agrees(top(explore)[0][1], expected_best)
    explore.stage.get_by_role("button", name="a picture of your own…").click()
    bad = {"name": "no.png", "mimeType": "image/png", "buffer": b"no picture"}
    explore.page.locator("input[type=file][accept*=webp]").set_input_files([bad])
    expect(explore.refused_in_dialog).to_contain_text("'no.png' is no known picture")
    assert re.search(r"text=[0-9a-f]{64}\.jpg", explore.page.url)
