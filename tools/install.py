"""Create .venv and install the app into it, only where something changed since the last time.

    python tools/install.py [PACKAGE ...] [--dev]

requirements.txt pins what the app needs; requirements-dev.txt pins all that the project needs, with hashes.
`make lock` writes both. PACKAGE is one of the latter that is wanted beside the app; --dev wants all of them,
and links the folders for tools that read imports. A package with another hash is not installed. Only torch is
installed by its pin alone: its builds for CPU and for CUDA have one version and different hashes.

Standard library only, and in the syntax of Python 3.6, so that an old interpreter can run it and be told.
"""

import importlib.util
import os
import re
import subprocess
import sys

OLDEST = (3, 11)
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VENV = os.path.join(ROOT, ".venv")
PYTHON, PIP = (
    os.path.join(VENV, *("Scripts", name + ".exe") if os.name == "nt" else ("bin", name))
    for name in ("python", "pip")
)
PINS, HASHED = (os.path.join(ROOT, name) for name in ("requirements.txt", "requirements-dev.txt"))
WANTED, INSTALLED = (os.path.join(VENV, name) for name in ("wanted.txt", "installed.txt"))


def main(wanted):
    if sys.version_info < OLDEST:
        present, oldest = (".".join(map(str, v[:2])) for v in (sys.version_info, OLDEST))
        sys.exit(
            "Attention Lab needs Python {0} or newer and this is {1}; install a newer one, "
            "or name it: make run PYTHON=/path/to/python{0}".format(oldest, present)
        )
    # pip is the last thing that venv writes: without it a creation was interrupted.
    if not (os.path.exists(PYTHON) and os.path.exists(PIP)):
        create_venv()
    if "--dev" in wanted:
        link_folders()
    install(wanted)


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


def link_folders():
    """Puts models, pages and viz_core into attention_lab/, where git ignores them.

    mypy, import-linter and editors look for them there: these do not run its __init__.py.
    """
    for name in ("models", "pages", "viz_core"):
        link = os.path.join(ROOT, "attention_lab", name)
        if not os.path.lexists(link):
            if os.name == "nt":  # a junction asks for no rights
                subprocess.check_call(["cmd", "/c", "mklink", "/J", link, os.path.join(ROOT, name)])
            else:
                os.symlink(os.path.join("..", name), link)


def install(wanted):
    """Installs what the app needs, and the wanted packages or all; nothing where all of it is there."""
    pins, hashed = packages(PINS), packages(HASHED)
    if "--dev" not in wanted:
        names = set(map(name_of, pins)).union(wanted)
        hashed = [each for each in hashed if name_of(each) in names]
    installed = packages(INSTALLED) if os.path.exists(INSTALLED) else []
    if set(hashed + pins) <= set(installed):
        return
    what = "the app and its tools" if "--dev" in wanted else " and ".join(["the app", *wanted])
    print("Installing {} (a minute or two, once) ...".format(what), flush=True)
    names = set(map(name_of, hashed + pins))
    others = [each for each in installed if name_of(each) not in names]
    write(INSTALLED, others)  # should pip be interrupted
    write(WANTED, hashed)
    if pip("--require-hashes", "--requirement", WANTED) or pip("--requirement", PINS):
        sys.exit(
            "pip could not install them; the lines above say why (is there a network?). Then run make again."
        )
    write(INSTALLED, others + hashed + pins)


def packages(path):
    """The pins of a file, each with its hashes."""
    with open(path) as file:
        return [each for each in re.split(r"\n(?=\S)", file.read().strip()) if each[:1] not in ("", "#")]


def name_of(package):
    return package.partition("==")[0]


def write(path, packages):
    with open(path, "w") as file:
        file.write("\n".join(packages) + "\n")


def pip(*arguments):
    """The exit status of pip install."""
    # Of 25,000 modules a program imports a few thousand, which Python compiles when it does.
    usual = ["--quiet", "--disable-pip-version-check", "--no-compile"]
    return subprocess.call([PYTHON, "-m", "pip", "install", *usual, *arguments])


if __name__ == "__main__":
    main(sys.argv[1:])
