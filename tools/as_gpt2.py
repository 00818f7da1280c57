"""Writes the shipped Shakespeare model as a GPT-2 of transformers, for the README's picture, offline.

    python -m tools.as_gpt2 FOLDER

It is a GPT-2 in all but its file: learned positions, a norm before each sublayer, no biases. FOLDER then
opens as any model of transformers does, and computes what the shipped model does.
"""

import argparse
from pathlib import Path

from attention_lab.models import load_model
from attention_lab.models.zoo.hub.from_engine import from_engine, tokenizer_of

MODEL = "shakespeare"


def write(folder: Path) -> None:
    """Saves the model and its tokenizer, whose tokens are letters."""
    model = load_model(MODEL)
    from_engine(model.model).save_pretrained(folder)
    tokenizer_of(model.task).save_pretrained(folder)


def main() -> None:
    as_it_stands = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=as_it_stands)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    write(folder)
    print(f"wrote {folder}")


if __name__ == "__main__":
    main()
