"""Folders that a hostile hand made: small files that ask for much memory or much time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file
from transformers import GPTJConfig, GPTJForCausalLM

from attention_lab.models import load_model
from attention_lab.models.byte_units import MB
from attention_lab.models.files import FileError
from attention_lab.models.zoo.hub.model_folder import open_folder
from tests.models.zoo.hub import families

MOST_MB = 1_500
_OPEN = f"""
import resource, sys, time
import psutil, transformers
from attention_lab.models import load_model
from attention_lab.models.files import FileError
most = psutil.Process().memory_info().data + {MOST_MB * MB}
resource.setrlimit(resource.RLIMIT_DATA, (most, most))
for name in sys.argv[1:]:
    try:
        load_model(name)
    except FileError as error:
        print(error)
"""
"""A program that opens models within a limit of memory, and prints the sentences that refuse them."""


def refusals_within_memory(*folders: Path) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", _OPEN, *(f"hf:{folder}" for folder in folders)],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.splitlines()


def said(folder: Path, **changes: Any) -> Path:
    """Changes what a folder's config says."""
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | changes))
    return folder


def only(folder: Path, config: dict[str, Any]) -> Path:
    """A folder with this config, a tokenizer and one small tensor."""
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config))
    save_file({"a.weight": torch.zeros(100, 100)}, folder / "model.safetensors", {"format": "pt"})
    families.tokenizer_of("word-piece").save_pretrained(folder)
    return folder


WIDE = {
    "hidden_size": 8_192, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 8_192,
    "vocab_size": 50_000,
}  # fmt: skip
_BART = {
    "model_type": "bart", "d_model": 4_096, "encoder_layers": 8, "decoder_layers": 8, "vocab_size": 100,
    "encoder_ffn_dim": 8_192, "decoder_ffn_dim": 8_192, "decoder_attention_heads": 4,
    "encoder_attention_heads": 4,
}  # fmt: skip
LARGER = {
    "bert": {"model_type": "bert", "architectures": ["BertForMaskedLM"], **WIDE},
    "base class": {"model_type": "bert", **WIDE},
    "encoder-decoder": {
        "model_type": "encoder-decoder", "architectures": ["EncoderDecoderModel"], "is_encoder_decoder": True,
        "encoder": {"model_type": "bert", **WIDE},
        "decoder": {"model_type": "bert", "is_decoder": True, "add_cross_attention": True, **WIDE},
    },
    "rag": {
        "model_type": "rag", "architectures": ["RagSequenceForGeneration"], "is_encoder_decoder": True,
        "question_encoder": {"model_type": "dpr", **WIDE}, "generator": _BART,
    },
}  # fmt: skip


def test_a_config_of_more_weights_than_its_files_hold_takes_no_memory(tmp_path: Path) -> None:
    """Nor do token types without end, and numbers that no file holds but each layer computes."""
    folders = [only(tmp_path / kind.replace(" ", "-"), LARGER[kind]) for kind in LARGER]
    (types := tmp_path / "types").mkdir()
    folders.append(said(families.save("bert", types), type_vocab_size=10**7))
    waves = tmp_path / "waves"
    config = GPTJConfig(n_embd=32, n_layer=2, n_head=4, n_positions=64, rotary_dim=8, vocab_size=60)
    GPTJForCausalLM(config).save_pretrained(waves)
    families.tokenizer_of("word-piece").save_pretrained(waves)
    load_model(f"hf:{waves}")
    folders.append(said(waves, n_positions=20_000_000))
    refusals = refusals_within_memory(*folders)
    assert len(refusals) == len(folders)
    for folder, refusal in zip(folders, refusals, strict=True):
        assert "lacks" in refusal, folder.name


def test_a_format_of_more_bytes_than_that_of_the_file_is_within_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = said(families.save("gpt2", tmp_path), dtype="float64")
    n_weights = sum(each.numel() for each in load_model(f"hf:{folder}").net.parameters())
    monkeypatch.setattr("psutil.virtual_memory", lambda: type("Free", (), {"available": 16 * n_weights}))
    assert load_model(f"hf:{said(folder, dtype='float32')}").number_format == "float32"
    with pytest.raises(FileError, match="of memory, but at most"):
        load_model(f"hf:{said(folder, dtype='float64')}")


