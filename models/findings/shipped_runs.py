"""The runs that ship with their models: how the held-out scores and the heads changed while they trained."""

from torch import Tensor

from models.runs.folder import RunFolder
from models.zoo.cards import SHIPPED


def run_of(name: str) -> RunFolder:
    """The run of a shipped model. Raises FileError, once it is read, where it is not there."""
    return RunFolder(SHIPPED / name / "run")


def validated(run: RunFolder) -> tuple[list[int], list[dict[str, float]]]:
    """The steps of a run's validations, and their scores."""
    found = [(line["step"], line["validation"]) for line in run.metrics() if "validation" in line]
    return [step for step, _ in found], [scores for _, scores in found]


def snapshots(run: RunFolder) -> tuple[list[int], list[dict[str, Tensor]]]:
    """The steps of a run's snapshots, and what each holds: the probe's patterns, address -> [head, query,
    key], and what the task watches.
    """
    steps = run.snapshots()
    return steps, [{at: x.float() for at, x in run.snapshot(step).items()} for step in steps]
