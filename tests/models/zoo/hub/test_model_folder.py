"""Which models of transformers may be opened, and the sentence for every one that may not."""

from __future__ import annotations

import json
import shutil
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from attention_lab.models import load_model
from attention_lab.models.files import FileError
from attention_lab.models.zoo.catalogue import offer_of
from attention_lab.models.zoo.hub import model_folder as hub
from attention_lab.models.zoo.hub.model_folder import NAME, local_names, open_folder, openable_names
from tests.limits import SetLimits
from tests.models.zoo.hub import families
from tests.models.zoo.hub.families import TEXT


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """The folder of a small GPT-2."""
    return families.save("gpt2", tmp_path / "small-gpt2")


@pytest.mark.parametrize("top", [{}, {"config.json": "{}"}, {"model_index.json": "{}"}])
def test_a_folder_of_models_is_said_to_be_one(saved: Path, top: dict[str, str]) -> None:
    outer = saved.parent / "pipeline"
    for name in ("text", "a second"):
        shutil.copytree(saved, outer / name)
    (outer / "empty").mkdir()
    (outer / "empty" / "config.json").write_text("{}")
    for name, content in top.items():
        (outer / name).write_text(content)
    said = "but holds a second, text; give the folder of one"
    with pytest.raises(FileError, match=said):
        open_folder(f"hf:{outer}")
    assert open_folder(f"hf:{outer}/text").sizes["n_layers"] == 2


def test_a_folder_without_weights_is_not_said_to_be_a_download(saved: Path) -> None:
    (saved / "model.safetensors").unlink()
    with pytest.raises(FileError, match=r"no \.safetensors file,"):
        open_folder(f"hf:{saved}")


@pytest.mark.parametrize("name", ["hf:gpt2", "hf:google/vit-base-patch16-224", "hf:/a/b c", "hf:~/models/x"])
def test_names_of_models(name: str) -> None:
    assert NAME.fullmatch(name)


@pytest.mark.parametrize(
    "name",
    ["gpt2", "hf:", "hf:../x", "hf:a/../b", "hf:a/b/c", "hf:a//b", "hf:/a\x00b", "hf:.hidden", "hf:a b"],
)
def test_what_is_no_name_of_a_model(name: str) -> None:
    assert not NAME.fullmatch(name)


def test_a_model_is_found_by_its_folder_by_a_root_and_in_the_local_cache(
    saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from huggingface_hub import constants

    monkeypatch.setenv("ATTENTION_LAB_MODELS", str(tmp_path))
    cache = tmp_path / "cache"
    snapshot = cache / "models--someone--tiny" / "snapshots" / "abc"
    snapshot.parent.mkdir(parents=True)
    snapshot.symlink_to(saved)
    (cache / "models--someone--tiny" / "refs").mkdir()
    (cache / "models--someone--tiny" / "refs" / "main").write_text("abc")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(cache))
    assert local_names() == ["hf:small-gpt2", "hf:someone/tiny"]
    assert open_folder(f"hf:{saved}").sizes == {
        "kind": "decoder-only", "n_layers": 2, "n_heads": 4, "d_model": 32, "vocab_size": 300, "max_len": 64
    }  # fmt: skip
    assert open_folder("hf:small-gpt2").path == saved
    assert load_model("hf:small-gpt2").trace(TEXT)["decoder.1.self.pattern"].shape == (4, 19, 19)


def test_only_what_can_be_opened_is_offered_and_nobody_is_asked(
    saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from huggingface_hub import constants

    root = tmp_path / "mine"
    shutil.copytree(saved, root / "known")
    for name, lost in (("pickled", "model.safetensors"), ("unnamed", "tokenizer.json")):
        shutil.copytree(saved, root / name, ignore=shutil.ignore_patterns(lost))
    config = json.loads((saved / "config.json").read_text())
    for name, own in (("strange", config | {"model_type": "strange"}), ("listed", [])):
        shutil.copytree(saved, root / name)
        (root / name / "config.json").write_text(json.dumps(own))
    monkeypatch.setenv("ATTENTION_LAB_MODELS", str(root))
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "empty"))
    monkeypatch.setattr(socket.socket, "connect", lambda *_: pytest.fail("the network was asked"))
    assert len(local_names()) == 5
    assert openable_names() == ["hf:known"]


