"""Models of the hub: looked up, fetched, stopped, refused; against a small hub on this machine."""

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from huggingface_hub import constants

from attention_lab.models.byte_units import MB
from attention_lab.models.files import FileError
from attention_lab.models.zoo.hub import download
from attention_lab.models.zoo.hub.download import Coming, UnreachableError, files_of, look_up
from attention_lab.models.zoo.hub.model_folder import local_names, open_folder
from tests.models.zoo.hub import small_hub
from tests.models.zoo.hub.small_hub import SmallHub

CONFIG = {"architectures": ["GPT2LMHeadModel"], "model_type": "gpt2", "n_layer": 2}
WEIGHTS = bytes(3_000_000)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SmallHub]:
    folder = tmp_path / "hub" / "someone" / "tiny"
    (folder / "onnx").mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(CONFIG))
    (folder / "tokenizer.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(WEIGHTS)
    for other in ("pytorch_model.bin", "modeling_own.py", "onnx/model.safetensors", "README.md"):
        (folder / other).write_bytes(b"not fetched")
    with small_hub.serving(tmp_path / "hub") as served:
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
        yield served


class LeftError(Exception):
    """Nobody wants the model any more."""


def fetched(asked: Coming, until: int | None = None) -> list[int]:
    """The bytes that had come again and again; where a number is given, it is left once so many have come."""
    told: list[int] = []

    def tell(n_bytes: int) -> None:
        told.append(n_bytes)
        if until is not None and n_bytes > until:
            raise LeftError

    download.fetch(asked, tell)
    return told


def test_a_model_is_looked_up_with_its_size_licence_and_number_format(hub: SmallHub) -> None:
    found = look_up("hf:someone/tiny")
    assert found.files == {
        "model.safetensors": 3_000_000, "config.json": len(json.dumps(CONFIG)), "tokenizer.json": 2
    }  # fmt: skip
    assert found.n_bytes == sum(found.files.values())
    assert (found.name, found.licence) == ("hf:someone/tiny", "mit")
    assert found.numbers == "12.3 million weights as float32"
    assert not any("resolve" in asked for asked in hub.asked)  # nothing has come yet


def test_it_comes_as_those_files_alone_and_is_then_on_this_machine(hub: SmallHub) -> None:
    found = look_up("hf:someone/tiny")
    told = fetched(found)
    assert told == sorted(told) and told[-1] == found.n_bytes
    assert local_names() == ["hf:someone/tiny"]
    folder = open_folder("hf:someone/tiny")
    assert sorted(path.name for path in folder.path.iterdir()) == sorted(found.files)
    assert folder.config == CONFIG and (folder.path / "model.safetensors").read_bytes() == WEIGHTS
    sent = [asked.rpartition("/")[2] for asked in hub.asked if asked.startswith("GET someone")]
    assert sent[-1] == "config.json" and sorted(sent) == sorted(found.files)


def test_one_that_is_stopped_is_not_here_and_goes_on_with_its_whole_files(hub: SmallHub) -> None:
    found = look_up("hf:someone/tiny")
    hub.pause = 0.1  # 46 pieces of the weights: five seconds
    with pytest.raises(LeftError):
        fetched(found, until=MB)
    blobs = Path(constants.HF_HUB_CACHE) / "models--someone--tiny" / "blobs"
    assert not list(blobs.glob("*.incomplete")) and local_names() == []
    hub.pause = 0
    hub.asked.clear()
    fetched(found)
    assert local_names() == ["hf:someone/tiny"]
    assert not any(asked.startswith("GET") and asked.endswith("tokenizer.json") for asked in hub.asked)


def test_halves_that_a_killed_process_left_go_with_the_next_download(hub: SmallHub) -> None:
    blobs = Path(constants.HF_HUB_CACHE) / "models--someone--tiny" / "blobs"
    blobs.mkdir(parents=True)
    old, new = blobs / "a.1234.incomplete", blobs / "b.1234.incomplete"
    for path in (old, new):
        path.write_bytes(b"half")
    os.utime(old, (time.time() - 3_600,) * 2)
    fetched(look_up("hf:someone/tiny"))
    assert not old.exists() and new.exists()  # another program may be writing the new one


def test_what_the_hub_does_not_give_is_said_in_a_sentence(
    hub: SmallHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    def said(name: str) -> str:
        with pytest.raises(FileError) as caught:
            look_up(name)
        return str(caught.value)

    assert said("hf:someone/unknown") == (
        "'someone/unknown' is no public model of the hub; check its name, owner/name"
    )
    assert said("hf:/a/folder") == "'/a/folder' is no name on the hub; give one like gpt2 or owner/name"
    assert said("hf:a--b/c").startswith("'a--b/c' is no public model of the hub")
    hub.gated.add("someone/tiny")
    gated = "'someone/tiny' is gated: ask for it on its page, then log in on this"
    assert said("hf:someone/tiny").startswith(gated)
    monkeypatch.setattr("huggingface_hub.get_token", lambda: "a token of this machine")
    with pytest.raises(FileError) as refused:
        fetched(look_up("hf:someone/tiny"))  # it may not suffice
    assert str(refused.value).startswith(gated)
    for weights in (hub.root / "someone" / "tiny").glob("*.safetensors"):
        weights.unlink()
    assert said("hf:someone/tiny") == (
        "'someone/tiny' has no .safetensors file on the hub, and no other format is read; choose another "
        "model"
    )


def test_without_a_network_one_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    sentence = r"the hub \(http://127.0.0.1:9\) cannot be reached from this machine"
    with pytest.raises(UnreachableError, match=sentence):
        look_up("hf:gpt2")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(UnreachableError, match="choose a model that is here, or bring its folder"):
        look_up("hf:gpt2")


def test_weights_are_taken_once_whole_or_in_shards() -> None:
    both = {"model.safetensors": 5, "consolidated.safetensors": 5, "config.json": 1}
    assert list(files_of("x", both)) == ["model.safetensors", "config.json"]
    shards = {f"model-{at:05}-of-00002.safetensors": 5 for at in (1, 2)}
    index = {"model.safetensors.index.json": 1, "config.json": 1}
    found = files_of(
        "x", shards | index | {"consolidated.safetensors": 10, "merges.txt": 1, "../evil.json": 1}
    )
    assert found == shards | index | {"merges.txt": 1}
    assert "model.safetensors.index.json" not in files_of("x", shards | index | both)
    with pytest.raises(FileError, match=r"'x' has no config.json, so it is no model of transformers"):
        files_of("x", {"model.safetensors": 5})
    names = ("unet/model.safetensors", "unet/config.json", "vae/config.json", "vae/x.safetensors", "a/b.json")
    with pytest.raises(FileError, match="'x' is no model, but holds unet, vae; give the folder of one"):
        files_of("x", dict.fromkeys(names, 5))


def test_a_model_for_which_the_disk_has_no_room_does_not_begin(hub: SmallHub) -> None:
    large = Coming("hf:someone/large", {"model.safetensors": 10**18}, "", "")
    with pytest.raises(FileError, match=r"'someone/large' has 1,000,000,000 GB, but .* of the disk are free"):
        fetched(large)
