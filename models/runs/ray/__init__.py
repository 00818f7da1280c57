"""Runs on a Ray cluster, where ATTENTION_LAB_RAY names one; only the dispatcher's process imports Ray."""
