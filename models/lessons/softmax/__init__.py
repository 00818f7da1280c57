"""Softmax and scale: what large scores do to attention, why 1 / sqrt(d_k), and how computers get it wrong."""
