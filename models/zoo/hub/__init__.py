"""Models of transformers (Hugging Face): found on this machine, loaded safely, traced under our addresses."""
