"""Positions: how a model that sees a set of words learns their order, scheme by scheme."""
