"""Heads and dimensions: how an attention layer is cut into heads, what each adds, and what they cost."""
