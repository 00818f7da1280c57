"""Vision transformers of transformers: their numbers beside transformers' own, from the picture on."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from torch import Tensor

from attention_lab.models import load_model
from attention_lab.models.files import FileError
from attention_lab.models.zoo.catalogue import offer_of
from attention_lab.models.zoo.hub.model_folder import open_folder
from attention_lab.models.zoo.hub.photos import NAMES, drawn_picture
from attention_lab.models.zoo.hub.pictures import PictureModel
from tests.models.zoo.hub import families
from tests.models.zoo.hub.families import PICTURES, PREPARED

Opened = Callable[..., PictureModel]
SPECIAL = {
    "vit": ["[CLS]"],
    "deit": ["[CLS]", "[DIST]"],
    "dinov2": ["[CLS]"],
    "dinov2-registers": ["[CLS]"] + 4 * ["[REG]"],
    "beit": ["[CLS]"],
    "ijepa": [],
}


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Opened:
    """Function that gives the model of a family, saved to a folder and loaded from it as a visitor's is."""
    known: dict[str, PictureModel] = {}

    def open_it(family: str) -> PictureModel:
        if family not in known:
            folder = families.save_picture_model(family, tmp_path_factory.mktemp(family))
            known[family] = load_model(f"hf:{folder}")
        return known[family]

    return open_it


@torch.no_grad()
def eager(model: PictureModel, family: str, picture: Any) -> Any:
    """What transformers' own processor and class make of a picture, by eager attention."""
    import transformers

    untouched = getattr(transformers, PICTURES[family][0]).from_pretrained(
        model.folder.path, attn_implementation="eager"
    )
    prepared = transformers.AutoImageProcessor.from_pretrained(model.folder.path)(
        images=picture, return_tensors="pt"
    )
    return untouched.eval()(**prepared, output_attentions=True, output_hidden_states=True)


