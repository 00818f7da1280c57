"""Who a browser is to the server: by nothing where one person is here, by a token's hash in a class."""

import re
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
import streamlit as st
from starlette.applications import Starlette
from starlette.testclient import TestClient

from models.runs.owners import PERSON, Visitor
from pages.shared import visitors
from pages.shared.browser import document

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
    monkeypatch.setattr(st, "context", SimpleNamespace(cookies=cookies))


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
    answer = TestClient(Starlette(routes=document.routes())).get("/runs")
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
    app = Starlette(routes=document.routes())
    first, second = (SetCookie.fullmatch(TestClient(app).get("/").headers["set-cookie"]) for _ in range(2))
    assert first and second and first[1] != second[1] and not first[2]
    again = TestClient(app, cookies={visitors.COOKIE: first[1]}).get("/runs").headers["set-cookie"]
    assert SetCookie.fullmatch(again)[1] == first[1]
    odd = TestClient(app, cookies={visitors.COOKIE: "x; y"}).get("/").headers["set-cookie"]
    assert SetCookie.fullmatch(odd)
    safe = TestClient(app, base_url="https://lab.example").get("/").headers["set-cookie"]
    assert safe.endswith("; Secure")
