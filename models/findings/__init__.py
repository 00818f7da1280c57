"""Published results, measured here: a file each, found by being there. See `finding.Finding`.

from .. import load_model
from . import findings
findings()["positional"].measured(load_model("translator")).said
"""

from functools import cache

from ..registry import import_all
from .finding import BarFilm, Chart, Film, Finding, Number, Outcome, Tell


@cache
def findings() -> dict[str, Finding]:
    """Every finding by name: each file of this folder that has a FINDING, by its title."""
    modules = import_all(__name__, __path__)
    declared = [module.FINDING for module in modules if hasattr(module, "FINDING")]
    return {each.name: each for each in sorted(declared, key=lambda each: each.title)}
