"""The small models of letters that edits are tested on."""

from tests.models.interventions.conftest import letters

__all__ = ["letters"]
