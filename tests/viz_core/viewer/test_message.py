import json
import re

import numpy as np
import pytest

from attention_lab.viz_core.boards import Board, Fact, Facts, Matrix, Scrub, Sign
from attention_lab.viz_core.viewer.declarations import declarations
from attention_lab.viz_core.viewer.message import Packed, header_of, pack, with_header


def unpacked(message: bytes) -> tuple[dict, bytes]:
    length = int.from_bytes(message[:4], "little")
    start = -(-(4 + length) // 8) * 8
    return json.loads(message[4 : 4 + length]), message[start:]


def array_of(reference: dict, arrays: bytes) -> np.ndarray:
    offset, kind, shape = reference["$"]
    return np.frombuffer(arrays, kind, int(np.prod(shape)), offset).reshape(shape)


def test_a_board_comes_out_as_it_went_in() -> None:
    values = np.array([[[0.1, -np.inf, 3.0]], [[1.0, np.nan, 5.0]]])  # [frame, row, column]
    marked = values[0] > 2
    board = Board(
        rows=[
            [Matrix(values=values, rows=["a “quoted” ü"], marked=marked), Sign(text="=")],
            [Facts(facts=[Fact(label="n", values=np.array([1, 2]))])],
        ],
        notice=["**one**", "two"],
        scrub=Scrub(field="t", label="T", values=np.array([0.5, 1.5])),
    )
    header, body = unpacked(pack(board=board).message(generation=1))
    assert header["generation"] == 1
    [[matrix, sign], [facts]] = header["board"]["rows"]
    assert matrix["kind"] == "Matrix"
    assert matrix["rows"] == ["a “quoted” ü"]
    np.testing.assert_array_equal(array_of(matrix["values"], body), values.astype(np.float32))
    np.testing.assert_array_equal(array_of(matrix["marked"], body), marked)
    assert sign == {"kind": "Sign", "main": False, "text": "="}
    of_matrix = declarations().partition("interface Matrix {")[2].partition("}")[0]  # as TypeScript has them
    assert list(matrix) == re.findall(r"^  (\w+):", of_matrix, re.MULTILINE)
    np.testing.assert_array_equal(array_of(facts["facts"][0]["values"], body), [1, 2])
    np.testing.assert_array_equal(array_of(header["board"]["scrub"]["values"], body), [0.5, 1.5])
    assert header["board"]["notice"] == ["**one**", "two"]


def test_arrays_start_at_multiples_of_eight() -> None:
    odd = [Matrix(values=np.ones((1, n))) for n in (1, 3, 5)]
    described = json.loads(pack(board=Board(rows=[odd], notice="")).header)["board"]
    assert [panel["values"]["$"][0] % 8 for panel in described["rows"][0]] == [0, 0, 0]


def test_half_precision_stays_half_and_an_array_of_two_panels_is_sent_once() -> None:
    values = np.linspace(0, 1, 6, dtype=np.float16).reshape(2, 3)
    panels = [Matrix(values=values, large=True), Matrix(values=values, small=True), Matrix(values=values + 1)]
    packed = pack(board=Board(rows=[panels], notice=""))
    described, arrays = json.loads(packed.header)["board"], packed.arrays
    first, second, other = (panel["values"] for panel in described["rows"][0])
    assert first == second != other
    assert len(arrays) == 2 * 16
    np.testing.assert_array_equal(array_of(first, arrays), values)
    np.testing.assert_array_equal(array_of(other, arrays), values + 1)


def test_a_board_too_large_is_refused_in_a_sentence() -> None:
    board = Board(rows=[[Matrix(values=np.zeros((1500, 1500)))]], notice="")
    said = r"The figure has 9\.0 MB; at most 8\.0 MB are sent; choose smaller sizes\."
    with pytest.raises(ValueError, match=said):
        pack(board=board)


def test_packing_joins_both_headers() -> None:
    header, arrays = unpacked(Packed(b'{"a":1}', b"12345678").message(b="ü"))
    assert header == {"a": 1, "b": "ü"}
    assert arrays == b"12345678"


def test_bytes_stay_bytes_at_any_depth() -> None:
    packed = pack(stacks=[{"thumbs": np.arange(6, dtype=np.uint8).reshape(2, 3)}])
    reference = json.loads(packed.header)["stacks"][0]["thumbs"]
    assert reference == {"$": [0, "uint8", [2, 3]]}
    np.testing.assert_array_equal(array_of(reference, packed.arrays), [[0, 1, 2], [3, 4, 5]])


def test_a_message_gets_other_entries_and_keeps_its_arrays():
    message = pack(a=1, numbers=np.arange(3.0)).message(b=2)
    changed = with_header(message, a="another", c=[3])
    assert header_of(changed) == header_of(message) | {"a": "another", "c": [3]}
    assert changed.endswith(np.arange(3, dtype=np.float32).tobytes() + bytes(4))
    assert len(changed) % 8 == 0
