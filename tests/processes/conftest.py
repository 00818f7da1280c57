"""Servers that many tests share: the app as `make run` starts it, and as it is for a class."""

from collections.abc import Iterator

import pytest

from attention_lab.models.limits import FILE
from attention_lab.pages.shared import teachers, visitors
from tests.limits import write_limits
from tools.background_servers import Server, serving_the_app

SECRET = "correct horse"


@pytest.fixture(scope="session")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving_the_app(tmp_path_factory.mktemp("server") / "log.txt") as running:
        yield running


@pytest.fixture(scope="session")
def teachers_hash() -> str:
    return teachers.hashed(SECRET)


@pytest.fixture(scope="session")
def class_app(tmp_path_factory: pytest.TempPathFactory, teachers_hash: str) -> Iterator[Server]:
    """A visitor's run has at most 1,000 steps there; the teacher's secret is `SECRET`."""
    folder = tmp_path_factory.mktemp("class")
    limits = write_limits(folder / "limits.toml", visitor_steps=1_000)
    settings = {visitors.CLASS: "1", teachers.HASH: teachers_hash, FILE: str(limits)}
    with serving_the_app(folder / "log.txt", **settings) as running:
        yield running
