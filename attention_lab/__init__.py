"""Attention Lab as one package: `attention_lab.models` computes, `attention_lab.viz_core` draws.

In the repository the three folders in it are links to those beside it; installed, they are in it.
"""
