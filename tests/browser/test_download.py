"""The download of a model of transformers on Explore, from a hub of the test's own: offered, stopped, opened,
refused in a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from attention_lab.models import load_model
from attention_lab.models.byte_units import readable
from tests.browser.conftest import visit_first
from tests.browser.explore_page import ExplorePage, agrees
from tests.browser.test_transformers import name_another
from tests.limits import write_limits
from tests.models.zoo.hub import families, small_hub
from tests.models.zoo.hub.families import TEXT
from tests.models.zoo.hub.small_hub import SmallHub
from tools.background_servers import serving_the_app, until

LARGE = {"n_embd": 128, "n_layer": 4}  # 3 MB of weights


@dataclass(frozen=True)
class Hub:
    """The hub, and the address of a server of the app that knows it and confirms from 1 MB."""

    served: SmallHub
    app: str
    folder: Path

    @property
    def n_bytes(self) -> int:
        """Of what comes of the large model: all files but the one that is no part of it."""
        files = self.served.files("someone/large")
        return sum(len(content) for name, content in files.items() if name != "pytorch_model.bin")


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Hub]:
    root = tmp_path_factory.mktemp("hub")
    families.save("gpt2", root / "hub" / "someone" / "large", **LARGE)
    (root / "hub" / "someone" / "large" / "pytorch_model.bin").write_bytes(b"never fetched")
    for name, weights in (("pickled", "pytorch_model.bin"), ("gated", "model.safetensors")):
        folder = root / "hub" / "someone" / name
        folder.mkdir()
        (folder / "config.json").write_text("{}")
        (folder / weights).write_bytes(b"x")
    families.save("gpt2", root / "local" / "tiny")
    with small_hub.serving(root / "hub") as served:
        served.gated.add("someone/gated")
        settings = {
            "HF_ENDPOINT": served.url,
            "HF_HUB_CACHE": str(root / "cache"),
            "ATTENTION_LAB_MODELS": str(root / "local"),
            "ATTENTION_LAB_LIMITS": str(write_limits(root / "limits.toml", confirm_mb=1)),
        }
        with serving_the_app(root / "log.txt", **settings) as server:
            visit_first(browser, server.url)
            yield Hub(served, server.url, root / "cache")


@pytest.fixture(scope="module")
def app_url(hub: Hub) -> str:
    """The pages of this file's tests come from its own server."""
    return hub.app


def look_up(explore: ExplorePage, name: str) -> None:
    field = explore.page.get_by_role("textbox", name="Name or folder of a model")
    field.fill(name)
    field.press("Enter")
    explore.page.get_by_role("button", name=f"Look up {name}").click()


def test_a_model_is_looked_up_confirmed_stopped_fetched_and_opened(
    explore: ExplorePage, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    explore.open()
    explore.page.set_default_timeout(60_000)
    page, size = explore.page, readable(hub.n_bytes)
    name_another(explore, "someone/large")
    expect(explore.refused_in_dialog).to_contain_text("'someone/large' is not on this machine")
    look_up(explore, "someone/large")
    offer = page.get_by_text("12.3 million weights as float32; licence: mit.")
    expect(offer).to_have_text(
        f"someone/large: {size} in {len(hub.served.files('someone/large')) - 1} files, "
        "12.3 million weights as float32; licence: mit."
    )
    start = page.get_by_role("button", name=f"Download {size}")
    expect(start).to_be_disabled()
    assert not any("resolve" in asked for asked in hub.served.asked)

    hub.served.pause = 0.2  # about ten seconds
    page.get_by_text(f"Yes, download {size}").click()
    start.click()
    expect(page.get_by_text(f"of {size} have come")).to_contain_text("someone/large:")
    expect(page.get_by_role("progressbar")).not_to_have_attribute("aria-valuenow", "0")
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(page.get_by_text("'someone/large' was stopped")).to_be_visible(timeout=30_000)
    left = partial(hub.folder.rglob, "*.incomplete")  # they go once the hub's next bytes come
    until(lambda: not list(left()), lambda: list(left()))
    assert not list(hub.folder.rglob("config.json"))

    hub.served.pause = 0
    page.get_by_role("button", name="Look up someone/large").click()
    page.get_by_text(f"Yes, download {size}").click()
    start.click()
    with explore.redrawn():
        page.get_by_role("button", name="Open someone/large, which has come").click()
    assert not list(hub.folder.rglob("*.bin"))
    explore.trained("hf:someone/large", text=TEXT, view="head", layer=3, head=2)
    monkeypatch.setenv("ATTENTION_LAB_MODELS", str(hub.served.root / "someone"))
    trace = load_model("hf:large").trace(TEXT)
    explore.hover_cell(9, 4)
    assert agrees(explore.terms()["weight"], trace["decoder.3.self.pattern"][2, 9, 4].item())


def test_what_cannot_be_had_is_one_sentence_and_offline_names_what_is_here(
    explore: ExplorePage, hub: Hub
) -> None:
    explore.open()
    name_another(explore, "someone/unknown")
    sentences = {
        "someone/unknown": "'someone/unknown' is no public model of the hub",
        "someone/gated": "'someone/gated' is gated: ask for it on its page",
        "someone/pickled": "'someone/pickled' has no .safetensors file on the hub",
    }
    for name, sentence in sentences.items():
        look_up(explore, name)
        expect(explore.refused_in_dialog).to_contain_text(sentence)
        expect(explore.refused_in_dialog.get_by_role("alert")).to_have_count(1)
        expect(explore.stage.locator(".notice")).to_contain_text("animal")  # the model before it
    hub.served.is_closed = True
    look_up(explore, "someone/away")
    expect(explore.refused_in_dialog).to_contain_text(
        f"The hub ({hub.served.url}) cannot be reached from this machine"
    )
    expect(explore.refused_in_dialog).to_contain_text(
        re.compile(r"On this machine: (someone/large, )?tiny\.")
    )
    expect(explore.stage.locator(".notice")).to_contain_text("animal")
