"""Masks: scores + mask, reach through the layers, cost, masking too late, padding, graphs."""
