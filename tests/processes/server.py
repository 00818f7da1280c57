"""A server that submits two runs, says their ids, and waits to be killed; the second run is to go on."""

import time

from models.data.tasks import make_task
from models.runs import jobs
from models.runs.owners import MACHINE
from models.training.config import run_config

SIZES = {"n_layers": 1, "n_heads": 2, "d_model": 16}

if __name__ == "__main__":
    config = run_config(
        make_task("reverse"), sizes=SIZES, training={"steps": 1_000_000, "batch_size": 4, "threads": 1}
    )
    print(jobs.submit(config, by=MACHINE), jobs.submit(config, keep_going=True, by=MACHINE), flush=True)
    time.sleep(600)
