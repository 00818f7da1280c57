"""Commands as a person types them, run in the process of the test."""

from collections.abc import Callable, Iterable

import pytest

from models.runs.command_line import AddCommands, main


def caller(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *more: AddCommands
) -> Callable[..., str]:
    """Function that runs a command and returns what it printed. more: functions that add commands."""

    def run(*words: object, settings: Iterable[str] = ()) -> str:
        sets = [part for setting in settings for part in ("--set", setting)]
        monkeypatch.setattr("sys.argv", ["training", *map(str, words), *sets])
        main(*more)
        return capsys.readouterr().out

    return run
