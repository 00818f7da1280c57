"""What edits cost: every head of a model of MiniLM's size switched off alone, and one edit beside none.

    python -m benchmarks.interventions [--threads 2]

The model has 6 layers of 12 heads, 384 channels and 30,522 words; the text has 32 tokens. The sweep reads the
text once for each head, in batches; beside it, one traced pass for each.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch

from attention_lab.models import ModelConfig, Transformer
from attention_lab.models.data.tasks import Reading
from attention_lab.models.interventions.head_sweep import sweep_heads, sweep_positions
from attention_lab.models.zoo.engine_model import EngineModel

N_TOKENS, N_WORDS = 32, 30_522
LIMIT_S, LIMIT_EDIT = 2.0, 1.5
REPEATS = 5


class Numbers(EngineModel):
    """It reads numbers of words."""

    def read(self, text: str, **settings: Any) -> Reading:
        words = text.split()
        return Reading((torch.tensor([[int(word) for word in words]]),), {"encoder": words}, text)

    def code(self, text: str, **settings: Any) -> str:
        return ""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--threads", type=int, default=2)
    torch.set_num_threads(parser.parse_args().threads)
    config = ModelConfig(
        kind="encoder-only", n_layers=6, n_heads=12, d_model=384, vocab_size=N_WORDS, max_len=512,
        positions="learned", norm="post", activation="gelu",
    )  # fmt: skip
    model = Numbers("MiniLM's size", Transformer(config, seed=0))
    one, other = (" ".join(str(first + at) for at in range(N_TOKENS)) for first in (100, 500))
    reading = model.read(one)
    edit = ["encoder.3.self heads 5: zero"]
    rows = [
        ("every head alone, in batches, s", timed(lambda: sweep_heads(model, reading, "kl at 3")), LIMIT_S),
        (
            "every head alone, a traced pass each, s",
            72 * timed(lambda: model.trace(reading, edits=edit)),
            None,
        ),
        (
            "every position of every layer patched, in batches, s",
            timed(lambda: sweep_positions(model, reading, "kl at 3", other)),
            None,
        ),
        (
            "a traced pass with an edit against one without",
            timed(lambda: model.trace(reading, edits=edit)) / timed(lambda: model.trace(reading)),
            LIMIT_EDIT,
        ),
    ]
    print("\n| edits | median | limit |\n| --- | ---: | ---: |")
    for title, value, limit in rows:
        print(f"| {title} | {value:.2f} | {'' if limit is None else f'{limit:g}'} |")


def timed(work: Callable[[], object]) -> float:
    """Seconds, the median of several."""
    work()
    found = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
    return statistics.median(found)


if __name__ == "__main__":
    main()
