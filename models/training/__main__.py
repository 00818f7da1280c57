"""`python -m attention_lab.models.training`: the command line, of models/runs and models/sweeps."""

from ..runs.command_line import main
from ..sweeps import command_line as command_line  # it adds its commands

if __name__ == "__main__":
    main()
