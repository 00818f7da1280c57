"""Builds the package that `uvx attention-lab` starts, and checks it: `make wheel`.

    python -m tools.wheel dist

The wheel must have at most 60 MB, all files of the app that git keeps and no others, and a licence for each
script of others. Whether the index takes its description is checked by twine, which `make wheel` runs.
"""

import argparse
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import hatchling.build

from tools.javascript import ROOT, VENDORED

MOST_BYTES = 60_000_000
PACKAGE = "attention_lab"
INSIDE = (".streamlit", "models", "pages", "viz_core", "app.py")
"""What lies beside the package in the repository."""


def build(folder: Path) -> Path:
    """Writes the wheel into a folder, and no other wheel stays there."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob(f"{PACKAGE}-*.whl"):
        old.unlink()
    os.chdir(ROOT)  # where hatchling looks for pyproject.toml
    return folder / hatchling.build.build_wheel(str(folder))


def problems(wheel: Path, expected: set[str]) -> list[str]:
    """A sentence for each thing that is wrong with a wheel. expected: the files that it should have."""
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        licences = {Path(name).name for name in archive.namelist() if ".dist-info/licenses/" in name}
    scripts = {f"{file.name}.LICENSE" for file in VENDORED.glob("*.js")}
    size = wheel.stat().st_size
    too_large = [f"it has {size / 1e6:.1f} MB; at most {MOST_BYTES / 1e6:.0f} are allowed"]
    return [
        *(too_large if size > MOST_BYTES else []),
        *(f"it lacks {name}" for name in sorted(expected - names)),
        *(f"it has {name}, which git does not keep" for name in sorted(names - expected)),
        *(f"it lacks the licence {name}" for name in sorted({"LICENSE", *scripts} - licences)),
    ]


def files_of_the_app() -> set[str]:
    """The files that git keeps, by their names in the wheel; in a copy without git, all that are there."""
    paths = [str(path) for path in (PACKAGE, *INSIDE)]
    listed = subprocess.run(["git", "ls-files", "-z", *paths], cwd=ROOT, capture_output=True, text=True)
    names = [name for name in listed.stdout.split("\0") if name and (ROOT / name).exists()]
    if listed.returncode:
        files = (
            file for path in paths for file in [ROOT / path, *(ROOT / path).rglob("*")] if file.is_file()
        )
        names = [file.relative_to(ROOT).as_posix() for file in files if "__pycache__" not in file.parts]
    return {name if name.startswith(f"{PACKAGE}/") else f"{PACKAGE}/{name}" for name in names}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the wheel goes")
    wheel = build(parser.parse_args().folder.absolute())
    wrong = problems(wheel, files_of_the_app())
    if wrong:
        sys.exit("\n".join(f"{wheel.name}: {each}" for each in wrong[:20]))
    print(f"{wheel}: {wheel.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
