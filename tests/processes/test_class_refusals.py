"""A class on one server, attacked with messages that no page of ours would send: what is another's stays so,
though buttons were drawn, links are known, and values are made up.
"""

import asyncio
import hashlib
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import httpx2 as httpx
import psutil
import pytest

from attention_lab.models.data.tasks import make_task
from attention_lab.models.runs.folder import Status, create_run, read_request, write_status
from attention_lab.models.runs.owners import Ownership, write_owned
from attention_lab.models.sweeps import sweeps_root
from attention_lab.models.training.config import run_config
from attention_lab.pages.shared import teachers, visitors
from tests.processes.conftest import SECRET
from tests.processes.visitor import Visitor, ask, visiting
from tools.background_servers import ROOT, Server

TOKENS = {name: name[0] * 43 for name in ("anna", "ben", "teacher")}
IDS = {name: hashlib.sha256(token.encode()).hexdigest()[:32] for name, token in TOKENS.items()}
Come = Callable[..., AbstractAsyncContextManager[Visitor]]


@pytest.fixture
def server(class_app: Server, teachers_hash: str, monkeypatch: pytest.MonkeyPatch) -> Server:
    """The server of a class; this process knows its runs and its teacher, too."""
    monkeypatch.setenv("ATTENTION_LAB_RUNS", str(class_app.log.parent / "runs"))
    monkeypatch.setenv(teachers.HASH, teachers_hash)
    return class_app


@pytest.fixture
def come(server: Server) -> Come:
    """Function that opens a page as somebody; "" keeps no cookie."""

    @asynccontextmanager
    async def visit(who: str, page: str = "", query: str = "") -> AsyncIterator[Visitor]:
        cookie = f"{visitors.COOKIE}={TOKENS[who]}" if who else ""
        async with visiting(server.url, page, query, cookie) as visitor:
            yield visitor
            assert not any("Error" in line for line in visitor.said), visitor.said

    return visit


@pytest.fixture(scope="module")
def sleeper() -> Iterator[psutil.Process]:
    """A process that seems to train, and may be killed for it."""
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]) as process:
        yield psutil.Process(process.pid)
        process.kill()


@pytest.fixture
def hers(server: Server, sleeper: psutil.Process) -> Path:
    """A run of Anna's that seems to train."""
    sizes = {"n_layers": 1, "n_heads": 2, "d_model": 16}
    run = create_run(run_config(make_task("reverse"), sizes=sizes, training={"steps": 50}))
    write_owned(run.path, Ownership(owner=IDS["anna"]))
    seem(run.path, sleeper)
    return run.path


def seem(run: Path, process: psutil.Process, state: str = "running") -> None:
    """What the run's process would say of itself now."""
    who = {"pid": process.pid, "started_at": process.create_time(), "heartbeat": time.time()}
    write_status(run, Status(state=state, step=20, steps=50, **who))


def content(run: Path) -> dict[str, bytes]:
    names = {"config.json", "owner.json", "request.json"}
    return {path.name: path.read_bytes() for path in run.iterdir() if path.name in names}


def row(run: Path) -> bytes:
    """How the table of all runs names a run."""
    return f'"{run.name}"'.encode()


def refused(visitor: Visitor, act: str) -> bool:
    sentence = f"this run is another visitor's: only its owner and a teacher may {act}"
    return any(sentence in line for line in visitor.said)


@pytest.mark.parametrize(
    ("label", "state", "act"),
    [
        ("Save", "running", "change its notes"),
        ("Share", "running", "share it"),
        ("Delete for good", "stopped", "delete it"),
    ],
)
def test_a_button_that_was_drawn_is_no_right(
    hers: Path, come: Come, sleeper: psutil.Process, label: str, state: str, act: str
) -> None:
    async def attack() -> None:
        async with come("ben", "runs", f"runs={hers.name}") as ben:
            write_owned(hers, Ownership(owner=IDS["anna"], shared=True))  # it was his when it was drawn
            before = content(hers)
            await ben.press(label)
            assert refused(ben, act), ben.said
            assert content(hers) == before

    seem(hers, sleeper, state)
    write_owned(hers, Ownership(owner=IDS["ben"]))
    asyncio.run(attack())


@pytest.mark.parametrize("signed_in", [False, True])
def test_a_teacher_who_has_signed_out_stops_nothing(
    hers: Path, come: Come, sleeper: psutil.Process, signed_in: bool
) -> None:
    async def attack() -> None:
        async with come("teacher", "train", f"run={hers.name}") as teacher:
            if not signed_in:
                teachers.sign_out(IDS["teacher"])
            seem(hers, sleeper)
            await teacher.press("Stop")
            assert read_request(hers) == ("stop" if signed_in else None)

    teachers.sign_in(IDS["teacher"], SECRET)
    teachers.record_sign_in(IDS["teacher"])
    asyncio.run(attack())


def test_a_shared_run_shows_no_button_and_another_run_nothing(hers: Path, come: Come) -> None:
    async def look() -> None:
        for who in ("ben", ""):
            write_owned(hers, Ownership(owner=IDS["anna"]))
            async with come(who, "runs", f"runs={hers.name}") as visitor:
                assert f"The link's run '{hers.name}' is not here; choose one of the list." in visitor.said
                assert row(hers) not in visitor.received
            write_owned(hers, Ownership(owner=IDS["anna"], shared=True))
            async with come(who, "runs", f"runs={hers.name}") as visitor:
                assert row(hers) in visitor.received
                assert not {"Rename", "Share", "Unshare", "Delete for good", "Go on"} & {
                    *visitor.widgets,
                    *visitor.buttons,
                }

    asyncio.run(look())


