"""The same hand-made runs as the parts that Train and Runs share."""

from tests.pages.shared.training.conftest import make_run, root

__all__ = ["make_run", "root"]
