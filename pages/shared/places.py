"""Folders on the server's disk, which visitors of a class are not told."""

import re
from pathlib import Path

from models.data.downloads import data_root
from models.zoo.run_folders import runs_root
from pages.shared import visitors

_ROOT = Path(__file__).parents[2]
_UPLOADS = re.compile(r"\buploads/[0-9a-z]+/")


def without_places(text: str) -> str:
    """A text in which, for visitors of a class, paths are shortened to the names of files."""
    if not visitors.is_class():
        return text
    given = (runs_root(), data_root(), _ROOT, Path.home())
    folders = {str(place) for root in given for place in (root, root.resolve())} - {"/"}
    for folder in sorted(folders, key=len, reverse=True):
        text = text.replace(f"{folder}/", "").replace(folder, Path(folder).name)
    return _UPLOADS.sub("", text)
