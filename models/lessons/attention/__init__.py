"""Attention, step by step: its evolution, the worked example of the talks, order, and the dot product."""
