"""What a newcomer meets first: `make install` and `make run`, and the sentences for when they cannot work."""

import hashlib
import os
import re
import shutil
import socket
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools.background_servers import free_port, serving

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def first_make(monkeypatch: pytest.MonkeyPatch) -> None:
    """These tests start make as a person does, also when `make test` runs them."""
    for name in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A folder with the Makefile, its tools, a tiny app and no requirements, so that it installs offline."""
    for name in ("tools", "attention_lab"):
        shutil.copytree(ROOT / name, tmp_path / name, symlinks=True)
    shutil.copytree(ROOT / ".streamlit", tmp_path / ".streamlit")
    shutil.copy(ROOT / "Makefile", tmp_path)
    for name in ("models", "pages", "viz_core"):
        (tmp_path / name).symlink_to(ROOT / name)
    for name in ("requirements.txt", "requirements-dev.txt"):
        (tmp_path / name).write_text("# nothing\n")
    (tmp_path / "app.py").write_text("import streamlit\nstreamlit.write('hello')\n")
    return tmp_path


@pytest.fixture
def installed_clone(clone: Path) -> Path:
    """The same with a .venv that stands for the one that runs these tests."""
    (clone / ".venv/bin").mkdir(parents=True)
    (clone / ".venv/bin/pip").touch()
    write_program(clone / ".venv/bin/python", f'exec {sys.executable} "$@"')
    return clone


def write_program(path: Path, shell: str) -> Path:
    path.write_text(f"#!/bin/sh\n{shell}\n")
    path.chmod(0o755)
    return path


def make(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["make", *arguments], cwd=folder, capture_output=True, text=True, timeout=120)


def sentence(result: subprocess.CompletedProcess[str]) -> str:
    """The one line that a failed make printed beside make's own `make: *** ... Error 1`."""
    assert result.returncode != 0
    lines = [line for line in (result.stdout + result.stderr).splitlines() if not line.startswith("make")]
    assert len(lines) == 1, lines
    return lines[0]


def python_with(clone: Path, preparation: str) -> str:
    """PYTHON=... for an interpreter in which the statement `preparation` ran first."""
    script = clone / "other_python.py"
    script.write_text(
        "import runpy, sys\n"
        f"{preparation}\n"
        "del sys.argv[0]\n"
        "runpy.run_path(sys.argv[0], run_name='__main__')\n"
    )
    return f"PYTHON={write_program(clone / 'other-python', f'exec {sys.executable} {script} $@')}"


def test_an_old_python_is_told_which_one_is_needed(clone):
    old = python_with(clone, "sys.version_info = (3, 9, 2)")
    assert sentence(make(clone, "run", old)).startswith(
        "Attention Lab needs Python 3.11 or newer and this is 3.9; install a newer one, or name it: make run "
    )


@pytest.mark.parametrize("module", ["venv", "ensurepip"])
def test_a_missing_venv_module_is_told_with_its_remedy(clone, module):
    bare = python_with(clone, f"sys.modules['{module}'] = None")
    assert "run `apt install python3-venv`, then run make again" in sentence(make(clone, "run", bare))
    assert not (clone / ".venv").exists()


def test_an_interpreter_that_is_new_enough_is_found_behind_an_old_python3(clone):
    programs = clone / "programs"
    programs.mkdir()
    write_program(programs / "python3", "exit 1")
    write_program(programs / "python3.12", f'exec {sys.executable} "$@"')
    path = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
    shown = subprocess.run(["make", "-n", "install"], cwd=clone, env=path, capture_output=True, text=True)
    assert shown.stdout.startswith("python3.12 tools/install.py") or shutil.which("python3.14")