@pytest.mark.parametrize(
    "spelling", ["hf:./mine", "hf:mine", "hf:../here/mine", "mine", Path("./mine"), "hf:mine/"]
)
def test_a_folder_may_be_named_from_where_the_program_runs(
    spelling: str | Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = families.save("gpt2", tmp_path / "here" / "mine")
    monkeypatch.chdir(tmp_path / "here")
    lm = load_model(spelling)
    assert lm.name == f"hf:{folder}" and lm.trace(TEXT)["decoder.1.self.pattern"].shape == (4, 19, 19)
    monkeypatch.chdir(tmp_path)
    assert load_model(lm.name).name == lm.name  # what its code says opens it from anywhere


def test_a_name_that_means_a_folder_and_a_known_model_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    families.save("gpt2", tmp_path / "here" / "tiny")
    families.save("gpt2", tmp_path / "known" / "tiny")
    monkeypatch.setenv("ATTENTION_LAB_MODELS", str(tmp_path / "known"))
    monkeypatch.chdir(tmp_path / "here")
    assert refusal("hf:tiny") == (
        "'hf:tiny' names a downloaded model and a folder here; write 'hf:./tiny' for the folder"
    )
    assert load_model("hf:./tiny").folder.path == tmp_path / "here" / "tiny"
    monkeypatch.chdir(tmp_path)
    assert load_model("hf:tiny").folder.path == tmp_path / "known" / "tiny"
    assert refusal("hf:./absent").startswith("'./absent' is no name of a model; give one like gpt2")
    assert "is no name of a model" in refusal("hf:")


def refusal(name: str) -> str:
    with pytest.raises(FileError) as error:
        load_model(name)
    return str(error.value)


def test_an_unknown_name_and_a_missing_folder(tmp_path: Path) -> None:
    assert "'nobody/nothing' is not on this machine" in refusal("hf:nobody/nothing")
    assert "is no folder on this machine" in refusal(f"hf:{tmp_path / 'absent'}")
    for name in ("-1", "a--b", "a..b", "a/b.git"):  # the hub's own rules forbid these
        assert f"{name!r} is no name of a model" in refusal(f"hf:{name}")
    assert offer_of("hf:nobody/nothing") is None


def _without(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def _pickled(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


def _emptied(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(b"")


def _cut(folder: Path) -> None:
    whole = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(whole[:2000])


def _said(**changes: object) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps(config | changes))

    return change


def _garbled(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_text("{")


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (_without("config.json"), "holds no config.json"),
        (_without("model.safetensors"), "has no .safetensors file"),
        (_pickled, "as pickles alone"),
        (_cut, "could not be loaded"),
        (_garbled("config.json"), "is no JSON"),
        (_without("tokenizer.json"), "has no tokenizer beside its weights"),
        (_garbled("tokenizer.json"), "the tokenizer of small-gpt2 could not be read"),
        (_emptied, "has empty files of weights"),
        (_said(n_layer=10**7), "states n_layer=10,000,000 in its config.json, above the limit 1,000"),
        (_said(n_embd=10**5), "its files hold 37,120; get them again"),
        (_said(n_embd=16), "its config states other sizes; get its files again"),
        (
            _said(vocab_size=10**8),
            "states vocab_size=100,000,000 in its config.json, above the limit 20,000,000",
        ),
        (_said(architectures=["TheirOwnModel"]), "does not have; choose another model"),
        (_said(architectures=["T5ForConditionalGeneration"]), "its files hold 37,120; get them again"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_damaged_folder_is_refused_in_a_sentence(
    saved: Path, spoil: Callable[[Path], None], said: str
) -> None:
    spoil(saved)
    assert said in refusal(f"hf:{saved}")


def test_a_program_in_the_folder_is_never_run(saved: Path, tmp_path: Path) -> None:
    marker = tmp_path / "was-run"
    (saved / "theirs.py").write_text(f"open({str(marker)!r}, 'w').write('x')\n")
    _said(auto_map={"AutoModelForCausalLM": "theirs.Model", "AutoConfig": "theirs.Config"})(saved)
    assert load_model(f"hf:{saved}").kind == "decoder-only"
    _said(model_type="theirs", architectures=["Model"])(saved)
    assert "does not have; choose another model" in refusal(f"hf:{saved}")
    assert not marker.exists()


def test_a_model_that_is_too_large_is_refused_before_it_is_read(
    saved: Path, set_limits: SetLimits, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub.Folder, "n_bytes", property(lambda self: 40 * 10**9))
    set_limits(hub_mb=2_000)
    said = refusal(f"hf:{saved}")
    assert "needs about 52 GB of memory, but at most 2.0 GB" in said
    assert "open a smaller model" in said


def test_a_text_that_is_too_long_is_refused_or_cut(saved: Path) -> None:
    model = load_model(f"hf:{saved}")
    long = " ".join(["the animal"] * 60)
    with pytest.raises(ValueError, match=r"the text has 1\d\d tokens, but this model reads at most 64"):
        model.read(long)
    assert len(model.read(long, long="cut").tokens["decoder"]) == 64
    with pytest.raises(ValueError, match="the text is empty"):
        model.read("  ")
    with pytest.raises(ValueError, match="has no chat template"):
        model.read(TEXT, chat="on")


def test_positions_that_begin_after_the_padding_leave_room_for_fewer_tokens(tmp_path: Path) -> None:
    model = load_model(f"hf:{families.save('roberta', tmp_path)}")
    assert model.max_len == 63  # its padding is token 0, so positions begin at 1
    full = model.read(" ".join(["the"] * 61))
    assert len(full.tokens["encoder"]) == 63
    assert model.trace(full)["encoder.0.self.pattern"].shape == (4, 63, 63)


def test_a_model_of_pictures_without_patches_is_refused_for_what_it_is(saved: Path) -> None:
    (saved / "tokenizer.json").unlink()
    (saved / "preprocessor_config.json").write_text("{}")
    assert refusal(f"hf:{saved}") == (
        "small-gpt2 has no tokenizer, and its config.json states no single patch_size; open a model of "
        "texts, or a ViT, DeiT or DINO model"
    )


def test_a_tokenizer_of_more_tokens_than_the_model_has_is_told_in_a_sentence(saved: Path) -> None:
    small = families.save("gpt2", saved.parent / "fewer", vocab_size=200)
    model = load_model(f"hf:{small}")
    with pytest.raises(ValueError) as error:
        model.trace(TEXT)
    assert str(error.value) == (
        "token 299 is none of the 200 tokens of fewer; get model and tokenizer from the same place"
    )


def test_a_model_of_texts_and_pictures_whose_config_nests_the_text_s_reads_texts(saved: Path) -> None:
    config = {"patch_size": 16, "model_type": "gpt2", "n_layer": 2, "text_config": {"vocab_size": 300}}
    (saved / "config.json").write_text(json.dumps(config))
    assert not open_folder(f"hf:{saved}").reads_pictures
