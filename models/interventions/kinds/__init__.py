"""Collects the kinds of changes: every file of this folder is imported and calls `register`."""

from ...registry import import_all

import_all(__name__, __path__)
