"""What a run will take: parameters, memory, time. By formula at once, or from a probe of the run itself."""

from dataclasses import dataclass

from models.engine import size
from models.training.config import RunConfig
from models.training.devices import choose
from models.training.durations import Costs, by_formula, whole
from models.training.memory import memory_bytes


@dataclass(frozen=True)
class Estimate:
    """What a run will take. seconds: from the start of its process to its end, to a factor of two, while this
    machine is as busy as it was when the costs were measured; None on a GPU, where they are not known. alone:
    the seconds on a machine that does nothing else, None where that is not known.
    """

    n_parameters: int
    memory_bytes: int
    seconds: float | None
    alone: float | None = None


def estimate(config: RunConfig, costs: Costs | None = None) -> Estimate:
    """Estimates a run. Draws a few examples of its task for their lengths.

    costs: as `probing.probe` measured them; left out, they follow from the run's arithmetic.
    Raises ValueError for a device that is not there and for a task without its data.
    """
    machine = choose(config.training)
    n_parameters, memory = size.count_parameters(config.model).total, memory_bytes(config, machine)
    if machine.device.type != "cpu":
        return Estimate(n_parameters, memory, None)
    taken = whole(config, costs or by_formula(config))
    return Estimate(n_parameters, memory, taken.seconds, taken.alone if costs else None)
