"""What is written is read back; every other kind of file is refused with a sentence, and never run."""

import json
import pickle
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import onnx
import onnxruntime
import pytest
import torch
from safetensors.torch import load_file, save_file

from attention_lab.models import files as whole_files
from attention_lab.models.config import ModelConfig
from attention_lab.models.data.word_tokenizer import SPECIALS
from attention_lab.models.engine.trace import Trace
from attention_lab.models.engine.transformer import Transformer
from attention_lab.models.files import FileError, WriteError
from attention_lab.models.zoo import load_model, model_file
from attention_lab.models.zoo.model_file import write_model, write_onnx
from tests.models.zoo.moved import trained

WORDS = [*SPECIALS, "the", "animal", "l'"]
LEARNT = {"words": {"words": WORDS, "english": ["the", "animal"], "french": ["animal", "l'"]}}
CARD = {"task": {"name": "translation", "options": {"length": 32}}, "learnt": LEARNT}
CONFIG = ModelConfig(
    kind="encoder-decoder", n_layers=1, n_heads=2, d_model=8, vocab_size=len(WORDS), max_len=32
)


def learnt(words):
    return {"learnt": {"words": {**LEARNT["words"], "words": words}}}


@pytest.fixture
def folder(tmp_path):
    write_model(tmp_path / "mine", "mine", Transformer(CONFIG, seed=3), CARD)
    return tmp_path / "mine"


def change_card(folder, **changes):
    path = folder / "card.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_a_model_comes_back_as_it_was_written(folder):
    for source in (folder, str(folder), folder / "mine.safetensors"):
        loaded = load_model(source)
        assert loaded.name == "mine"
        assert loaded.config == CONFIG
        assert loaded.task.words.vocabulary == WORDS
        assert not loaded.model.training
        before = Transformer(CONFIG, seed=3).state_dict()
        assert all(torch.equal(value, before[name]) for name, value in loaded.model.state_dict().items())


