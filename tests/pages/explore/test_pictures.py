"""What the view over a picture is drawn from, and pictures of one's own: kept, read again, or refused."""

import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from streamlit.testing.v1 import AppTest

from attention_lab.models.runs.owners import Visitor
from attention_lab.models.zoo.hub.photos import drawn_picture
from attention_lab.models.zoo.hub.pictures import PictureModel
from attention_lab.pages.explore import own_files, panel, takeaway
from attention_lab.pages.explore import subject as subject_module
from attention_lab.pages.explore.payload import Opened, PictureWeights, build
from attention_lab.pages.explore.state import Inputs
from attention_lab.pages.explore.subject import Subject, subject_of
from attention_lab.pages.shared import visitors
from attention_lab.pages.shared.training import uploads
from attention_lab.viz_core import rollout
from tests.limits import SetLimits
from tests.models.zoo.hub import families
from tests.pages.explore.answer_header import linked
from tests.pages.explore.answer_header import shown as shows
from tests.pages.explore.explore_page import dialog, opened, said, shown
from tests.pages.explore.test_payload import array_of, unpack


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ATTENTION_LAB_RUNS", str(tmp_path))
    return tmp_path


@pytest.fixture(scope="module")
def vit(tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"hf:{families.save_picture_model('vit', tmp_path_factory.mktemp('vit'))}"


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A model whose sequence is longer than the window of numbers that is sent."""
    prepared = families.PREPARED | {"size": {"height": 96, "width": 96}}
    folder = tmp_path_factory.mktemp("wide")
    return f"hf:{families.save_picture_model('vit', folder, prepared, image_size=96)}"


def sent(subject: Subject, at: Opened) -> tuple[dict[str, Any], memoryview]:
    return unpack(build(subject, at).packed.message(g=1))


def test_whole_rows_of_every_head_their_mean_and_rolled_out_are_sent(vit: str) -> None:
    subject = subject_of(Inputs(model=vit, text="2"))
    trace = subject.run(None)
    header, blocks = sent(subject, Opened())
    patterns = [trace[f"encoder.{layer}.self.pattern"].numpy() for layer in range(2)]
    for layer, block in enumerate(header["sight"]["layers"]):
        assert (block["layer"], block["heads"]) == (layer, [0, 1, 2, 3])
        weights = array_of(block["weights"], blocks)
        np.testing.assert_allclose(weights[0], patterns[layer].mean(0), rtol=1e-3)
        np.testing.assert_allclose(weights[1:], patterns[layer], rtol=1e-3)
    rolled = rollout(np.stack(patterns))[-1]
    np.testing.assert_allclose(array_of(header["sight"]["rolled"], blocks), rolled, rtol=1e-3)


def test_of_a_long_sequence_the_open_head_s_rows_come_whole_though_its_numbers_do_not(wide: str) -> None:
    subject = subject_of(Inputs(model=wide, text="1"))
    header, blocks = sent(subject, Opened(layer=1, head=2))
    assert [(block["layer"], block["nk"]) for block in header["exact"]] == [(1, 128)]
    other, block = header["sight"]["layers"]
    assert (other["layer"], other["heads"]) == (0, [])
    assert (block["layer"], block["heads"]) == (1, [0, 1, 2, 3])
    trace = subject.run(None)
    pattern = trace["encoder.1.self.pattern"].numpy()
    assert pattern.shape == (4, 145, 145)
    np.testing.assert_allclose(array_of(block["weights"], blocks)[1:], pattern, rtol=1e-3)
    mean = trace["encoder.0.self.pattern"].numpy().mean(0)
    np.testing.assert_allclose(array_of(other["weights"], blocks)[0], mean, rtol=1e-3)


def test_a_picture_in_colour_comes_as_bytes_with_its_places_and_classes(vit: str) -> None:
    subject = subject_of(Inputs(model=vit, text="1"))
    header, blocks = sent(subject, Opened())
    (picture,) = header["pictures"]
    read = subject.reading.picture
    assert read is not None
    np.testing.assert_array_equal(array_of(picture["levels"], blocks), np.round(255 * read.numpy()))
    assert header["places"] == [[1 + 4 * row + column for column in range(4)] for row in range(4)]
    assert header["pooled"] == "The whole picture is read as"
    chances = subject.run(None)["logits"][0].double().softmax(-1)
    (step,) = header["steps"]
    assert step["top"][0] == [f"LABEL_{chances.argmax()}", pytest.approx(chances.max().item(), rel=1e-5)]


def test_a_text_has_no_such_view() -> None:
    header, _ = sent(subject_of(Inputs(model="untrained", text="a b")), Opened())
    assert "sight" not in header and "places" not in header


def test_where_all_have_no_room_only_the_open_head_and_its_layer_s_mean_are_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("attention_lab.pages.explore.payload.PICTURE_BYTES", 30)
    sight = PictureWeights({1: [1]}, n_layers=2)
    hears = sight.beside(lambda address, tensor: None)
    for layer in range(2):
        hears(f"encoder.{layer}.self.pattern", torch.full((2, 3, 3), 1 / 3))
    (block,) = sight.message()["layers"]
    assert (block["layer"], block["heads"], block["weights"].shape) == (1, [1], (2, 3, 3))


def test_a_picture_costs_what_all_its_patches_do(vit: str) -> None:
    assert subject_module.operations_of(Inputs(model=vit, text="1")) == subject_module.operations_of(
        Inputs(model=vit, text="f" * 64 + ".png")
    )
    assert subject_module.operations_of(Inputs(model=vit, text="1")) > 0


def test_a_picture_that_is_too_much_is_refused_with_what_would_help(
    wide: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subject_module, "SHOWN_TOKENS", 100)
    with pytest.raises(ValueError, match=r"The picture has 145 tokens; at most 100 are shown here") as error:
        subject_of(Inputs(model=wide, text="1"))
    assert str(error.value).endswith("; open a model with larger patches, or of smaller pictures.")


def test_a_picture_that_costs_too_much_is_not_told_to_have_fewer_tokens(
    vit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PictureModel, "operations", lambda model, lengths: 10**15 * max(lengths))
    with pytest.raises(ValueError, match=r"This takes 17,000,000 billion operations") as error:
        subject_of(Inputs(model=vit, text="2"))
    assert str(error.value).endswith("; take a model with larger patches, or of smaller pictures.")


def png(picture: np.ndarray | None = None) -> bytes:
    file = io.BytesIO()
    Image.fromarray(drawn_picture(3) if picture is None else picture).save(file, "PNG")
    return file.getvalue()


def handed_in(page: AppTest, name: str, content: bytes) -> AppTest:
    page = dialog(page, "picture")
    page.file_uploader(key=own_files.PICTURES.key).set_value((name, content, "image/png")).run()
    assert not page.exception
    return page


def test_a_picture_that_is_handed_in_is_read_listed_and_deleted(vit: str, runs: Path) -> None:
    page = opened(model=vit)
    assert shown(page) == (vit, "1")
    page = handed_in(page, "me.JPG", png())
    model, text = shown(page)
    assert said(page) == [] and model == vit
    assert re.fullmatch(r"[0-9a-f]{64}\.png", text)  # by its content, whatever it is called
    assert [path.name for path in (runs / "uploads" / "person").iterdir()] == [text]
    assert [upload.name for upload in uploads.mine("picture")] == [text]
    assert uploads.mine() == []  # it is nothing to train on
    dialog(page, "picture").button(key=f"{own_files.PICTURES.key}.{text}.delete").click().run()
    assert shown(page) == (vit, "1") and uploads.mine("picture") == []


def test_what_is_no_picture_is_refused_and_the_picture_before_it_stays(vit: str, runs: Path) -> None:
    page = handed_in(opened(model=vit, text="2"), "notes.png", b"some notes")
    assert said(page) == [
        "'notes.png' is no known picture; hand in a PNG, JPEG or WebP file; the previous "
        "picture stays loaded."
    ]
    assert shown(page) == (vit, "2")
    assert not (runs / "uploads").exists()


def test_a_server_for_looking_only_takes_no_picture(vit: str, set_limits: SetLimits) -> None:
    set_limits(read_only=True)
    assert not dialog(opened(model=vit), "picture").file_uploader


def test_another_visitor_s_picture_is_not_shown(
    vit: str, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = uploads.keep(png(), "_.png")
    assert shows(linked(model=vit, text=name)) == (vit, name)
    monkeypatch.setattr(visitors, "visitor", lambda: Visitor("another"))
    opened = linked(model=vit, text=name)
    assert shows(opened) == (vit, "1")
    (sentence,) = opened["problems"]
    assert "is not the number of a drawn picture, or the name of one that you handed in" in sentence


def test_the_button_beside_the_story_shows_the_next_drawn_picture(vit: str) -> None:
    assert panel.swap_of(Inputs(model=vit, text="1")) == ("next example", "2")
    assert panel.swap_of(Inputs(model=vit, text="3")) == ("next example", "1")


@pytest.mark.parametrize("seen_through", ["head", "mean", "rolled"])
def test_the_view_is_taken_away_as_a_figure_with_its_lines_of_code(vit: str, seen_through: str) -> None:
    act = {"view": "picture", "sight": seen_through, "layer": 1, "head": 3, "heads": [3], "query": 6}
    taken_away = takeaway.take_away(Inputs(model=vit, text="2"), act, dark=False)
    trace = subject_of(Inputs(model=vit, text="2")).run(None)
    patterns = np.stack([trace[f"encoder.{layer}.self.pattern"].numpy() for layer in range(2)])
    row, said_so = {
        "head": (patterns[1, 3, 6], "layer 1 head 3"),
        "mean": (patterns[1, :, 6].mean(0), "layer 1, mean of its 4 heads"),
        "rolled": (rollout(patterns)[-1, 6], "rolled out through all layers"),
    }[seen_through]
    image, heat = taken_away.figure.data
    np.testing.assert_allclose(heat.z, row[1:].reshape(4, 4), rtol=1e-5)
    assert taken_away.figure.layout.title.text == f"Where “patch 2,2” looks: {said_so}"
    assert image.z.shape == (32, 32, 3)
    (box,) = taken_away.figure.layout.shapes
    assert (box.x0, box.x1, box.y0, box.y1) == (7.5, 15.5, 7.5, 15.5)
    assert "lm.trace('2')" in taken_away.code