@pytest.mark.parametrize("family", PICTURES)
def test_patterns_z_and_logits_are_those_of_eager_attention(opened: Opened, family: str) -> None:
    model = opened(family)
    assert isinstance(model, PictureModel) and model.note == ""
    trace, made = model.trace("2"), eager(model, family, drawn_picture(2))
    patterns = [address for address in trace if address.endswith("pattern")]
    assert patterns == ["encoder.0.self.pattern", "encoder.1.self.pattern"]
    for layer, pattern in enumerate(made.attentions):
        at = f"encoder.{layer}.self"
        torch.testing.assert_close(trace[f"{at}.pattern"], pattern[0], atol=1e-5, rtol=0)
        z = trace[f"{at}.z"]
        torch.testing.assert_close(pattern[0] @ trace[f"{at}.v"], z, atol=1e-5, rtol=1e-4)
        heads: Any = model.layout.layers[layer].out["self"] if model.layout else None
        out = heads(z.transpose(0, 1).flatten(1))
        scale = {"dinov2": "layer_scale1.lambda1", "beit": "lambda_1"}.get(family.partition("-")[0])
        if scale is not None:  # it multiplies what is added to the stream
            out = out * untouched_scale(model, layer, scale)
        torch.testing.assert_close(out, trace[f"{at}.out"], atol=1e-5, rtol=1e-4)
        stream = made.hidden_states[layer][0]
        torch.testing.assert_close(trace[f"encoder.{layer}.resid_pre"], stream, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(trace["logits"], made.logits, atol=1e-5, rtol=1e-5)
    assert model.outputs == tuple(f"LABEL_{at}" for at in range(5))


def untouched_scale(model: PictureModel, layer: int, name: str) -> Any:
    assert model.layout is not None
    return model.layout.layers[layer].module.get_parameter(name).detach()


def test_what_positions_add_through_the_mask_is_recorded_as_a_bias(opened: Opened) -> None:
    model = opened("beit")
    trace, about = model.trace("2"), model.attention("encoder.self")
    assert about.has_bias
    for layer in range(2):
        q, k, bias, scores = (trace[f"encoder.{layer}.self.{name}"] for name in ("q", "k", "bias", "scores"))
        made = about.scales[layer] * q @ k.mT
        assert bias.shape == (4, 17, 17) and (scores - made).abs().max() > 0.1
        torch.testing.assert_close(made + bias, scores, atol=1e-5, rtol=1e-5)
    at = "encoder.1.self.bias"
    without = model.trace("2", edit=lambda address, value: 0 * value if address == at else value)
    torch.testing.assert_close(without["encoder.1.self.scores"], made, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("family", PICTURES)
def test_patches_are_tokens_and_each_place_names_the_one_that_reads_it(opened: Opened, family: str) -> None:
    model = opened(family)
    reading, places = model.read("1"), model.places()
    tokens = reading.tokens["encoder"]
    assert tokens[: len(SPECIAL[family])] == SPECIAL[family]
    assert len(tokens) == len(SPECIAL[family]) + 16 == model.max_len
    assert places.shape == (4, 4)
    assert [tokens[at] for at in places[1].tolist()] == [f"patch 2,{column}" for column in range(1, 5)]
    # The streams that change first when a patch's pixels do are those of the token that is said to read it.
    (pixels,) = reading.inputs
    changed = pixels.clone()
    changed[..., 8:16, 16:24] += 1
    before = model.trace(reading)["encoder.0.resid_pre"]
    reading.inputs[0].copy_(changed)
    after = model.trace(reading)["encoder.0.resid_pre"]
    differ = (before - after).abs().amax(-1) > 1e-6
    assert differ.nonzero().flatten().tolist() == [places[1, 2].item()]


def test_the_picture_that_is_shown_is_what_the_network_gets(tmp_path: Path) -> None:
    prepared = PREPARED | {
        "image_processor_type": "BitImageProcessor", "size": {"shortest_edge": 40},
        "do_center_crop": True, "crop_size": {"height": 32, "width": 32},
    }  # fmt: skip
    model = load_model(f"hf:{families.save_picture_model('vit', tmp_path, prepared)}")
    wide = np.zeros((50, 100, 3), np.uint8)
    wide[:, :50], wide[:, 50:] = (255, 0, 102), (0, 51, 204)
    reading = model.read_picture(wide)
    picture = reading.picture
    assert picture.shape == (32, 32, 3)
    torch.testing.assert_close(picture[:, 2], torch.tensor([1, 0, 0.4]).expand(32, 3), atol=1e-6, rtol=0)
    torch.testing.assert_close(picture[:, -3], torch.tensor([0, 0.2, 0.8]).expand(32, 3), atol=1e-6, rtol=0)
    assert list(model.pictures(reading, model.trace(reading))) == ["read"]
    expected = (wide[0, 0] / 255 - PREPARED["image_mean"]) / PREPARED["image_std"]
    torch.testing.assert_close(reading.inputs[0][0, :, 5, 2].double(), Tensor(expected).double())


def test_a_file_is_read_as_its_array_is(opened: Opened, tmp_path: Path) -> None:
    model = opened("vit")
    Image.fromarray(drawn_picture(3)).save(tmp_path / "face.png")
    assert torch.equal(model.read_picture(tmp_path / "face.png").inputs[0], model.read("3").inputs[0])
    with pytest.raises(ValueError, match="is no file; give the path of a picture"):
        model.read_picture(tmp_path / "none.png")


def test_what_a_visitor_handed_in_is_read_by_its_hash_and_no_other_file_ever_is(
    opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATTENTION_LAB_RUNS", str(tmp_path))
    model, name = opened("vit"), f"{'0' * 64}.png"
    folder = tmp_path / "uploads" / "person"
    folder.mkdir(parents=True)
    Image.fromarray(drawn_picture(3)).save(folder / name)
    assert torch.equal(model.read(name).inputs[0], model.read("3").inputs[0])
    assert "read_picture('your-picture.png')" in model.code(name)
    assert model.code("3").endswith("trace = lm.trace('3')")
    (folder / name).unlink()
    with pytest.raises(ValueError, match="no longer here; hand it in again"):
        model.read(name)
    Image.fromarray(drawn_picture(3)).save(tmp_path / "secret.png")
    for path in (str(tmp_path / "secret.png"), "../secret.png", "", "0", "4", "1" * 30):
        with pytest.raises(ValueError, match=r"no picture is named .* or hand one in"):
            model.read(path)


def test_the_drawn_pictures_differ_and_are_named() -> None:
    assert list(NAMES) == ["shapes", "a house", "a face"]
    made = [drawn_picture(number) for number in (1, 2, 3)]
    assert {picture.shape for picture in made} == {(224, 224, 3)}
    assert all(len(np.unique(picture.reshape(-1, 3), axis=0)) > 30 for picture in made)
    assert made[0][70, 60].tolist() == [217, 51, 46]  # the red disc
    with pytest.raises(ValueError, match="number 4; there are 1 to 3"):
        drawn_picture(4)


def test_an_offer_says_that_any_picture_is_read(opened: Opened) -> None:
    offer = offer_of(opened("vit").name)
    assert offer is not None
    assert (offer.reads, offer.text, offer.settings) == ("any picture", "1", ())
    assert [example["label"] for example in offer.examples] == list(NAMES)
    assert offer.sizes["max_len"] == 17


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"size": {"height": 40, "width": 40}}, "cannot read what its .*open another model of pictures"),
        (
            {"size": {"height": 90_000, "width": 9}},
            "asks for pictures of 90,000 pixels a side; at most 2,048",
        ),
        ({"image_processor_type": "NoProcessor"}, "could not be read: .*; get it again"),
        (
            {"image_processor_type": "DINOv3ViTImageProcessorFast"},  # which has no way without torchvision
            "prepares pictures with DINOv3ViTImageProcessorFast, which needs torchvision; install it",
        ),
    ],
)
def test_a_processor_that_does_not_fit_is_refused(
    tmp_path: Path, changes: dict[str, Any], sentence: str
) -> None:
    folder = families.save_picture_model("vit", tmp_path, PREPARED | changes)
    with pytest.raises(FileError, match=sentence):
        load_model(f"hf:{folder}")


