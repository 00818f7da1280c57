"""Design and cost: what one layer can see, what it costs, how large models are, and where memory goes."""
