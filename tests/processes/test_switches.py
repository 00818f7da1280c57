"""Servers with a switch of the limits on: one page alone, and looking only."""

import asyncio
from pathlib import Path

import httpx2 as httpx
import pytest

from attention_lab.models.limits import FILE
from attention_lab.pages.shared import visitors
from tests.limits import write_limits
from tests.processes.visitor import visiting
from tools.background_servers import serving_the_app


@pytest.mark.parametrize("page", ["", "start", "masks", "train", "runs", "softmax"])
def test_a_kiosk_has_one_page_whatever_is_asked(kiosk: str, page: str) -> None:
    async def visit() -> None:
        async with visiting(kiosk, page, "task=reverse&model=untrained") as visitor:
            assert "Mask" in visitor.widgets
            assert not {"Start", "Model", "Task"} & {*visitor.widgets, *visitor.buttons}

    asyncio.run(visit())


@pytest.fixture(scope="module")
def kiosk(tmp_path_factory: pytest.TempPathFactory):
    folder = tmp_path_factory.mktemp("kiosk")
    limits = write_limits(folder / "limits.toml", kiosk="masks")
    with serving_the_app(folder / "log.txt", **{FILE: str(limits), visitors.CLASS: "1"}) as server:
        yield server.url


def test_who_only_looks_starts_nothing(tmp_path: Path) -> None:
    async def visit(url: str) -> None:
        async with visiting(url, "train", "task=reverse") as visitor:
            await visitor.press("Start")
            said = "this server is read-only: it trains nothing"
            assert any(said in line for line in visitor.said), visitor.said

    limits = write_limits(tmp_path / "limits.toml", read_only=True)
    with serving_the_app(tmp_path / "log.txt", **{FILE: str(limits)}) as server:
        asyncio.run(visit(server.url))
        assert httpx.post(f"{server.url}/explore/answer", json={"model": "untrained"}).status_code == 200
    assert list((tmp_path / "runs").glob("*/config.json")) == []
