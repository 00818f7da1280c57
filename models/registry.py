"""What is found by being there: the files of a folder, such as one for each mask, task or finding."""

from collections.abc import Iterable
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType


def import_all(package: str, folders: Iterable[str]) -> list[ModuleType]:
    """Every module of a package, imported, so that it registers what it has; by their names.

    package and folders: the `__name__` and `__path__` of the package.
    """
    return [import_module(f"{package}.{each.name}") for each in iter_modules(folders)]
