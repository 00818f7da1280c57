"""Scores of a model on examples that it never trained on, each with how many they are and a 95% interval."""
