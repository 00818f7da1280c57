"""Write down every package that a requirement file leads to, with its hashes: `make lock`.

python tools/lock.py

To be run after a requirements*.txt was edited; it asks the package index, and installs uv for the while.
"""

import subprocess
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
UV = "uv==0.13.9"
NAMES = ("requirements", "requirements-serve", "requirements-ray", "requirements-dev", "requirements-bench")
OLDEST = "3.11"
ELSEWHERE = ("torch", "triton", "cuda-", "nvidia-")
HEADER = """\
# All packages of {name}.txt and what they need, with hashes, for every platform; made by `make lock`.
# Not here: torch, whose builds for CPU and for CUDA have one version and different hashes; it is installed by
# its pin in requirements.txt, and what its builds for CUDA need by the pins of torch itself.
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python, together = Path(folder) / "bin" / "python", Path(folder) / "together.txt"
        subprocess.run([python, "-m", "pip", "install", "--quiet", UV], check=True)
        # so that whatever is installed, versions are the same
        together.write_text(compile_pins(python, *NAMES))
        for name in NAMES:
            locked = compile_pins(python, name, "--constraints", str(together))
            (ROOT / f"{name}.lock").write_text(HEADER.format(name=name) + without_torch(locked))


def compile_pins(python: Path, *arguments: str) -> str:
    """What uv makes of requirement files."""
    command = [str(python), "-m", "uv", "pip", "compile", "--universal", "--python-version", OLDEST]
    command += ["--quiet", "--generate-hashes", "--no-header", "--no-annotate"]
    command += [f"{each}.txt" if each in NAMES else each for each in arguments]
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def without_torch(lines: str) -> str:
    """The lines of all packages but torch, and those that its builds for CUDA alone need."""
    kept_lines, keeps = [], True
    for line in lines.splitlines():
        if not line.startswith((" ", "#")):
            keeps = not line.startswith(ELSEWHERE)
        if keeps:
            kept_lines.append(line)
    return "\n".join(kept_lines) + "\n"


if __name__ == "__main__":
    main()