def test_writing_again_replaces_and_a_failed_writing_leaves_the_old(folder, monkeypatch):
    write_model(folder, "mine", Transformer(CONFIG, seed=4), CARD)
    new = load_model(folder).model.embedding.weight
    assert torch.equal(new, Transformer(CONFIG, seed=4).embedding.weight)
    monkeypatch.setattr(whole_files.os, "fsync", lambda _: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(WriteError, match="disk full; see to the disk"):
        write_model(folder, "mine", Transformer(CONFIG, seed=5), CARD)
    assert torch.equal(load_model(folder).model.embedding.weight, new)
    assert sorted(path.name for path in folder.iterdir()) == ["card.json", "mine.safetensors"]


@pytest.mark.parametrize("cut", [0, 1, 7, 8, 100, -1])
def test_truncated_weights_are_refused(folder, cut):
    path = folder / "mine.safetensors"
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(FileError, match="copy or download it again"):
        load_model(folder)


class Bomb:
    def __reduce__(self):
        return pytest.fail, ("a pickle was run",)


@pytest.mark.parametrize(
    "content",
    [
        pickle.dumps(Bomb()),
        b"hello",
        b"\xff" * 64,
        b"{}",
        (2**62).to_bytes(8, "little") + b"{}",
        b"\x93NUMPY",
    ],
)
def test_other_formats_under_the_name_are_refused(folder, content):
    (folder / "mine.safetensors").write_bytes(content)
    with pytest.raises(FileError, match="is no whole safetensors file"):
        load_model(folder)


def test_other_suffixes_are_never_opened(folder):
    torch.save(Transformer(CONFIG).state_dict(), folder / "mine.pt")
    with pytest.raises(FileError, match=r"ends in '\.pt', but only \.safetensors is read"):
        load_model(folder / "mine.pt")


@pytest.mark.parametrize(
    ("edit", "text"),
    [
        (lambda t: t.pop("encoder.norm.weight"), r"lacks encoder\.norm\.weight"),
        (lambda t: t.update(extra=torch.zeros(2)), "has an unknown extra"),
        (
            lambda t: t.update({"embedding.weight": torch.zeros(9, 4)}),
            r"embedding\.weight \(9, 4\) instead of \(9, 8\)",
        ),
        (
            lambda t: t.update({"embedding.weight": torch.zeros(9, 8).bfloat16()}),
            r"as torch\.bfloat16, not float32 or float16",
        ),
        (lambda t: t.update({"embedding.weight": torch.full((9, 8), torch.nan)}), "are not finite"),
    ],
)
def test_the_weights_of_another_model_are_refused(folder, edit, text):
    tensors = load_file(folder / "mine.safetensors")
    edit(tensors)
    save_file(tensors, folder / "mine.safetensors")
    with pytest.raises(FileError, match=text + r".*choose its own"):
        load_model(folder)


@pytest.mark.parametrize(
    ("card", "text"),
    [
        ("{", "is no JSON"),
        ("{}", "lacks config and task and learnt"),
        ('{"task": {}, "learnt": {}}', "lacks config"),
    ],
)
def test_a_damaged_card_is_refused(folder, card, text):
    (folder / "card.json").write_text(card, encoding="latin-1")
    with pytest.raises(FileError, match=text):
        load_model(folder)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"config": {**CONFIG.to_dict(), "n_heads": "two"}}, "has no valid config: n_heads='two'"),
        ({"config": {**CONFIG.to_dict(), "colour": 1}}, "has no valid config: 'colour' is no field"),
        (learnt(["the"]), "has no valid task: .*lacks the special words"),
        (learnt([*WORDS, "new"]), "task 'translation' needs vocab_size=10, but the model has vocab_"),
        (learnt(None), "has no valid task"),
        ({"learnt": {}}, "has no valid task: words=None is not what was learnt"),
        ({"config": {**CONFIG.to_dict(), "d_model": 16, "d_ff": 64}}, r"\(8, 8\) instead of \(8, 16\)"),
        (
            {"config": {**CONFIG.to_dict(), "d_ff": 10**30}},
            "has no valid config: .* is not within 1 to 1,000,000,000",
        ),
        ({"config": {**CONFIG.to_dict(), "d_ff": 10**9}}, "too large for"),
        ({"config": {**CONFIG.to_dict(), "n_layers": 10**9}}, "too large for .* tensors"),
        ({"config": {**CONFIG.to_dict(), "target_vocab_size": 12}}, "lacks target_embedding.weight"),
    ],
)
def test_a_card_that_fits_no_weights_is_refused(folder, changes, text):
    change_card(folder, **changes)
    with pytest.raises(FileError, match=text):
        load_model(folder)


def test_sizes_are_bounded_before_reading(folder, monkeypatch):
    monkeypatch.setattr(model_file, "MAX_WEIGHTS_BYTES", 1_000)
    with pytest.raises(FileError, match="larger than the 1,000 bytes allowed for weights"):
        load_model(folder)
    monkeypatch.setattr(whole_files, "MAX_JSON_BYTES", 10)
    with pytest.raises(FileError, match="larger than the 10 bytes allowed for JSON"):
        load_model(folder)


@pytest.mark.parametrize(
    "source", ["nowhere", "", "../../etc/passwd", "translator/../../secret", "a\0b", "x" * 5_000, "/dev/null"]
)
def test_names_reach_nothing_that_is_no_model(source):
    with pytest.raises(FileError):
        load_model(source)


def test_a_folder_without_card_or_weights_is_refused(folder, tmp_path):
    shutil.copy(folder / "mine.safetensors", folder / "other.safetensors")
    with pytest.raises(FileError, match=r"holds 2 \.safetensors files; name a folder with one, or the file"):
        load_model(folder)
    (folder / "card.json").unlink()
    with pytest.raises(FileError, match=r"card\.json' does not exist"):
        load_model(folder / "mine.safetensors")
    with pytest.raises(FileError, match=r"holds 0 \.safetensors files"):
        load_model(tmp_path)


@pytest.mark.parametrize("name", ["../mine", "a/b", "", ".", "..", ".hidden"])
def test_a_name_stays_in_its_folder(tmp_path, name):
    with pytest.raises(ValueError, match="names no file; give one without folders"):
        write_model(tmp_path / "in", name, Transformer(CONFIG, seed=0), CARD)
    assert not list(tmp_path.rglob("*.safetensors"))


