"""Runs scripts in forks of a process that has imported what all of them import, which takes longest.

Each line of its input is a JSON list, a folder and the name of a script in it; the answer is its exit code.
"""

import json
import os
import runpy
import sys
import traceback

import attention_lab.pages.findings.board
import attention_lab.pages.lab.lesson
import attention_lab.pages.shared.board.takeaway
import attention_lab.viz_core.paper  # noqa: F401 (the scripts use them)
from attention_lab.models import Edit, Trace, load_model  # noqa: F401


def run(folder: str, script: str) -> None:
    """As `python script` does in the folder; ends the process."""
    os.chdir(folder)
    os.dup2(2, 1)  # what it prints is no answer
    sys.path[0], sys.argv = folder, [script]
    try:
        runpy.run_path(script, run_name="__main__")
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


for line in sys.stdin:
    child = os.fork()
    if not child:
        run(*json.loads(line))
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
