"""A run as one file to keep: weights and card, metrics as a table, its config."""

import io
import tempfile
import zipfile
from pathlib import Path

from models.byte_units import MB, readable
from models.limits import in_force
from models.runs import owners
from models.runs.owners import Visitor
from pages.shared.places import without_places
from pages.shared.training.runs import Run

MAX_BYTES = in_force().export_mb * MB


def archive(run: Run, by: Visitor) -> bytes:
    """The ZIP file of a run. Raises NotAllowed where it is another visitor's, and ValueError where it has no
    checkpoint or is too large for a download.
    """
    from models.runs.export import export_run

    owners.check(run.folder.path, by, "export it")
    name = run.title if run.shipped else run.id
    with tempfile.TemporaryDirectory() as folder:
        export_run(run.folder, Path(folder), name=name)
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
