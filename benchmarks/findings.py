"""How long every finding takes on the model that it ships with, as a visitor finds it.

    python -m benchmarks.findings [--threads 2] [name ...]

A limit of 30 s holds for each. A finding whose model is not on this machine says what it needs.
"""

import argparse
import time

import torch

from models import load_model
from models.findings import Finding, findings

LIMIT_S = 30.0


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("names", nargs="*", metavar="name", help="of findings; default: all")
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    unknown = [name for name in given.names if name not in findings()]
    if unknown:
        parser.error(f"no finding is named {unknown[0]!r}; choose from {', '.join(findings())}")
    print(f"{'finding':<24}{'model':<16}{'seconds':>8}   limit {LIMIT_S:g} s")
    for name in given.names or findings():
        print(row(findings()[name]), flush=True)


def row(finding: Finding) -> str:
    """Its line of the table, with the outcome; the model is loaded before the time is taken."""
    begun = f"{finding.name:<24}{finding.model or 'shipped runs':<16}"
    try:
        model = load_model(finding.model) if finding.model else None
    except ValueError as error:
        return f"{begun}{'—':>8}   {error}"
    start = time.perf_counter()
    outcome = finding.measured(model)
    seconds = time.perf_counter() - start
    verdict = "holds" if outcome.holds else "does not hold"
    late = "" if seconds <= LIMIT_S else f", over the limit of {LIMIT_S:g} s"
    return f"{begun}{seconds:>8.1f}   {verdict}{late}"


if __name__ == "__main__":
    main()
