"""Files that people hand in, files of runs, files of limits: read, or refused in a sentence."""

import io
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_lab.models import limits
from attention_lab.models.data.tasks.sentence_pairs import read_pairs
from attention_lab.models.data.tasks.sentiment import read_table
from attention_lab.models.data.text_files import read_text
from attention_lab.models.files import FileError
from attention_lab.models.runs.checkpoints import read_checkpoint
from attention_lab.models.runs.folder import list_runs, read_request, read_status
from attention_lab.models.zoo.engine_model import read_run
from attention_lab.models.zoo.folders import read_description
from attention_lab.models.zoo.own_attention import read_own
from tests.fuzz.odd import FILES, TEXTS, VALUES
from tests.pages.shared.runs import write_run

READERS: dict[str, Callable[[Path], Any]] = {
    "text": read_text,
    "pairs": read_pairs,
    "reviews": read_table,
}
OF_A_RUN: dict[str, Callable[[Path], Any]] = {
    "listed": lambda folder: [run.name for run in list_runs(folder.parent)],
    "status": read_status,
    "request": read_request,
    "description": read_description,
    "model": read_run,
    "checkpoint": lambda folder: read_checkpoint(folder / "checkpoint.safetensors"),
}


def sentence(error: ValueError) -> None:
    assert 0 < len(str(error)) < 1_000


@pytest.mark.parametrize("kind", READERS)
@given(content=FILES)
def test_a_file_is_read_or_refused(kind: str, content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "given.gz"
    file.write_bytes(content)
    try:
        READERS[kind](file)
    except ValueError as error:
        sentence(error)


HEADERS = st.one_of(
    st.binary(max_size=80),
    st.fixed_dictionaries(
        {
            "descr": st.one_of(
                st.sampled_from(["<f4", "<U0", "|O", "<f4, <i4", "<M8[s]", "(3,)<f4", "<c16", "<U999999999"]),
                st.lists(st.tuples(st.text(max_size=3), st.sampled_from(["<f4", "|O"])), max_size=3),
                VALUES,
            ),
            "fortran_order": st.one_of(st.booleans(), VALUES),
            "shape": st.one_of(st.lists(st.integers(-2, 10**12), max_size=6).map(tuple), VALUES),
        }
    ).map(lambda header: repr(header).encode("latin1", "replace")),
)  # fmt: skip


@given(header=HEADERS, version=st.integers(1, 3), cut=st.integers(0, 200), other=st.binary(max_size=40))
@pytest.mark.filterwarnings("ignore")
def test_an_array_whose_header_is_garbled_is_refused_in_a_sentence(
    header: bytes, version: int, cut: int, other: bytes
) -> None:
    size = len(header).to_bytes(4 if version > 1 else 2, "little")
    garbled = (b"\x93NUMPY" + bytes([version, 0]) + size + header)[: cut or None] + other
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        made.writestr("attention.npy", garbled)
        made.writestr("tokens.npy", garbled)
    with pytest.raises(FileError) as caught:
        read_own(file.getvalue(), "a.npz")
    sentence(caught.value)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("runs")
    write_run(root, "reverse")
    return root / "reverse"


@given(data=st.data())
def test_a_run_whose_files_were_changed_is_shown_or_refused(
    run: Path, data: st.DataObject, tmp_path: Path
) -> None:
    shutil.rmtree(tmp_path / "runs", ignore_errors=True)
    folder = Path(shutil.copytree(run, tmp_path / "runs" / "changed"))
    file = folder / data.draw(st.sampled_from(sorted(path.name for path in run.iterdir())))
    content = file.read_bytes()
    how = data.draw(
        st.sampled_from(["empty", "cut", "flipped", "other", "folder", "link", "gone", "inserted"])
    )
    at = data.draw(st.integers(0, max(0, len(content) - 1)))
    if how in ("folder", "link", "gone"):
        file.unlink()
    if how == "folder":
        file.mkdir()
    elif how == "link":
        file.symlink_to("/etc/hostname")
    elif how != "gone":
        other = data.draw(FILES)
        flipped = content[:at] + bytes([content[at] ^ data.draw(st.integers(1, 255))]) + content[at + 1 :]
        inserted = content[:at] + data.draw(TEXTS).encode(errors="replace") + content[at:]
        changed = {
            "empty": b"",
            "cut": content[:at],
            "flipped": flipped,
            "other": other,
            "inserted": inserted,
        }
        file.write_bytes(changed[how])
    for read in OF_A_RUN.values():
        try:
            read(folder)
        except ValueError as error:
            sentence(error)
        except FileNotFoundError:
            assert how == "gone"


NAMES = st.one_of(st.sampled_from(sorted(limits.declared())), st.from_regex(r"[a-z_]{1,12}", fullmatch=True))
TOML = st.one_of(
    st.integers().map(str), st.floats().map(str), st.booleans().map(lambda value: str(value).lower()),
    TEXTS.map(lambda text: f'"{text}"'), st.just('["translator"]'), st.just("[1, 'a'"), TEXTS,
)  # fmt: skip


@given(said=st.lists(st.tuples(NAMES, TOML), max_size=4))
def test_a_file_of_limits_is_taken_or_refused(said: list[tuple[str, str]], tmp_path: Path) -> None:
    file = tmp_path / "class.toml"
    file.write_text("\n".join(f"{name} = {value}" for name, value in said), errors="replace")
    try:
        limits.read(file)
    except ValueError as error:
        sentence(error)
