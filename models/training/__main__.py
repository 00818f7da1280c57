"""`python -m models.training`: the command line, in command_line.py of models/runs and models/sweeps."""

import models.sweeps.command_line  # noqa: F401 (it adds its commands)
from models.runs.command_line import main

if __name__ == "__main__":
    main()
