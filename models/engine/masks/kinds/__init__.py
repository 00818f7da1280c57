"""The masks that have a name, a file each; every file of this folder is imported and calls `register`.

A new mask is a new file here, such as checkered.py:

    ABOUT = MaskName(title="checkered")
    register("checkered", lambda n, argument: ...)
"""

from importlib import import_module
from pkgutil import iter_modules

for found in iter_modules(__path__):
    import_module(f"{__name__}.{found.name}")
