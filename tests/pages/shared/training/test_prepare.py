"""What stands ready to start holds no data: a page that is played with must not fill the server's memory."""

import pytest

from models.data import text_sources
from pages.shared.training import settings, tasks_on_offer, uploads
from pages.shared.training.prepare import prepared

TEXT = b"to be or not to be, that is the question\n" * 100


@pytest.mark.parametrize("name", ["language-model", "masked"])
def test_a_file_is_read_once_and_not_kept(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    info = tasks_on_offer.tasks()[name]
    values = settings.defaults(info) | {"file": uploads.keep(TEXT, "hamlet.txt")}
    first = prepared(info, values)
    wanted = settings.run_config(info, values)
    assert first.config == wanted and first.watched == wanted.task.probe().text
    assert first.config.task.learnt() == wanted.task.learnt()
    assert not {"_texts", "_ids", "_examples"} & set(vars(first.config.task))
    monkeypatch.setattr(text_sources, "read_text", lambda path: pytest.fail("it was read before"))
    changed = prepared(info, values | {"n_heads": 2, "d_model": 32})
    assert changed.n_parameters < first.n_parameters


def test_what_was_refused_is_asked_again() -> None:
    info = tasks_on_offer.tasks()["language-model"]
    values = settings.defaults(info) | {"file": uploads.keep(b"short", "short.txt")}
    for _ in range(2):
        with pytest.raises(ValueError, match="does not fit the held-out tenth of the text"):
            prepared(info, values)