pytestmark = pytest.mark.usefixtures("unchecked_shapes")

# Models as ONNX files, whose logits onnxruntime computes as we do.

SIZES: dict[str, Any] = {"n_layers": 1, "n_heads": 2, "d_model": 16, "vocab_size": 11, "max_len": 20}
TEXT = ModelConfig(kind="decoder-only", **SIZES)


def test_the_file_computes_the_same_logits(tmp_path: Path) -> None:
    config = replace(TEXT, positions="t5", mask="window", mask_argument="3", normalizer="softmax-plus-one")
    model, path = trained(config), tmp_path / "model.onnx"
    assert write_onnx(model, path) < 1e-5
    read = onnx.load(path)
    onnx.checker.check_model(read)
    said = {each.key: each.value for each in read.metadata_props}
    assert ModelConfig.from_dict(json.loads(said["config"])) == model.config
    assert list(tmp_path.iterdir()) == [path]  # the weights are inside
    model.requires_grad_(False)
    session = onnxruntime.InferenceSession(str(path))
    ids = torch.tensor([[3, 1, 4, 1, 5, 9, 2, 6, 5], [3, 1, 4, 1, 0, 0, 0, 0, 0]])
    found = torch.from_numpy(session.run(["logits"], {"tokens": ids.numpy()})[0])
    torch.testing.assert_close(found[:1], model(ids[:1]), atol=1e-5, rtol=1e-5)
    # as if there were no padding
    torch.testing.assert_close(found[1:, :4], model(ids[1:, :4]), atol=1e-5, rtol=1e-5)
    model.embedding.weight[3] += 1.0
    assert model_file.difference(model, path) > model_file.TOLERANCE  # the check sees other weights


def test_a_traced_file_gives_all_that_a_trace_holds(tmp_path: Path) -> None:
    config = ModelConfig(kind="encoder-decoder", target_vocab_size=7, **SIZES)
    model, path = trained(config), tmp_path / "model.onnx"
    assert write_onnx(model, tmp_path / "plain.onnx") < 1e-5
    assert write_onnx(model, path, traced=True) < 1e-5
    session, ids = onnxruntime.InferenceSession(str(path)), torch.tensor([[3, 1, 4, 1, 5]])
    off = "decoder.0.cross.z"
    heads = torch.ones(3, 2)  # encoder.0.self, decoder.0.self, decoder.0.cross
    heads[2, 1] = 0.0
    keep = torch.tensor([1.0, 0.0])[:, None, None]
    trace = Trace(edit=lambda address, value: value * keep if address == off else value)
    with torch.no_grad():
        model(ids, ids[:, :3], trace=trace)
    arrays = {"source": ids.numpy(), "target": ids[:, :3].numpy(), "heads": heads.numpy()}
    values = dict(zip((each.name for each in session.get_outputs()), session.run(None, arrays), strict=True))
    expected = {address: trace[address] for address in trace}
    expected["encoder.logits"] = model.unembed(trace["encoder.norm"]).detach()
    assert values.keys() == expected.keys()
    for address, value in expected.items():
        torch.testing.assert_close(torch.from_numpy(values[address]), value, atol=1e-5, rtol=1e-5)


def test_only_a_file_that_computes_the_same_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_file, "_draw", lambda model, path: path.write_bytes(b"drawn"))
    monkeypatch.setattr(model_file, "difference", lambda model, path: 0.02)
    with pytest.raises(ValueError, match=r"onnxruntime's logits differ from the model's by 0\.02"):
        write_onnx(trained(TEXT), tmp_path / "other.onnx")
    assert not list(tmp_path.iterdir())


def test_a_model_beyond_the_formats_size_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_file, "MOST_PARAMETERS", 100)
    with pytest.raises(ValueError, match="parameters do not fit one ONNX file; it takes at most 100"):
        write_onnx(trained(TEXT), tmp_path / "model.onnx")
