"""Attention that a person hands in as a file of arrays: read safely, shown as a model of patterns alone."""
