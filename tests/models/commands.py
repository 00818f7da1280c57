"""Commands as a person types them, run in the process of the test."""

from collections.abc import Callable, Iterable

import pytest

import attention_lab.models.sweeps.command_line  # noqa: F401 (it adds its commands)
from attention_lab.models.runs.command_line import main


def caller(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Function that runs a command and returns what it printed."""

    def run(*words: object, settings: Iterable[str] = ()) -> str:
        sets = [part for setting in settings for part in ("--set", setting)]
        monkeypatch.setattr("sys.argv", ["training", *map(str, words), *sets])
        main()
        return capsys.readouterr().out

    return run
