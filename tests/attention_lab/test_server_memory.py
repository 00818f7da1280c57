"""The server hands freed memory to the next trace instead of asking the system again."""

import platform
import subprocess
import sys

import pytest

FAULTS = """
import resource, threading
import numpy as np
from attention_lab.__main__ import reuse_memory

def faults(again):
    for _ in range(again):
        held = [np.ones(2**21, np.float32) for _ in range(6)]  # 8 MB each
        del held
    counts.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt)

counts = []
if {reuses}: reuse_memory()
for again in (2, 20):
    thread = threading.Thread(target=faults, args=(again,))
    thread.start()
    thread.join()
print(counts[1] - counts[0])
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc's malloc can be told so")
def test_a_thread_gets_the_memory_that_another_freed() -> None:
    def pages(reuses: bool) -> int:
        command = [sys.executable, "-c", FAULTS.format(reuses=reuses)]
        return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    assert pages(reuses=True) < pages(reuses=False) / 4