@pytest.mark.parametrize(
    ("config", "what"),
    [
        ({"num_labels": 10**9}, "num_labels=1,000,000,000 in its config.json, above the limit 100,000"),
        ({"num_decoder_layers": 10**6}, "num_decoder_layers=1,000,000 in its config.json, above the limit"),
        ({"type_vocab_size": 10**9}, "type_vocab_size=1,000,000,000 in its config.json, above the limit 20"),
        ({"text_config": {"n_layer": 1_001}}, "n_layer=1,001 in its config.json, above the limit 1,000"),
        ({"decoder": {"num_local_experts": 10**6}}, "num_local_experts=1,000,000"),
        ({"vision_config": {"depths": [2, 10**5]}}, "depths=100,000"),
        ({"attention_types": [[["global"], 10**7]]}, "attention_types=10,000,000"),
        ({"anything": {"n": 10**4_000}}, "n=1,000,000,000,000,000 in its config.json"),
    ],
    ids=lambda value: "" if isinstance(value, str) else next(iter(value)),
)
def test_every_number_of_a_config_is_bounded_before_anything_is_made_of_it(
    config: dict[str, Any], what: str, tmp_path: Path
) -> None:
    folder = said(families.save("bert", tmp_path), **config)
    with pytest.raises(FileError) as refused:
        open_folder(f"hf:{folder}")
    assert what in str(refused.value) and str(refused.value).endswith("the file again")


def test_numbers_of_a_formula_and_many_positions_are_no_sizes(tmp_path: Path) -> None:
    folder = families.save("llama", tmp_path, max_position_embeddings=10_485_760)
    assert load_model(f"hf:{said(folder, rope_theta=10**9)}").kind == "decoder-only"


def test_a_config_that_names_a_pickle_is_refused(tmp_path: Path) -> None:
    folder = said(families.save("bert", tmp_path), transformers_weights="adapter_model.bin")
    (folder / "adapter_model.bin").write_bytes(b"no matter")
    with pytest.raises(FileError, match=r"only \.safetensors is read"):
        open_folder(f"hf:{folder}")


def tokenizer_says(folder: Path, **changes: Any) -> Path:
    """Changes what a folder's tokenizer.json says."""
    file = folder / "tokenizer.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))
    return folder


def test_a_panic_of_a_tokenizer_is_a_sentence_when_it_is_opened_reads_and_writes(tmp_path: Path) -> None:
    garbled = {"type": "Precompiled", "precompiled_charsmap": "/////w=="}
    folder = tokenizer_says(families.save("gpt2", tmp_path / "a"), normalizer=garbled)
    with pytest.raises(FileError, match="the tokenizer of a could not be read: Precompiled"):
        load_model(f"hf:{folder}")
    empty_chunks = {"type": "FixedLength", "length": 0}
    model = load_model(
        f"hf:{tokenizer_says(families.save('gpt2', tmp_path / 'b'), pre_tokenizer=empty_chunks)}"
    )
    with pytest.raises(ValueError, match="the tokenizer or chat template of b failed: chunk size must be"):
        model.read("the animal")
    strip = {"type": "Strip", "content": "a", "start": 10, "stop": 10}
    model = load_model(f"hf:{tokenizer_says(families.save('gpt2', tmp_path / 'c'), decoder=strip)}")
    with pytest.raises(ValueError, match="the tokenizer or chat template of c failed: index out of bounds"):
        model.tokenizer.decode(model.tokenizer.ids("a", special=False))


def test_a_chat_template_that_fails_is_a_sentence(tmp_path: Path) -> None:
    folder = families.save("gpt2", tmp_path / "a")
    (folder / "chat_template.jinja").write_text("{{ raise_exception('a system text comes first') }}")
    model = load_model(f"hf:{folder}")
    with pytest.raises(ValueError, match="chat template of a failed: a system text comes first; give"):
        model.read("the animal", chat="on")


def test_end_of_a_program_is_no_panic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*given: Any, **named: Any) -> None:
        raise KeyboardInterrupt

    model = load_model(f"hf:{families.save('gpt2', tmp_path)}")
    monkeypatch.setattr("attention_lab.models.zoo.hub.tokenizer.OpenTokenizer.ids", interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.read("the animal")


def test_a_folder_has_another_stamp_once_any_of_its_files_has_changed(tmp_path: Path) -> None:
    folder = families.save("gpt2", tmp_path)
    before = open_folder(f"hf:{folder}").stamp
    assert open_folder(f"hf:{folder}").stamp == before
    stat = (folder / "tokenizer.json").stat()
    tokenizer_says(folder, normalizer=None, version="1.0 ")
    os.utime(folder / "tokenizer.json", ns=(stat.st_atime_ns, stat.st_mtime_ns - 10**9))  # an older one
    assert open_folder(f"hf:{folder}").stamp != before