@pytest.fixture
def packages(clone: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Two versions of a package and another one that pip finds without a network, by what pins them."""
    folder = clone / "packages"
    folder.mkdir()
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    wheels = {f"{name}=={version}": write_wheel(folder, name, version) for name, version in VERSIONS}
    return {pin: hashlib.sha256(wheel.read_bytes()).hexdigest() for pin, wheel in wheels.items()}


VERSIONS = (("tiny", "1.0"), ("tiny", "1.1"), ("tool", "1.0"))


def write_wheel(folder: Path, name: str, version: str) -> Path:
    about = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    how = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    path = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(f"{name}.py", "")
        for file, text in (("METADATA", about), ("WHEEL", how), ("RECORD", "")):
            wheel.writestr(f"{name}-{version}.dist-info/{file}", text)
    return path


def pin(clone: Path, app: str, hashes: dict[str, str]) -> None:
    """Writes the two files of pins. hashes: of the packages with hashes, by their pins."""
    (clone / "requirements.txt").write_text(f"# the app\n{app}\n")
    lines = [f"{each} \\\n    --hash=sha256:{digest}\n" for each, digest in hashes.items()]
    (clone / "requirements-dev.txt").write_text("# all\n" + "".join(lines))


def installed(clone: Path) -> list[str]:
    found = (clone / ".venv").rglob("*.dist-info")
    return sorted(each.stem for each in found if each.stem.startswith(("tiny", "tool")))


def test_the_second_install_does_nothing_and_a_changed_pin_installs_again(clone, packages):
    for version in ("tiny==1.0", "tiny==1.1"):
        pin(clone, version, {version: packages[version]})
        assert "Installing the app" in make(clone, "install").stdout
        assert installed(clone) == [version.replace("==", "-")]
        before = os.times()
        again = make(clone, "install")
        # Processor time, because on a busy machine the clock runs on.
        spent = os.times()
        assert spent.children_user + spent.children_system - before.children_user - before.children_system < 1
        assert (again.returncode, again.stdout, again.stderr) == (0, "", "")


def test_a_package_without_its_hash_is_not_installed(clone, packages):
    for hashed, told in (("", "Hashes are required"), (64 * "0", "DO NOT MATCH")):
        pin(clone, "tiny==1.0", {"tiny==1.0": hashed} if hashed else {})
        if not hashed:
            (clone / "requirements-dev.txt").write_text("tiny==1.0\n")
        refused = make(clone, "install")
        assert refused.returncode != 0
        assert told in refused.stderr
        assert "pip could not install them; the lines above say why" in refused.stderr
        assert installed(clone) == []
    pin(clone, "tiny==1.0", {"tiny==1.0": packages["tiny==1.0"]})
    assert make(clone, "install").returncode == 0
    assert installed(clone) == ["tiny-1.0"]


def test_the_app_is_installed_without_the_tools_and_the_tools_with_the_app(clone, packages):
    pin(clone, "tiny==1.0", {name: packages[name] for name in ("tiny==1.0", "tool==1.0")})
    assert make(clone, "install").returncode == 0
    assert installed(clone) == ["tiny-1.0"]
    for name in ("models", "pages", "viz_core"):
        (clone / "attention_lab" / name).unlink(missing_ok=True)
    assert make(clone, "install-dev").returncode == 0
    assert installed(clone) == ["tiny-1.0", "tool-1.0"]
    for name in ("models", "pages", "viz_core"):  # for mypy and import-linter
        assert (clone / "attention_lab" / name).samefile(ROOT / name)
    for target in ("install", "install-dev"):
        assert make(clone, target).stdout == ""


def test_every_dependency_is_pinned_with_hashes_but_torch():
    text = (ROOT / "requirements-dev.txt").read_text()
    assert "://" not in text and not re.findall(r"^-", text, re.MULTILINE)
    app = pinned((ROOT / "requirements.txt").read_text())
    everything = pinned(text)
    assert len(re.findall(r"^\S+==.*\\\n    --hash=sha256:", text, re.MULTILINE)) == len(everything)
    assert {each for each in app if each not in everything} == {"torch==2.13.0"}
    assert not [each for each in everything if each.startswith(("torch", "nvidia", "triton", "cuda"))]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    for wanted, pins in (
        (project["dependencies"], app),
        (chain.from_iterable(each for name, each in extras.items() if name != "bench"), everything),
    ):
        versions = {name: version for name, _, version in (each.partition("==") for each in pins)}
        for requirement in map(Requirement, wanted):
            assert requirement.specifier.contains(versions[canonicalize_name(requirement.name)])


def pinned(text: str) -> list[str]:
    """All pins of a file, name==version."""
    return re.findall(r"^[^\s#]+==[^\s;]+", text, re.MULTILINE)


def test_an_interrupted_venv_is_made_again(clone):
    (clone / ".venv/bin").mkdir(parents=True)
    (clone / ".venv/bin/python").symlink_to("/nowhere/python3")
    assert make(clone, "install").returncode == 0
    assert (clone / ".venv/bin/pip").exists()


def test_a_busy_port_is_told_with_the_next_one(installed_clone):
    with socket.create_server(("127.0.0.1", 0)) as busy:
        port = busy.getsockname()[1]
        told = sentence(make(installed_clone, "run", f"PORT={port}"))
    assert told.startswith(f"Port {port} of 127.0.0.1 is busy; stop the program that uses it")
    assert told.endswith(f"make run PORT={port % 65535 + 1}")


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("PORT=http", "PORT=http is not a port number; choose one from 1024 to 65535"),
        ("PORT=65536", "PORT=65536 is not a port number; choose one from 1024 to 65535"),
        ("HOST=evil..name", "HOST=evil..name is not an address of this machine; use 127.0.0.1"),
        (f"HOST={'a' * 70}", f"HOST={'a' * 70} is not an address of this machine; use 127.0.0.1"),
        ("HOST=.", "HOST=. is not an address of this machine; use 127.0.0.1"),
        ("HOST=192.0.2.1", "HOST=192.0.2.1 is not an address of this machine; use 127.0.0.1"),
    ],
)
def test_a_wrong_address_is_told_with_a_right_one(installed_clone, setting, told):
    assert sentence(make(installed_clone, "run", setting)).startswith(told)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (
            "cpu_job = 2",
            "{file}: there is no limit 'cpu_job': correct or remove its line; did you mean cpu_jobs?",
        ),
        (
            'models = ["translator", "spars"]',
            "models=['translator', 'spars']: there is no 'spars'; did you mean sparse?",
        ),
    ],
)
def test_a_wrong_limit_is_told_before_the_app_starts(installed_clone, tmp_path, monkeypatch, line, told):
    file = tmp_path / "class.toml"
    file.write_text(f"{line}\n")
    monkeypatch.setenv("ATTENTION_LAB_LIMITS", str(file))
    assert sentence(make(installed_clone, "run", f"PORT={free_port()}")) == told.format(file=file)


def test_a_teachers_hash_that_is_none_is_told_before_the_app_starts(installed_clone, monkeypatch):
    monkeypatch.setenv("ATTENTION_LAB_TEACHER", "scrypt:secret")
    told = sentence(make(installed_clone, "run", f"PORT={free_port()}"))
    assert told == "ATTENTION_LAB_TEACHER holds no hash of a secret; `make teacher` writes one"


def test_a_site_for_frames_that_is_none_is_told_before_the_app_starts(installed_clone, monkeypatch):
    monkeypatch.setenv("ATTENTION_LAB_FRAMES", "course.example.edu")
    told = sentence(make(installed_clone, "run", f"PORT={free_port()}"))
    assert told.startswith("ATTENTION_LAB_FRAMES has 'course.example.edu', which is no site")


@pytest.fixture
def running(installed_clone: Path, request: pytest.FixtureRequest) -> Iterator[tuple[int, Path]]:
    """Port and log of `make run` on the host that the test names."""
    port, log = free_port(), installed_clone / "log.txt"
    with serving(["make", "run", f"PORT={port}", f"HOST={request.param}"], port, installed_clone, log):
        yield port, log


@pytest.mark.parametrize("running", ["127.0.0.1"], indirect=True)
def test_run_prints_the_address_and_listens_only_there(running):
    port, log = running
    assert log.read_text().startswith(f"Attention Lab: http://127.0.0.1:{port}\n")
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.2", port), timeout=5)


@pytest.mark.parametrize("running", ["0.0.0.0"], indirect=True)
def test_an_open_host_is_passed_on_with_a_warning_and_asks_nobody_for_its_public_address(running):
    port, log = running
    warning, secret, address = log.read_text().splitlines()[:3]
    assert warning.startswith(
        "Warning: with HOST=0.0.0.0 everyone who can reach this machine can use the app"
    )
    assert secret.startswith(
        "Without a teacher's secret whoever reaches this server may open halls and classes"
    )
    assert address == f"Attention Lab: http://0.0.0.0:{port}"
    socket.create_connection(("127.0.0.2", port), timeout=5).close()
    assert "xternal" not in log.read_text()
