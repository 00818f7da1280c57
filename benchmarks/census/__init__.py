"""A small model of every type that transformers knows, opened as a researcher opens one, beside eager."""
