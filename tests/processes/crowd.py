"""How busy the machine is: what is promised in seconds takes longer while others compute, too."""

import os


def crowd() -> float:
    """How many programs share a core, of late; at least 1."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
