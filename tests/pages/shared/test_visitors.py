"""Who a browser is to the server: by nothing where one person is here, by a token's hash in a class."""

import hashlib
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest
import streamlit as st
from starlette.applications import Starlette
from starlette.testclient import TestClient

from attention_lab.models.files import FileError, read_json
from attention_lab.models.runs.owners import PERSON, Visitor
from attention_lab.pages.shared import teachers, visitors
from attention_lab.pages.shared.browser import requests
from attention_lab.pages.shared.visitors import without_places

TOKEN, OTHER = "a" * 43, "b" * 43
SetCookie = re.compile(
    r"attention_lab_visitor=([A-Za-z0-9_-]{43}); Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax(; Secure)?"
)


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    visitors.is_class.cache_clear()
    yield
    visitors.is_class.cache_clear()


@pytest.fixture
def a_class(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(visitors.CLASS, "1")


def come_with(monkeypatch: pytest.MonkeyPatch, cookies: dict[str, str]) -> None:
    monkeypatch.setattr(st, "context", SimpleNamespace(cookies=cookies, ip_address="127.0.0.1"))


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("127.0.0.1", False), ("127.0.0.2", False), ("::1", False), ("localhost", False),
        ("0.0.0.0", True), ("::", True), ("192.0.2.1", True), ("lab.example", True), ("", True), (None, True),
    ],
)  # fmt: skip
def test_a_server_that_others_can_reach_is_a_class(
    monkeypatch: pytest.MonkeyPatch, address: str | None, expected: bool
) -> None:
    monkeypatch.setattr(st, "get_option", lambda name: address)
    assert visitors.is_class() is expected


def test_alone_nothing_is_asked_and_everything_allowed() -> None:
    assert visitors.visitor() == PERSON
    answer = TestClient(Starlette(routes=requests.document_routes())).get("/runs")
    assert "set-cookie" not in answer.headers


@pytest.mark.usefixtures("a_class")
def test_a_visitor_is_known_by_the_hash_of_a_token_and_has_no_rights_over_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    come_with(monkeypatch, {visitors.COOKIE: TOKEN})
    anna = visitors.visitor()
    assert re.fullmatch("[0-9a-f]{32}", anna.id) and not anna.all_rights
    assert visitors.visitor() == anna
    come_with(monkeypatch, {visitors.COOKIE: OTHER})
    assert visitors.visitor().id != anna.id
    for forged in ({}, {visitors.COOKIE: ""}, {visitors.COOKIE: "person"}, {visitors.COOKIE: anna.id}):
        come_with(monkeypatch, forged)
        assert visitors.visitor() == Visitor("")


@pytest.mark.usefixtures("a_class")
def test_the_document_brings_a_new_token_once_and_leaves_it_to_no_script() -> None:
    app = Starlette(routes=requests.document_routes())
    first, second = (SetCookie.fullmatch(TestClient(app).get("/").headers["set-cookie"]) for _ in range(2))
    assert first and second and first[1] != second[1] and not first[2]
    again = TestClient(app, cookies={visitors.COOKIE: first[1]}).get("/runs").headers["set-cookie"]
    assert SetCookie.fullmatch(again)[1] == first[1]
    odd = TestClient(app, cookies={visitors.COOKIE: "x; y"}).get("/").headers["set-cookie"]
    assert SetCookie.fullmatch(odd)
    safe = TestClient(app, base_url="https://lab.example").get("/").headers["set-cookie"]
    assert safe.endswith("; Secure")


