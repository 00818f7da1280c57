"""A server that submits two runs, says their ids, and waits to be killed; the second run is to go on."""

import time

from attention_lab.models.runs import jobs
from attention_lab.models.runs.owners import MACHINE
from tests.small_runs import small_run

if __name__ == "__main__":
    config = small_run(steps=1_000_000)
    print(jobs.submit(config, by=MACHINE), jobs.submit(config, keep_going=True, by=MACHINE), flush=True)
    time.sleep(600)
