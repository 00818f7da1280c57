"""Other limits than those that come with the app."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

SetLimits = Callable[..., None]
"""The fixture `set_limits`: puts these limits in force, here and in processes that the test starts."""


def write_limits(path: Path, **values: Any) -> Path:
    """A person's own file of limits; what is written as JSON is TOML, too."""
    path.write_text("".join(f"{name} = {json.dumps(value)}\n" for name, value in values.items()))
    return path
