"""Create .venv and install requirement files into it, only where something changed since the last time.

    python tools/install.py requirements.txt [requirements-dev.txt ...]

Beside each lies a file with the hashes of all that it leads to (requirements.lock; `make lock` writes them),
and a package with another hash is not installed. Only torch is installed by its pin alone: see there.

Standard library only, and in the syntax of Python 3.6, so that an old interpreter can run it and be told.
"""

import filecmp
import importlib.util
import os
import shutil
import subprocess
import sys

OLDEST = (3, 11)
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VENV = os.path.join(ROOT, ".venv")
VENV_PYTHON = os.path.join(VENV, "bin", "python")


def main(requirement_files):
    if sys.version_info < OLDEST:
        present, oldest = (".".join(map(str, v[:2])) for v in (sys.version_info, OLDEST))
        sys.exit(
            "Attention Lab needs Python {0} or newer and this is {1}; install a newer one, "
            "or name it: make run PYTHON=/path/to/python{0}".format(oldest, present)
        )
    if not is_complete_venv():
        create_venv()
    changed = [name for name in requirement_files if not is_installed(name)]
    if changed:
        install(changed)


def is_complete_venv():
    # pip is the last thing that venv writes: without it a creation was interrupted.
    return all(os.path.exists(os.path.join(VENV, "bin", name)) for name in ("python", "pip"))


def create_venv():
    # Debian and Ubuntu ship Python without ensurepip; asking first avoids a traceback and a half-made folder.
    if not all(importlib.util.find_spec(module) for module in ("venv", "ensurepip")):
        sys.exit(
            "This Python cannot create virtual environments (its venv or ensurepip module is missing); "
            "on Debian or Ubuntu run `apt install python3-venv`, then run make again."
        )
    print("Creating .venv with Python {}.{} ...".format(*sys.version_info), flush=True)
    if subprocess.call([sys.executable, "-m", "venv", "--clear", VENV]):
        sys.exit("The virtual environment .venv could not be created; the lines above say why.")


def lock(name):
    """The file with the hashes of all that requirement file `name` leads to."""
    return name.replace(".txt", ".lock")


def stamp(name):
    """Path of the copy of the file `name` that is kept once all of it is installed."""
    return os.path.join(VENV, "installed-" + os.path.basename(name))


def is_installed(name):
    return all(
        os.path.exists(stamp(each)) and filecmp.cmp(os.path.join(ROOT, each), stamp(each), shallow=False)
        for each in (name, lock(name))
    )


def install(names):
    print("Installing {} (a minute or two, once) ...".format(" and ".join(names)), flush=True)
    locks = [lock(name) for name in names]
    if pip(["--require-hashes"], locks) or pip([], names):
        sys.exit(
            "pip could not install them; the lines above say why (is there a network?). Then run make again."
        )
    for name in names + locks:
        shutil.copyfile(os.path.join(ROOT, name), stamp(name))


def pip(options, names):
    """Installs what these files list; returns the exit status."""
    # Of 25,000 modules a program imports a few thousand, which Python compiles when it does.
    usual = ["--quiet", "--disable-pip-version-check", "--no-compile"]
    arguments = [VENV_PYTHON, "-m", "pip", "install", *usual, *options]
    for name in names:
        arguments += ["--requirement", os.path.join(ROOT, name)]
    return subprocess.call(arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
