"""Finds models of transformers (Hugging Face) here, loads them safely, traces them under our addresses."""
