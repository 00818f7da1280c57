"""What opening a model of transformers costs, and which share of it goes into proving what is recorded.

Random weights, saved to a folder and opened as a person's own model is: `python -m benchmarks.opening`. The
proof is all that `load` does after the weights are read: finding the layers and checking every identity.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import torch
import transformers

from models.zoo.hub import loading
from models.zoo.hub.folder import Folder, open_folder

ROUNDS = 5
SIZES: dict[str, tuple[str, Any]] = {
    "GPT-2 (124 M)": ("GPT2LMHeadModel", transformers.GPT2Config()),
    "BERT base (110 M)": ("BertForMaskedLM", transformers.BertConfig()),
    "BLOOM of 6 layers (127 M)": (
        "BloomForCausalLM",
        transformers.BloomConfig(vocab_size=50_000, hidden_size=1024, n_layer=6, n_head=16),
    ),
    "ViT base (86 M)": ("ViTForImageClassification", transformers.ViTConfig()),
}  # fmt: skip


def saved(kind: str, config: Any, folder: Path) -> Folder:
    """A folder with a random model, and empty stand-ins for what is beside its weights."""
    getattr(transformers, kind)(config).save_pretrained(folder)
    for name in ("tokenizer.json", "preprocessor_config.json"):
        (folder / name).write_text("{}")
    return open_folder(f"hf:{folder}")


def seconds(folder: Folder) -> tuple[float, float]:
    """Processor seconds of reading the weights, and of all of `load`."""
    begun = time.process_time()
    loading._read(folder)
    read = time.process_time() - begun
    begun = time.process_time()
    loading.load(folder)
    return read, time.process_time() - begun


def main() -> None:
    """Prints the table."""
    torch.set_num_threads(1)
    print("| model | reading the weights | opening | the proof, of reading |")
    print("| --- | --- | --- | --- |")
    for title, (kind, config) in SIZES.items():
        with tempfile.TemporaryDirectory() as folder:
            opened = saved(kind, config, Path(folder))
            seconds(opened)
            both = [seconds(opened) for _ in range(ROUNDS)]
        read, whole = (median(each) for each in zip(*both, strict=True))
        share = median(whole / read - 1 for read, whole in both)
        print(f"| {title} | {read:.2f} s | {whole:.2f} s | {share:.2f} |")


if __name__ == "__main__":
    main()
