"""Patterns that are at hand, shown in a notebook by us, BertViz and CircuitsVis: 6 layers of 12 heads.

    python -m benchmarks.notebooks [--rounds 3] [tokens ...]

Counted are the lines that a person writes; the processor's seconds for imports, until the picture is sent,
and until the cell is done (the median of some rounds; ours draws a still picture meanwhile); the megabytes
that the notebook keeps: the outputs of the cell and, of ours, the widget's state, without which the still
picture alone is kept. Each case is a process of its own with an IPython in it. All get the same random
patterns, as transformers gives them: a list of [1, head, query, key].
"""

import argparse
import importlib.util
import json
import statistics
import subprocess
import sys
import time
from typing import Any

from benchmarks.setting import print_table

LAYERS, HEADS = 6, 12
TOKENS = (64, 256, 512)
LIMIT_S = 600
CELLS = {
    "ours, heads": ("from attention_lab import heads", "heads(patterns, tokens)"),
    "BertViz, head_view": ("from bertviz import head_view", "head_view(patterns, tokens)"),
    "CircuitsVis, attention_heads": (
        "from circuitsvis.attention import attention_heads",
        "attention_heads(torch.cat(patterns, 1)[0], tokens)",
    ),
}
"""The lines of each: what is imported, and what shows the picture."""
COLUMNS = [
    "6 × 12 heads",
    "lines",
    "imports, s",
    "picture, s",
    "cell done, s",
    "saved, MB",
    "still alone, MB",
]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tokens", type=int, nargs="*", default=TOKENS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--case", choices=CELLS)  # as each process is started
    given = parser.parse_args()
    if given.case:
        print("\n" + json.dumps(measure(given.case, given.tokens[0], given.rounds)))
        return
    rows: list[list[object]] = []
    for n_tokens in given.tokens:
        for name in CELLS:
            rows.append([f"{name}, {n_tokens} tokens", *row(name, n_tokens, given.rounds)])
    print_table("In a notebook", COLUMNS, rows)


def row(name: str, n_tokens: int, rounds: int) -> list[object]:
    """The measures in words, or why there are none."""
    lines = len(CELLS[name])
    package = CELLS[name][0].split()[1].partition(".")[0]
    if importlib.util.find_spec(package) is None:
        return [lines, f"{package} is not installed", *[""] * 4]
    command = [sys.executable, "-m", "benchmarks.notebooks", str(n_tokens), "--case", name]
    command += ["--rounds", str(rounds)]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        return [lines, f"does not finish in {LIMIT_S} s", *[""] * 4]
    if ran.returncode:
        return [lines, (ran.stderr.strip().splitlines() or ["killed"])[-1], *[""] * 4]
    measured = json.loads(ran.stdout[ran.stdout.rindex("\n{") :])
    seconds = [f"{measured[each]:.2f}" for each in ("imports", "first", "cell")]
    still = f"{measured['output'] / 1e6:.2f}" if measured["state"] else "–"
    return [lines, *seconds, f"{(measured['output'] + measured['state']) / 1e6:.2f}", still]


def measure(name: str, n_tokens: int, rounds: int) -> dict[str, float]:
    """Processor seconds, and bytes as JSON."""
    import torch
    from IPython.core.displaypub import DisplayPublisher
    from IPython.core.interactiveshell import InteractiveShell

    class Publisher(DisplayPublisher):
        """Keeps what is shown, and when."""

        def publish(self, data: Any, *rest: Any, **more: Any) -> None:
            shown.append((time.process_time(), data))

    shown: list[tuple[float, dict[str, Any]]] = []
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(LAYERS, 1, HEADS, n_tokens, n_tokens, generator=generator)
    shell: Any = InteractiveShell.instance()
    shell.display_pub = Publisher(shell=shell)
    shell.displayhook.write_format_data = lambda data, *rest: shell.display_pub.publish(data)
    patterns, tokens = list(scores.softmax(-1)), [f"w{at}" for at in range(n_tokens)]
    shell.push({"torch": torch, "patterns": patterns, "tokens": tokens})

    def run(code: str) -> tuple[float, float]:
        """The seconds until something is shown, and until the cell is done."""
        shown.clear()
        begun = time.process_time()
        shell.run_cell(code).raise_error()
        end = time.process_time()
        return (shown[0][0] if shown else end) - begun, end - begun

    imports = run(CELLS[name][0])[1] + run(CELLS[name][1])[1]  # more is imported with the first picture
    taken = [run(CELLS[name][1]) for _ in range(rounds)]
    imports -= statistics.median(cell for _, cell in taken)
    return {
        "imports": imports,
        "first": statistics.median(first for first, _ in taken),
        "cell": statistics.median(cell for _, cell in taken),
        "output": sum(len(json.dumps(data)) for _, data in shown),
        "state": sum(state_bytes(data) for _, data in shown),
    }


def state_bytes(data: dict[str, Any]) -> int:
    """What a notebook keeps of a widget beside its output."""
    view = data.get("application/vnd.jupyter.widget-view+json")
    if view is None:
        return 0
    from anywidget import AnyWidget

    return len(json.dumps(AnyWidget.get_manager_state()["state"][view["model_id"]]))


if __name__ == "__main__":
    main()