def test_another_visitors_run_is_opened_on_explore_by_no_question(server: Server, hers: Path) -> None:
    sentence = (
        f"'run:{hers.name}' is no run with a checkpoint on this machine; the previous model stays loaded."
    )
    for cookie in ("", f"{visitors.COOKIE}={TOKENS['ben']}"):
        for asked in ({"model": f"run:{hers.name}"}, {"model": "run:none"}):
            answer = ask(server.url, cookie, **asked)
            assert answer.status_code == 422
            assert answer.json()["problem"] == sentence.replace(f"run:{hers.name}", asked["model"])
    answer = ask(server.url, widens=f"run:{hers.name}", before=f"run:{hers.name}", text="the zebra")
    assert answer.status_code == 200 and b"run: " not in answer.content


def test_who_keeps_no_cookie_and_who_asks_for_too_much_start_nothing(server: Server, come: Come) -> None:
    root = server.log.parent / "runs"

    async def attack() -> None:
        before = sorted(path.name for path in root.glob("*/config.json"))
        async with come("", "train", "task=reverse") as nobody:
            assert any("your browser keeps no cookie of this server" in line for line in nobody.said)
            await nobody.press("Start")
            assert any("your browser keeps no cookie of this server" in line for line in nobody.said)
        async with come("ben", "train", "task=reverse&steps=10000000") as ben:
            await ben.press("Start")
            said = "steps=10,000,000, but a visitor's run has at most 1,000; take fewer steps"
            assert any(said in line for line in ben.said), ben.said
        async with come("ben", "train", "task=reverse&steps=900&keep_going=True") as ben:
            await ben.press("Start")
            assert any("only a teacher's runs go on when the server stops" in line for line in ben.said)
        assert sorted(path.name for path in root.glob("*/config.json")) == before

    asyncio.run(attack())


def test_another_visitors_file_is_found_by_no_link(server: Server, come: Come) -> None:
    name = f"{hashlib.sha256(b'her text').hexdigest()}.txt"
    theirs = server.log.parent / "runs" / "uploads" / IDS["anna"]
    theirs.mkdir(parents=True, exist_ok=True)
    (theirs / name).write_bytes(b"her text")

    async def attack() -> None:
        async with come("anna", "train", f"task=masked&file={name}") as anna:
            assert not any("is not the name of a file" in line for line in anna.said), anna.said
        async with come("ben", "train", f"task=masked&file={name}") as ben:
            assert any("is not the name of a file that you handed in here" in line for line in ben.said)

    asyncio.run(attack())


def test_a_visitor_is_told_no_folder_of_the_server(hers: Path, come: Come, sleeper: psutil.Process) -> None:
    (hers / "task.json").write_text("{")
    seem(hers, sleeper, "stopped")

    async def look() -> None:
        for page, query in (("runs", f"runs={hers.name}"), ("train", f"run={hers.name}")):
            async with come("anna", page, query) as anna:
                assert hers.name.encode() in anna.received
                assert str(hers.parent).encode() not in anna.received

    asyncio.run(look())


def test_the_log_says_nothing_of_what_visitors_type(server: Server, come: Come) -> None:
    async def type_everywhere() -> None:
        async with come("ben", "", "model=zebraword&text=zebraword") as ben:
            assert b"zebraword" in ben.received
        assert b"zebraword" in ask(server.url, text="the zebraword did not cross").content
        long = ask(server.url, text="zebraword " * 3_000)
        assert (long.status_code, "at most 20,000 are read" in long.text) == (422, True)
        async with come("ben", "softmax", "part=head&sentence=zebraword"):
            pass
        async with come("ben", "teacher") as ben:
            await ben.set("Secret", "zebraword zebraword")

    asyncio.run(type_everywhere())
    assert "zebraword" not in server.log.read_text()


def test_a_class_behind_a_proxy_answers_to_the_names_that_its_visitors_use(server: Server) -> None:
    for host in ("lab.example:8501", "192.0.2.1", "localhost"):
        assert httpx.get(f"{server.url}/runs", headers={"Host": host}).status_code == 200
    asked = {"Host": "lab.example", "Origin": "http://evil.example"}
    assert httpx.post(f"{server.url}/runs", headers=asked).status_code == 403


def test_no_message_names_a_folder_of_the_server(server: Server, hers: Path, come: Come) -> None:
    """Neither the first, with Streamlit's own paths, nor that of a damaged run or sweep."""
    sweep = sweeps_root() / "broken"
    places = [str(place).encode() for place in (ROOT, hers.parent, Path.home())]

    async def visit() -> None:
        for page, query in (
            ("", ""),
            ("runs", f"runs={hers.name}"),
            ("sweeps", ""),
            ("sweeps", "sweep=broken"),
        ):
            async with come("anna", page, query) as anna:
                assert anna.session
                for place in places:
                    at = anna.received.find(place)
                    assert at < 0, (page, query, anna.received[max(0, at - 80) : at + 120])

    write_owned(hers, Ownership(owner=IDS["anna"]))
    sweep.mkdir(parents=True)
    (sweep / "sweep.json").write_text("{")
    (hers / "config.json").write_text("{")
    asyncio.run(visit())
