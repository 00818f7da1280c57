"""The shipped model that is written as a GPT-2 of transformers: it reads and computes the same."""

from pathlib import Path

import torch

from attention_lab.models import load_model
from tools import screenshot

TEXT = "First Citizen:\nBefore we proceed any"


def test_the_folder_computes_what_the_shipped_model_does(tmp_path: Path) -> None:
    screenshot.write_as_gpt2(tmp_path / "gpt2")
    found, expected = load_model(f"hf:{tmp_path / 'gpt2'}"), load_model("shakespeare")
    assert type(found.net).__name__ == "GPT2LMHeadModel"
    theirs, ours = found.trace(TEXT), expected.trace(TEXT)
    assert found.read(TEXT).inputs[0].tolist() == expected.read(TEXT).inputs[0].tolist()
    torch.testing.assert_close(theirs["logits"], ours["logits"], atol=1e-4, rtol=0)
    for layer in range(4):
        at = f"decoder.{layer}.self.pattern"
        torch.testing.assert_close(theirs[at], ours[at], atol=1e-5, rtol=0)
    written = found.generate(TEXT, max_new_tokens=12, temperature=0.0)
    assert written == expected.generate(TEXT, max_new_tokens=12, temperature=0.0)
