"""The kinds of changes, a file each; every file of this folder is imported and calls `register`."""

from importlib import import_module
from pkgutil import iter_modules

for found in iter_modules(__path__):
    import_module(f"{__name__}.{found.name}")
