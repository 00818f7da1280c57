"""`python -m models.training`: the command line, in command_line.py of models/runs and models/sweeps."""

from models.runs.command_line import main
from models.sweeps.command_line import add_commands

if __name__ == "__main__":
    main(add_commands)
