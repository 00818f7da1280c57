"""What stands ready to start holds no data: a page that is played with must not fill the server's memory."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from attention_lab.models.data import text_sources
from attention_lab.models.data.learnt_tokenizer import LearntTokenizer
from attention_lab.pages.shared.training import settings, tasks_on_offer, uploads
from attention_lab.pages.shared.training.prepare import prepared

KEPT = {"language-model": {"tokenizer", "_opening"}, "masked": {"tokenizer", "_probe_text"}}
TEXT = b"to be or not to be, that is the question\n" * 100


@pytest.mark.parametrize("name", ["language-model", "masked"])
def test_a_file_is_read_once_and_not_kept(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    info = tasks_on_offer.tasks()[name]
    values = settings.defaults(info) | {"file": uploads.keep(TEXT, "hamlet.txt")}
    first = prepared(info, values)
    wanted = settings.run_config(info, values)
    assert first.config == wanted and first.watched == wanted.task.probe().text
    assert first.config.task.learnt() == wanted.task.learnt()
    assert vars(first.config.task).keys() == {*first.config.task.to_dict(), *KEPT[name]}
    monkeypatch.setattr(text_sources, "read_text", lambda path: pytest.fail("it was read before"))
    changed = prepared(info, values | {"n_heads": 2, "d_model": 32})
    assert changed.n_parameters < first.n_parameters
    if name == "language-model":  # pieces of one length, of which none is padding
        assert prepared(info, values | {"batch_size": 7}).data.batch_size == 7


def test_padding_is_told_for_the_batches_that_are_chosen() -> None:
    info = tasks_on_offer.tasks()["sentiment"]
    table = "text,label\n" + "".join(f"{'good film ' * (1 + 7 * n % 30)}{n},{n % 2}\n" for n in range(200))
    file = uploads.keep(table.encode(), "films.csv")
    values = settings.defaults(info) | {"file": file, "text_column": "text", "label_column": "label"}
    shares = {}
    for size in (1, 8, 64):
        found = prepared(info, values | {"batch_size": size}).data
        assert found.batch_size == size
        shares[size] = found.padding
    assert shares[1] == 0 < shares[8] < shares[64]


def test_another_batch_size_learns_no_other_tokenizer(monkeypatch: pytest.MonkeyPatch) -> None:
    info = tasks_on_offer.tasks()["everyday"]
    pairs = "".join(
        f"the {word} sees {n} dogs\tder {word} sieht {n} Hunde\n" for n in range(90) for word in "abc"
    )
    file = uploads.keep(pairs.encode(), "pairs.tsv")
    values = settings.defaults(info) | {"file": file, "vocabulary": 300}
    first = prepared(info, values | {"batch_size": 8})
    monkeypatch.setattr(LearntTokenizer, "bpe", lambda *_, **__: pytest.fail("it was learnt before"))
    again = prepared(info, values | {"batch_size": 16})
    assert again.config.task.learnt() == first.config.task.learnt()
    assert again.data.batch_size == 16


def test_what_was_refused_is_asked_again() -> None:
    info = tasks_on_offer.tasks()["language-model"]
    values = settings.defaults(info) | {"file": uploads.keep(b"short", "short.txt")}
    for _ in range(2):
        with pytest.raises(ValueError, match="does not fit the held-out tenth of the text"):
            prepared(info, values)


def test_a_visit_does_not_wait_for_a_file_that_another_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text that takes its time, and beside it the settings that every first visit shows."""
    info, done = tasks_on_offer.tasks()["language-model"], threading.Event()
    large = settings.defaults(info) | {"file": uploads.keep(TEXT * 2, "large.txt")}

    def slow(path: object, encoding: str) -> str:
        assert done.wait(60)
        return TEXT.decode() * 2

    monkeypatch.setattr(text_sources, "read_text", slow)
    with ThreadPoolExecutor() as pool:
        waits = pool.submit(prepared, info, large)
        reverse = tasks_on_offer.tasks()["reverse"]
        quick = pool.submit(prepared, reverse, settings.defaults(reverse) | {"seed": 71})
        assert quick.result(timeout=30).n_parameters > 0
        assert not waits.done()
        done.set()
        assert waits.result(timeout=30).n_parameters > 0


def test_more_threads_than_there_are_cores_are_refused() -> None:
    info = tasks_on_offer.tasks()["reverse"]
    cores = os.cpu_count()
    with pytest.raises(ValueError, match=rf"threads={cores + 1:,}, but this machine has {cores} cores?; try"):
        prepared(info, settings.defaults(info) | {"threads": cores + 1})
