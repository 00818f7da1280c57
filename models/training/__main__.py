"""`python -m models.training`: the command line, which is in models/runs/command_line.py."""

from models.runs.command_line import main

if __name__ == "__main__":
    main()
