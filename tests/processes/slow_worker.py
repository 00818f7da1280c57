"""A worker whose tasks have steps that do not end: "sleeping" lets other threads run, "stuck" does not."""

import re
import sys
import time

import torch

from attention_lab.models.data.tasks.batch import Batch
from attention_lab.models.data.tasks.reverse import Reverse
from attention_lab.models.runs.worker import main

STEP = 4  # examples of a step; whoever asks for another number only wants to see some


class Sleeping(Reverse):
    name = "sleeping"

    def batch(self, generator: torch.Generator, size: int, *, held_out: bool = False) -> Batch:
        if size == STEP and not held_out:
            time.sleep(600)
        return super().batch(generator, size, held_out=held_out)


class Stuck(Reverse):
    name = "stuck"

    def batch(self, generator: torch.Generator, size: int, *, held_out: bool = False) -> Batch:
        if size == STEP and not held_out:
            re.match("(a+)+$", "a" * 60 + "b")  # holds the interpreter's lock for years
        return super().batch(generator, size, held_out=held_out)


if __name__ == "__main__":
    sys.exit(main())