def test_a_folder_without_a_processor_is_refused(tmp_path: Path) -> None:
    folder = families.save_picture_model("vit", tmp_path)
    (folder / "preprocessor_config.json").unlink()
    with pytest.raises(FileError, match="save its image processor"):
        open_folder(f"hf:{folder}")


def test_a_model_whose_tokens_are_no_patches_is_refused(tmp_path: Path) -> None:
    import transformers

    config = transformers.ViTMAEConfig(
        hidden_size=32, num_hidden_layers=1, num_attention_heads=4, intermediate_size=48, image_size=32,
        patch_size=8,
    )  # fmt: skip
    transformers.ViTMAEModel(config).save_pretrained(tmp_path)
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(PREPARED))
    with pytest.raises(FileError, match=re.escape("makes 5 tokens of 4 x 4 patches")):
        load_model(f"hf:{tmp_path}")


def test_dinov3_reads_pictures_though_its_base_is_an_encoder_inside(tmp_path: Path) -> None:
    import transformers

    config = transformers.DINOv3ViTConfig(
        hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, image_size=32,
        patch_size=8, num_register_tokens=4,
    )  # fmt: skip
    torch.manual_seed(0)
    net = transformers.DINOv3ViTModel(config).eval()
    net.save_pretrained(tmp_path)
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(PREPARED))
    model = load_model(f"hf:{tmp_path}")
    assert isinstance(model, PictureModel) and model.special == ["[CLS]"] + 4 * ["[REG]"]
    assert (model.rows, model.columns) == (4, 4)
    reading = model.read("2")
    net.set_attn_implementation("eager")
    with torch.no_grad():
        made = net(reading.inputs[0], output_attentions=True).attentions
    trace = model.trace(reading)
    for layer, pattern in enumerate(made):
        assert pattern.shape == (1, 4, 21, 21)
        torch.testing.assert_close(trace[f"encoder.{layer}.self.pattern"], pattern[0], atol=1e-5, rtol=0)