@pytest.mark.usefixtures("a_class")
def test_signing_in_brings_another_token_and_the_old_one_is_nobodys(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Who planted a token before knows nothing after, and what its visitor had stays theirs."""
    monkeypatch.setenv("ATTENTION_LAB_RUNS", str(tmp_path))
    monkeypatch.setenv(teachers.HASH, teachers.hashed("correct horse"))
    client = TestClient(Starlette(routes=requests.document_routes()), follow_redirects=False)

    def who(token: str) -> Visitor:
        come_with(monkeypatch, {visitors.COOKIE: token})
        return visitors.visitor()

    def sign_in(token: str) -> str:
        who(token)
        code = teachers.sign_in(visitors.token_id(), "correct horse")
        assert token == fresh or not who(token).all_rights
        stranger = client.get(f"/renew/{code}", headers={"cookie": f"{visitors.COOKIE}={OTHER}"})
        assert stranger.headers["location"] == "../teacher" and "set-cookie" not in stranger.headers
        answer = client.get(f"/renew/{code}", headers={"cookie": f"{visitors.COOKIE}={token}"})
        assert (answer.status_code, answer.headers["location"]) == (303, "../teacher")
        found = SetCookie.fullmatch(answer.headers["set-cookie"])
        assert found
        again = client.get(f"/renew/{code}", headers={"cookie": f"{visitors.COOKIE}={token}"})
        assert "set-cookie" not in again.headers
        return found[1]

    anna, fresh = who(TOKEN).id, ""
    fresh = sign_in(TOKEN)
    assert fresh != TOKEN and who(fresh) == Visitor(anna, all_rights=True)
    planted = who(TOKEN)
    assert planted.id not in (anna, "") and not planted.all_rights
    fresher = sign_in(fresh)  # once more
    assert who(fresher) == Visitor(anna, all_rights=True)
    assert who(fresh).id not in (anna, planted.id) and not who(fresh).all_rights
    assert who(OTHER) == Visitor(hashlib.sha256(OTHER.encode()).hexdigest()[:32])
    teachers.sign_out(visitors.token_id())
    who(fresher)
    teachers.sign_out(visitors.token_id())
    assert who(fresher) == Visitor(anna)
    everything = b"".join(
        path.read_bytes() + path.name.encode() for path in tmp_path.rglob("*") if path.is_file()
    )
    assert not any(token.encode() in everything for token in (TOKEN, fresh, fresher))


# Where things lie on the disk is no visitor's business.

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("ATTENTION_LAB_RUNS", str(tmp_path / "of" / "runs"))
    visitors.is_class.cache_clear()
    yield tmp_path / "of" / "runs"
    visitors.is_class.cache_clear()


@pytest.mark.usefixtures("a_class")
def test_on_whatever_thread_somebody_is_answered_as_themselves() -> None:
    browsers = [visitors.Browser(letter * 43, f"192.0.2.{at}") for at, letter in enumerate("ab", start=1)]
    expected = [(visitors.visitor_with(each.token), f"{each.host}/32") for each in browsers]

    def who() -> tuple[Visitor, str]:
        return visitors.visitor(), visitors.network()

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(lambda each: visitors.on_behalf(each, who), browsers)) == expected
    assert [visitors.on_behalf(each, who) for each in browsers] == expected
    assert visitors.asking.get() is None


def test_a_visitor_of_a_class_reads_names_and_no_folders(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = f"{runs}/uploads/{'0a' * 16}/{'f' * 64}.txt"
    with pytest.raises(FileError) as refused:
        read_json(runs / "a-1" / "config.json")
    texts = [
        str(refused.value),
        f"--set file={file} and {file}",
        f"{ROOT}/models/zoo: no; {ROOT}",
        f"{Path.home()}/elsewhere",
        "'/srv/models/bert' is no model",
    ]
    monkeypatch.setenv("ATTENTION_LAB_MODELS", "/srv/models")
    assert [without_places(text) for text in texts] == texts
    monkeypatch.setenv(visitors.CLASS, "1")
    visitors.is_class.cache_clear()
    assert [without_places(text) for text in texts] == [
        "'a-1/config.json' does not exist or is no file, but holds JSON; check the path",
        f"--set file={'f' * 64}.txt and {'f' * 64}.txt",
        f"models/zoo: no; {ROOT.name}",
        "elsewhere",
        "'bert' is no model",
    ]
