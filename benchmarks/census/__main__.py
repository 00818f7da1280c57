"""Opens a small model of every type that transformers knows, and writes one table: whole, patterns, refused.

    python -m benchmarks.census [--page docs/census.md] [--trails FILE] [--at-once 2] [type ...]

Each type has a process of its own with a limit of time and memory.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before torch: the processes are forks, which share no threads
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import argparse
import multiprocessing
import resource
import tempfile
import time
import warnings
from collections import Counter
from multiprocessing.connection import Connection, wait
from pathlib import Path

import transformers
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from benchmarks.census.checks import Row, row_of

SECONDS, BYTES = 90, 8 << 30
ORDER = ("traceback", "wrong", "gap", "whole", "patterns", "refused")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--page", type=Path, help="where the table is written; default: printed alone")
    parser.add_argument("--trails", type=Path, help="where the tracebacks are written")
    parser.add_argument("--at-once", type=int, default=2, help="processes at once")
    parser.add_argument("types", nargs="*", metavar="type", help="of models; default: all")
    given = parser.parse_args()
    unknown = [name for name in given.types if name not in CONFIG_MAPPING]
    if unknown:
        parser.error(
            f"transformers {transformers.__version__} knows no type {unknown[0]!r}; see CONFIG_MAPPING"
        )
    rows = census(given.types or list(CONFIG_MAPPING.keys()), given.at_once)
    if given.page:
        given.page.parent.mkdir(exist_ok=True)
        given.page.write_text(page(rows))
    if given.trails:
        given.trails.write_text(
            "".join(
                f"### {r.model_type} ({r.kind}) {r.outcome}\n{r.why}\n{r.trail}\n" for r in rows if r.trail
            )
        )
    print(dict(Counter(row.outcome for row in rows)))


def census(types: list[str], at_once: int) -> list[Row]:
    """A row for each type; so many processes at once, each of which is ended when its time is over."""
    fork, rows, waiting = multiprocessing.get_context("fork"), dict[str, Row](), list(types)
    running: dict[
        Connection, tuple[str, multiprocessing.process.BaseProcess, float, tempfile.TemporaryDirectory[str]]
    ] = {}
    while waiting or running:
        while waiting and len(running) < at_once:
            model_type, (here, there) = waiting.pop(0), fork.Pipe(duplex=False)
            folder = tempfile.TemporaryDirectory(prefix="census-", ignore_cleanup_errors=True)
            process: multiprocessing.process.BaseProcess = fork.Process(
                target=_work, args=(model_type, folder.name, there)
            )
            process.start()
            there.close()
            running[here] = model_type, process, time.monotonic(), folder
        ready = wait(list(running), timeout=0.2)
        for pipe, (model_type, process, begun, folder) in list(running.items()):
            if pipe in ready:
                try:
                    row = pipe.recv()
                except EOFError:
                    process.join()
                    row = Row(
                        model_type, outcome="traceback", why=f"its process ended with {process.exitcode}"
                    )
            elif time.monotonic() - begun > SECONDS:
                row = Row(model_type, outcome="traceback", why=f"not done after {SECONDS} s")
            else:
                continue
            process.kill()
            process.join()
            folder.cleanup()
            del running[pipe]
            rows[model_type] = row
            print(line(row), flush=True)
    return [rows[model_type] for model_type in types]


def _work(model_type: str, folder: str, there: Connection) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    warnings.simplefilter("ignore")
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    there.send(row_of(model_type, Path(folder, model_type)))


def line(row: Row) -> str:
    """Its line of the table."""
    shown = "" if row.difference is None else f"{row.difference:.1g}"
    checked, why = (
        " ".join(text.split()).replace("|", "\\|")
        for text in (", ".join(dict.fromkeys(row.checked)), row.why)
    )
    return f"| {row.model_type} | {row.kind} | {row.outcome} | {shown} | {checked} | {why} |"


def page(rows: list[Row]) -> str:
    n = Counter(row.outcome for row in rows)
    n_types, version = len(rows), transformers.__version__
    head = f"""# The census

`make census` goes through all {n_types} model types that transformers {version} knows: it saves a small
model with random weights of each to a folder, opens it by its path, traces and edits it, and compares it
with transformers' own eager attention, computed apart; the difference is the largest of all numbers.

**{n["whole"]} whole** (everything is traced and may be edited), **{n["patterns"]} patterns** (less:
weights of attention alone, or all but what layers add), **{n["refused"]} refused** (with the sentence that
a person reads), {n["wrong"]} wrong, {n["traceback"]} tracebacks, {n["gap"]} gaps (types that the census could
not build).

| type | class | outcome | difference | compared | why |
| --- | --- | --- | ---: | --- | --- |
"""
    return head + "\n".join(line(row) for row in rows) + "\n"


if __name__ == "__main__":
    main()
