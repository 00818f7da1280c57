"""Attention of any torch module, as a trace."""

from models.engine.capture.passes import capture

__all__ = ["capture"]
