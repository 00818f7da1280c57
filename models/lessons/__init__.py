"""What the lab pages compute: each idea in the fewest lines of PyTorch, checked against independent code."""
