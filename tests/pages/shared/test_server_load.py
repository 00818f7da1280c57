"""A server of a class that holds too much memory: what it drops, what it refuses, and with which words."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from attention_lab.models.byte_units import GB, MB
from attention_lab.models.limits import in_force
from attention_lab.models.runs.owners import Visitor
from attention_lab.pages.shared import cache, server_load, visitors
from attention_lab.pages.shared.browser import uploading
from attention_lab.pages.shared.cache import ByteCache
from attention_lab.pages.shared.training import prepare
from tests.limits import SetLimits
from tests.pages.texts_of_apptest import texts

PAGES = Path(__file__).parents[3] / "pages"
SAID = (
    "This server holds 3.0 GB of memory, more than its 500 MB (server_mb); try again in a minute, "
    "or ask its keeper to restart it."
)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch, set_limits: SetLimits) -> list[int]:
    """A class with 500 MB; the list's one number is what its server seems to hold."""
    bytes_held = [3 * GB]
    set_limits(server_mb=500)
    monkeypatch.setattr(visitors, "is_class", lambda: True)
    monkeypatch.setattr(visitors, "visitor", lambda: Visitor("anna"))
    monkeypatch.setattr(server_load, "resident", lambda: bytes_held[0])
    monkeypatch.setattr(server_load, "_dropped_at", -server_load.PAUSE_SECONDS)
    return bytes_held


def test_what_is_kept_is_dropped_before_anything_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = ByteCache("large", GB)
    kept.put("figure", np.ones(300 * MB // 8), 300 * MB)
    before = server_load.resident()
    below = replace(in_force(), server_mb=before // MB - 100)
    monkeypatch.setattr(server_load, "in_force", lambda: below)
    server_load.check_memory()  # one person alone may use what the machine has
    assert kept.get("figure") is not None
    monkeypatch.setattr(visitors, "is_class", lambda: True)
    monkeypatch.setattr(server_load, "_dropped_at", -server_load.PAUSE_SECONDS)
    server_load.check_memory()
    assert kept.get("figure") is None
    assert server_load.resident() < before - 250 * MB


def test_the_refusal_says_value_rule_and_remedy_and_ends_with_its_cause(held: list[int]) -> None:
    with pytest.raises(ValueError) as refused:
        server_load.check_memory()
    assert str(refused.value) == SAID
    held[0] = 400 * MB
    server_load.check_memory()


def test_everything_is_dropped_once_in_a_while_only(held: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    dropped: list[int] = []
    monkeypatch.setattr(server_load, "cache_clearers", [lambda: dropped.append(1)])
    for _ in range(3):
        with pytest.raises(ValueError):
            server_load.check_memory()
    assert dropped == [1]


EXPLORE = AppTest.from_file(str(PAGES / "explore" / "page.py"), default_timeout=60)
LAB = AppTest.from_string("from attention_lab.pages.lab import page; page.show('masks')", default_timeout=60)


@pytest.mark.parametrize("page", [EXPLORE, LAB], ids=["explore", "masks"])
def test_pages_say_it_in_place_and_show_their_figure_afterwards(held: list[int], page: AppTest) -> None:
    cache.payloads.drop()
    shown = page.run()
    assert not shown.exception
    assert texts(shown) == [SAID]
    held[0] = 400 * MB
    shown.run()
    assert not shown.exception and SAID not in texts(shown)


def test_neither_a_file_nor_a_run_is_taken_then(held: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploading, "_asking", {"anna": "anna"})
    assert uploading.refusal("anna", 1_000) == (503, SAID)
    monkeypatch.setattr(prepare.settings, "with_paths", lambda info, values: dict(values))
    info: Any = type("Info", (), {"name": "reverse", "options": ()})
    with pytest.raises(ValueError, match=r"^This server holds 3\.0 GB"):
        prepare.prepared(info, {"seed": 1})
