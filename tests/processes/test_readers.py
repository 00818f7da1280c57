"""Folders of models that loop, grow or panic, in a server: their sender gets a sentence, and nobody waits."""

import json
import os
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from attention_lab.models import zoo
from attention_lab.models.zoo.hub import isolation
from attention_lab.pages.shared import cache, work_process

LOOP = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
LOOP_ON_A_WORD = "{% if 'street' in messages[0].content %}" + LOOP + "{% endif %}{{ messages[0].content }}"


@pytest.fixture
def serving() -> Iterator[None]:
    """The readers of a server, until the test is over."""
    work_process.serve_readers()
    yield
    isolation.set_runner(None)
    cache.transformers.drop()


@pytest.fixture(scope="module", autouse=True)
def _ended() -> Iterator[None]:
    """Ends the processes after the last test: each takes seconds to start."""
    yield
    for reader in work_process.readers:
        reader.process.end()


@pytest.fixture
def two_seconds(serving: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A deadline of two seconds for a text, once the processes have started."""
    for reader in work_process.readers:
        reader.call(os.getpid)
        monkeypatch.setattr(reader.process, "seconds", 2.0)


def model_of(folder: Path, template: str = "", **tokenizer: Any) -> str:
    """The name of a small GPT-2 with this template and these parts of a tokenizer."""
    # Three seconds of imports, which no other worker needs.
    from tests.models.zoo.hub import families
    from tests.models.zoo.hub.test_hostile import tokenizer_says

    families.save("gpt2", folder)
    tokenizer_says(folder, **tokenizer)
    if template:
        (folder / "chat_template.jinja").write_text(template)
    return f"hf:{folder}"


def refusal_of(work: Callable[[], Any]) -> str:
    with pytest.raises(ValueError) as refused:
        work()
    return str(refused.value)


@pytest.mark.usefixtures("two_seconds")
def test_while_a_chat_template_loops_others_read_and_compute(tmp_path: Path) -> None:
    hostile = cache.model(model_of(tmp_path / "hostile", LOOP_ON_A_WORD))
    other = cache.model(model_of(tmp_path / "other"))
    assert cache.on_worker(lambda: hostile.read("a b", chat="on")).text == "a b"
    cache.on_worker(lambda: other.read("the animal"))
    said: list[str] = []

    def ask() -> None:
        said.append(refusal_of(lambda: cache.on_worker(lambda: hostile.read("the street", chat="on"))))

    visitor = threading.Thread(target=ask)
    begun = time.monotonic()
    visitor.start()
    time.sleep(0.2)
    waits = []
    other.trace("the animal")
    while visitor.is_alive() and time.monotonic() < begun + 1.8:
        asked = time.monotonic()
        text = f"the animal {len(waits)}"
        trace = cache.on_worker(lambda text=text: other.trace(text))
        waits.append(time.monotonic() - asked)
        assert trace.tokens["decoder"][:2] == ["the", " animal"]
    assert len(waits) > 3 and statistics.median(waits[1:]) < 0.5  # the first starts nothing any more
    visitor.join(timeout=20)
    assert time.monotonic() - begun < 10
    assert said == [
        "This took over 2 seconds, the most for the reading of a model's folder; give a shorter text, or "
        "open another model."
    ]
    assert cache.on_worker(lambda: hostile.read("a c", chat="on")).text == "a c"


@pytest.mark.usefixtures("two_seconds")
def test_a_template_that_loops_on_every_text_is_found_when_the_folder_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.model(model_of(tmp_path / "first"))  # what it imports is there then
    monkeypatch.setattr(work_process, "OPENING_SECONDS", 5.0)
    name = model_of(tmp_path / "a", LOOP)
    assert "the most for the reading of a model's folder" in refusal_of(lambda: cache.model(name))
    begun = time.monotonic()
    assert "the most for the reading" in refusal_of(lambda: cache.model(name))
    assert time.monotonic() - begun < 1, "the verdict was kept"
    (tmp_path / "a" / "chat_template.jinja").write_text("{{ messages[0].content }}")
    time.sleep(1.1)  # a page looks at a folder once a second
    assert cache.model(name).kind == "decoder-only"


@pytest.mark.usefixtures("serving")
def test_a_tokenizer_that_multiplies_a_text_ends_its_own_process_alone(tmp_path: Path) -> None:
    grows = {"type": "Replace", "pattern": {"String": "z"}, "content": "b" * 10**6}
    model = cache.model(model_of(tmp_path / "a", normalizer=grows))
    said = refusal_of(lambda: cache.on_worker(lambda: model.read("z" * 20_000)))
    assert said.startswith(
        ("The process that computed this was ended by the signal SIGABRT", "This takes over")
    )
    assert said.endswith("give a shorter text, or open another model.")
    assert cache.on_worker(lambda: model.read("the animal")).tokens["decoder"]


@pytest.mark.usefixtures("serving")
def test_more_text_than_a_server_should_hold_does_not_come_back(tmp_path: Path) -> None:
    grows = {"type": "Replace", "pattern": {"String": "a"}, "content": "b" * 10**6}
    model = cache.model(model_of(tmp_path / "a", decoder=grows))
    said = refusal_of(lambda: model.tokenizer.decode(100 * model.tokenizer.ids("a")))
    assert said == (
        "This makes over 64 MB, the most for the reading of a model's folder; give a shorter text, or open "
        "another model."
    )


@pytest.mark.usefixtures("serving")
def test_a_panic_in_a_server_is_a_sentence_and_its_process_goes_on(tmp_path: Path) -> None:
    model = cache.model(model_of(tmp_path / "a", pre_tokenizer={"type": "FixedLength", "length": 0}))
    before = work_process.readers[0].call(os.getpid)
    said = refusal_of(lambda: cache.on_worker(lambda: model.read("the animal")))
    assert said.startswith("the tokenizer or chat template of a failed: chunk size must be non-zero; give")
    assert work_process.readers[0].call(os.getpid) == before


@pytest.mark.usefixtures("serving")
def test_a_folder_is_tried_once_and_a_refusal_says_what_a_notebook_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, tried = model_of(tmp_path / "a"), []
    run = work_process._read

    def count(function: Any, *given: Any, **more: Any) -> Any:
        tried.extend([given[0]] if function is zoo._try else [])
        return run(function, *given, **more)

    monkeypatch.setattr(work_process, "_read", count)
    first = cache.model(name)
    cache.transformers.drop()
    assert cache.model(name) is not first and tried == [name]
    bad = model_of(tmp_path / "b")
    config = json.loads((tmp_path / "b" / "config.json").read_text())
    (tmp_path / "b" / "config.json").write_text(json.dumps(config | {"n_embd": 10_000}))
    said = refusal_of(lambda: cache.model(bad))
    assert "again" in said
    isolation.set_runner(None)
    assert said == refusal_of(lambda: zoo.load_hub(bad))


def test_many_read_at_once_and_none_replaces_another(serving: None, tmp_path: Path) -> None:
    model = cache.model(model_of(tmp_path / "model"))
    answers: list[Any] = []

    def read(text: str) -> None:
        try:
            answers.append(model.read(text).inputs[0].shape)
        except ValueError as error:
            answers.append(str(error))

    threads = [threading.Thread(target=read, args=("the street " * (at + 1),)) for at in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 8 and not [each for each in answers if isinstance(each, str)]
