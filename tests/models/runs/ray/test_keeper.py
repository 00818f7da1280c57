"""What is said of a cluster's runs when it went away, or its dispatcher cannot live, without Ray."""

import socket
import sys
import time
from dataclasses import replace

import pytest

from attention_lab.models.data.tasks import make_task
from attention_lab.models.runs.folder import Status, create_run, read_status, write_request, write_status
from attention_lab.models.runs.ray import cluster, keeper
from attention_lab.models.runs.ray.cluster import TICKETS, any_in, leave, tickets
from attention_lab.models.runs.ray.keeper import RESUME, Keeper
from attention_lab.models.training.config import run_config

TRAINS = Status(state="running", step=1_200, steps=5_000, node="10.0.0.5", pid=1, started_at=0.0, attempt=2)


@pytest.fixture(autouse=True)
def hurry(root, monkeypatch):
    monkeypatch.setattr(keeper, "_SETTLING_SECONDS", 0.0)
    monkeypatch.setattr(keeper, "LOOK_SECONDS", 0.01)


def owed(root, found, status):
    """A run that the cluster has, with its ticket."""
    run = create_run(run_config(make_task("reverse")))
    write_status(run.path, replace(status, heartbeat=time.time()))
    leave(cluster.ticket_folder(root, found), run.id, "")
    return run


def test_a_cluster_that_went_away_ends_its_runs_in_a_sentence_and_loses_none(root, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as server:
        found = f"127.0.0.1:{server.getsockname()[1]}"
    monkeypatch.setattr(keeper, "GONE_SECONDS", 0.05)
    trains = owed(root, found, TRAINS)
    goes_on = owed(root, found, replace(TRAINS, state="queued", node="cluster", resumed=True))
    stopping = owed(root, found, TRAINS)
    write_request(stopping.path, "stop")
    elsewhere = owed(root, found, replace(TRAINS, attempt=3))
    here = owed(root, found, replace(TRAINS, node="", state="finished"))
    for ticket in tickets(cluster.ticket_folder(root, found)):
        ticket.attempt = 2
        ticket.write()
    Keeper(root, found).keep()
    ended = {run: read_status(run.path) for run in (trains, goes_on, stopping)}
    assert [status.state for status in ended.values()] == ["failed", "paused", "stopped"]
    assert {status.sentence for status in ended.values()} == {
        f"the cluster at {found} went away at step 1,200; {RESUME}"
    }
    assert {status.attempt for status in ended.values()} == {3}  # a worker that was only cut off sees this
    assert ended[goes_on].refused and not ended[stopping].resumed
    assert read_status(elsewhere.path).live  # another has had it since
    assert read_status(here.path).state == "finished"
    assert not any_in(cluster.ticket_folder(root, found))


def test_a_dispatcher_that_cannot_live_is_not_started_for_ever(root, monkeypatch):
    monkeypatch.setattr(keeper, "DISPATCHER", [sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"])
    with socket.create_server(("127.0.0.1", 0), backlog=100) as server:
        found = f"127.0.0.1:{server.getsockname()[1]}"
        run = owed(root, found, replace(TRAINS, state="queued", step=0))
        Keeper(root, found).keep()
    ticket_folder = cluster.ticket_folder(root, found).relative_to(root)
    assert read_status(run.path).sentence == (
        f"the cluster's dispatcher was lost 4 times ({ticket_folder}/log.txt says why) at step 0; {RESUME}"
    )


def test_tickets_say_what_was_written_and_damaged_ones_go(tmp_path):
    leave(tmp_path, "one", "7:1.0:x")
    leave(tmp_path, "two", "")
    one, two = tickets(tmp_path)
    two.attempt, two.tries = 5, 2
    two.write()
    (tmp_path / TICKETS / "0-broken.json").write_text("{")
    assert tickets(tmp_path) == [one, two]
    assert (one.run_id, one.parent, one.attempt) == ("one", "7:1.0:x", 0)
    assert len(list((tmp_path / TICKETS).iterdir())) == 2
    for ticket in (one, two):
        ticket.drop()
    assert not any_in(tmp_path)
