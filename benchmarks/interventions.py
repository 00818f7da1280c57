"""What edits cost: every head of a model of MiniLM's size switched off alone, and one edit beside none; and
the same questions of a random GPT-2, asked of ours, TransformerLens, nnsight and plain hooks.

    python -m benchmarks.interventions [--threads 2]

The first model has 6 layers of 12 heads, 384 channels and 30,522 words; the text has 32 tokens. The sweep
reads the text once for each head, in batches; beside it, one traced pass for each. The others are asked in
turns, so that what else the machine does is shared by all. Processor seconds of one thread are counted, the
median of seven turns; a number that differs by more than 1e-5 of the largest ends the program.
"""

import argparse
import os
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch

from attention_lab.models import ModelConfig, Transformer
from attention_lab.models.data.tasks import Reading
from attention_lab.models.interventions.head_sweep import sweep_heads, sweep_positions
from attention_lab.models.zoo.engine_model import EngineModel

N_TOKENS, N_WORDS = 32, 30_522
LIMIT_S, LIMIT_EDIT = 2.0, 1.5
REPEATS, TURNS = 5, 7
SAME = 1e-5


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
    beside_others()


def beside_others() -> None:
    """Prints processor seconds and lines of each question, ours first; ours as a share of each other."""
    os.environ["TQDM_DISABLE"] = "1"
    from benchmarks.lenses import QUESTIONS, ways

    torch.set_num_threads(1)  # more wait for each other, which is processor time as well
    all_ways = ways()
    names = [str(type(way).__doc__).rstrip(".") for way in all_ways]
    print(f"\n| processor seconds (lines) | {' | '.join(names)} |")
    print(f"| --- | {' | '.join('---:' for _ in names)} |")
    for question, title in QUESTIONS.items():
        print(f"| {title} | {' | '.join(asked(all_ways, question))} |", flush=True)


def asked(all_ways: Sequence[Any], question: str) -> list[str]:
    """The cells of a row: the median of several turns, the share of ours, the lines."""
    from benchmarks.lenses import n_lines

    first = [getattr(way, question)() for way in all_ways]
    largest = float(first[0].abs().max())
    for way, found in zip(all_ways, first, strict=True):
        apart = float((found.double() - first[0].double()).abs().max()) / largest
        if apart > SAME:
            raise SystemExit(f"{type(way).__name__} is {apart:.1g} of the largest apart in {question}")
    turns: list[list[float]] = [[] for _ in all_ways]
    for _ in range(TURNS):
        for way, found in zip(all_ways, turns, strict=True):
            start = time.process_time()
            getattr(way, question)()
            found.append(time.process_time() - start)
    ours, *_ = medians = [statistics.median(each) for each in turns]
    shares = ["", *(f", ours {ours / each:.2f}x" for each in medians[1:])]
    lines = [n_lines(way, question) for way in all_ways]
    return [f"{each:.3f}{more} ({n})" for each, more, n in zip(medians, shares, lines, strict=True)]


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
