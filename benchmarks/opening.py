"""What opening a model of transformers costs, and which share of it goes into proving what is recorded.

Random weights, saved to a folder and opened as a person's own model is: `python -m benchmarks.opening`. The
proof is all that `load` does after the weights are read: finding the layers and checking every identity. Its
share is told of an opening in a process that has imported everything, where the weights are in the system's
cache and reading them is nothing, and of a first opening, which starts Python and imports.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import torch
import transformers

from attention_lab.models.zoo.hub import loading
from attention_lab.models.zoo.hub.model_folder import Folder, open_folder

ROUNDS = 3
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


def seconds(folder: Folder) -> tuple[float, float, float]:
    """Processor seconds of reading the weights, of all of `load`, and of that in a new process."""
    begun = time.process_time()
    loading._read(folder)
    read = time.process_time() - begun
    loading._PROVED.clear()
    begun = time.process_time()
    loading.load(folder)
    whole = time.process_time() - begun
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "benchmarks.opening", folder.name], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return read, whole, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Prints the table; with the name of a model, opens that alone."""
    torch.set_num_threads(1)
    if len(sys.argv) > 1:
        loading.load(open_folder(sys.argv[1]))
        return
    print(
        "| model | reading the weights | opening | the proof, of that | first opening | the proof, of that |"
    )
    print("| --- | --- | --- | --- | --- | --- |")
    for title, (kind, config) in SIZES.items():
        with tempfile.TemporaryDirectory() as folder:
            opened = saved(kind, config, Path(folder))
            seconds(opened)
            rounds = [seconds(opened) for _ in range(ROUNDS)]
        read, whole, first = (median(each) for each in zip(*rounds, strict=True))
        warm = median((whole - read) / whole for read, whole, _ in rounds)
        cold = median((whole - read) / first for read, whole, first in rounds)
        print(f"| {title} | {read:.2f} s | {whole:.2f} s | {warm:.2f} | {first:.1f} s | {cold:.2f} |")


if __name__ == "__main__":
    main()
