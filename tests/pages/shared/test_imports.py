"""Threads of visitors import nothing of ours at once: what pages need is there before the first one comes."""

import subprocess
import sys

from attention_lab.pages.shared.imports import ROOT

VISITS = """
import sys
import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.testing.v1 import AppTest
from attention_lab.pages.shared.imports import ROOT, import_shared
import_shared()
st.page_link = DeltaGenerator.page_link = lambda *given, **more: None  # there are no other pages
before = set(sys.modules)
lab = "from attention_lab.pages.lab import page; page.show('masks')"
shown = AppTest.from_string(lab, default_timeout=120).run()
assert not shown.exception, shown.exception
for page in ("explore", "documents", "beside", "findings", "train", "runs", "sweeps"):
    shown = AppTest.from_file(f"{ROOT}/pages/{page}/page.py", default_timeout=120).run()
    assert not shown.exception, (page, shown.exception)
print(*sorted(set(sys.modules) - before))
"""


def test_a_visitor_of_any_page_imports_no_module_of_ours() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", VISITS], capture_output=True, text=True, timeout=300, cwd=ROOT
    )
    assert ended.returncode == 0, ended.stderr
    shared = ("attention_lab", "pandas", "plotly")
    assert [name for name in ended.stdout.splitlines()[-1].split() if name.partition(".")[0] in shared] == []


WITHOUT_POSIX = """
import os, signal, sys
import filelock, numpy, psutil, streamlit.web.cli, torch, uvicorn
for name in ("fcntl", "grp", "pwd", "resource", "termios"):
    sys.modules[name] = None
for name in ("fork", "geteuid", "getuid", "killpg", "nice", "setsid", "O_NOFOLLOW", "O_NONBLOCK"):
    delattr(os, name)
for name in ("SIGKILL", "SIGHUP", "alarm"):
    delattr(signal, name)
from attention_lab.pages.shared.imports import import_shared
import_shared()
"""


def test_the_server_s_modules_need_nothing_that_windows_lacks() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", WITHOUT_POSIX], capture_output=True, text=True, timeout=300, cwd=ROOT
    )
    assert ended.returncode == 0, ended.stderr
