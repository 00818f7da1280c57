"""Trains a run in child processes that are killed at random moments, and goes on with it until it is done.

python killed.py FOLDER SEED KILLS: prints at which steps it was killed. FOLDER holds a run's config.
"""

import os
import random
import signal
import sys
import time
from pathlib import Path

from attention_lab.models.runs import recording
from attention_lab.models.runs.folder import RunFolder

# Checkpoints so close that some kills fall into the writing of one.
recording._CHECKPOINT_SHARE = 0.5
recording._FLUSH_SECONDS = 0.0


def train(run: RunFolder) -> int:
    """A child process that trains the run; its process id."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        recording.train_into(run, run.config())
        status = 0
    finally:
        os._exit(status)


def main() -> None:
    """Kills the run as often as asked, then lets it end."""
    run, rng, kills = RunFolder(Path(sys.argv[1])), random.Random(int(sys.argv[2])), int(sys.argv[3])
    for _ in range(kills):
        before = len(run.metrics())
        child = train(run)
        while len(run.metrics()) <= before:  # it is on its way
            time.sleep(0.02)
        time.sleep(rng.uniform(0.0, 0.15))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        print(run.metrics()[-1]["step"], flush=True)
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(train(run), 0)[1]))


if __name__ == "__main__":
    main()
