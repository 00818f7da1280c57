"""A run as one file to keep: weights and card, metrics as a table, its config."""

import io
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from models.byte_units import MB, readable
from models.limits import in_force
from models.runs import owners
from models.runs.owners import Visitor
from pages.shared.places import without_places
from pages.shared.training.runs import Run

ROOT = Path(__file__).resolve().parents[2]
MAX_BYTES = in_force().export_mb * MB


SECONDS = 180.0
"""Another program's format is written within so long, or not at all."""


def archive(run: Run, by: Visitor, form: str = "own") -> bytes:
    """The ZIP file of a run, in one of `models.runs.formats`. Raises NotAllowed where it is another
    visitor's, and ValueError where it has no checkpoint, does not fit the format, or is too large for a
    download.
    """
    from models.runs.export import export_run

    owners.check(run.folder.path, by, "export it")
    name = run.title if run.shipped else run.id
    with tempfile.TemporaryDirectory() as folder:
        if form == "own":
            export_run(run.folder, Path(folder), name=name, which=run.which)
        else:
            _write_apart(run, Path(folder), name, form)
        files = sorted(path for path in Path(folder).iterdir() if path.is_file())
        total = sum(path.stat().st_size for path in files)
        if total > MAX_BYTES:
            raise ValueError(
                f"this run has {readable(total)}; at most {readable(MAX_BYTES)} are downloaded: use "
                f"python -m models.training export {run.id} --out FOLDER"
            )
        out = io.BytesIO()
        # Weights are random numbers to a compressor; it would only take time.
        with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
            for path in files:
                inside = f"{name}/{path.name}"
                if path.suffix == ".json":
                    archive.writestr(inside, without_places(path.read_text(encoding="utf-8")))
                else:
                    archive.write(path, inside)
        return out.getvalue()


def _write_apart(run: Run, out: Path, name: str, form: str) -> None:
    """Writes a format of another program in a process of its own: its exporter takes seconds and changes
    what is shared by all threads. Raises ValueError.
    """
    command = [sys.executable, "-m", "models.training", "export", str(run.folder.path)]
    command += ["--out", str(out), "--name", name, "--format", form]
    command += ["--best"] if run.which == "best" else []
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, cwd=ROOT, check=False)
    except subprocess.TimeoutExpired:
        raise ValueError(
            f"the files were not written within {SECONDS:.0f} seconds; use python -m models.training export "
            f"{run.id} --out FOLDER --format {form}"
        ) from None
    if done.returncode < 0:
        raise ValueError(
            f"the process that wrote the files was ended from outside (signal {-done.returncode}), as a "
            "system without memory does; try again, or choose another format"
        )
    if done.returncode:
        said = done.stderr.strip().splitlines()
        raise ValueError(without_places(said[-1].removeprefix("error: ")) if said else "the export failed")
