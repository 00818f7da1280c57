import threading

import pytest

from attention_lab.pages.explore.state import Inputs
from attention_lab.pages.shared.cache import ByteCache, cached, held_by, on_worker


def test_the_byte_limit_holds_and_the_least_recently_used_goes_first() -> None:
    cache = ByteCache("test", 100)
    cache.put("a", "A", 40)
    cache.put("b", "B", 40)
    assert cache.get("a") == "A"
    cache.put("c", "C", 40)
    assert (cache.get("a"), cache.get("b"), cache.get("c")) == ("A", None, "C")


def test_what_is_larger_than_the_cache_is_computed_and_not_kept() -> None:
    cache = ByteCache("test", 100)
    assert cached(cache, "big", lambda: ("value", 101)) == "value"
    assert cache.get("big") is None


def test_many_visitors_who_ask_for_the_same_have_it_computed_once() -> None:
    cache, calls = ByteCache("test", 100), []

    def make() -> tuple[str, int]:
        calls.append(threading.current_thread().name)
        return "value", 1

    threads = [threading.Thread(target=lambda: cached(cache, "key", make)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(calls) == 1
    assert calls[0].startswith("inference")


def test_an_error_reaches_the_one_who_asked_and_nothing_is_kept() -> None:
    cache = ByteCache("test", 100)

    def fail() -> tuple[str, int]:
        raise ValueError("d_model=100 is odd")

    with pytest.raises(ValueError, match="d_model=100 is odd"):
        cached(cache, "key", fail)
    assert cached(cache, "key", lambda: ("value", 1)) == "value"


def test_nested_work_on_the_inference_thread_does_not_wait_for_itself() -> None:
    assert on_worker(lambda: on_worker(lambda: 7)) == 7


def test_whoever_waits_is_asked_again_and_again_and_may_leave() -> None:
    looks, go_on = [], threading.Event()

    def look() -> None:
        looks.append(1)
        if len(looks) == 3:
            go_on.set()

    assert on_worker(lambda: go_on.wait(30), waiting=look) is True
    assert len(looks) >= 3
    begun, end = [], threading.Event()

    def leave() -> None:
        raise KeyError("nobody waits")

    threading.Thread(target=lambda: on_worker(lambda: end.wait(30))).start()
    with pytest.raises(KeyError, match="nobody waits"):
        on_worker(lambda: begun.append(1), waiting=leave)
    end.set()
    assert on_worker(lambda: 7) == 7 and begun == []  # it was left out


def test_what_is_there_already_makes_nobody_wait() -> None:
    def look() -> None:
        raise AssertionError

    cache = ByteCache("test", 100)
    cache.put("a", "A", 1)
    assert cached(cache, "a", lambda: ("B", 1), look) == "A"


def test_what_a_key_holds_counts_too() -> None:
    """Ten different texts of 100 characters, each with a result of 1 byte, do not fit into 500 bytes."""
    cache = ByteCache("test", 500)
    for at in range(10):
        cache.put(("reading", Inputs("translator", f"{at}" * 100)), at, 1)
    kept = [at for at in range(10) if cache.get(("reading", Inputs("translator", f"{at}" * 100))) is not None]
    assert kept == [6, 7, 8, 9]
    assert held_by(("a" * 5, ("b" * 3,))) == 8
    assert held_by("\N{SLIGHTLY SMILING FACE}" * 10) >= 40
