"""Shipped models in a browser without a server: what their files take, whether their messages are those that
the server would send, and how soon what is typed is drawn.

    python -m benchmarks.live [--texts 50] [--rounds 40] [model ...]
    python -m benchmarks.live --folder gpt2 [--weights float16] [--rounds 40]
"""

import argparse
import contextlib
import functools
import http.server
import json
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Browser, sync_playwright

from attention_lab.models.data.grammar import sample_pairs
from attention_lab.models.zoo.catalogue import offers
from attention_lab.models.zoo.onnx_parts import FORMATS, Format
from attention_lab.pages.explore import panel, payload
from attention_lab.pages.explore.figure import asked_of, own_header
from attention_lab.pages.explore.live import WITHOUT, add_folder, live_models, write_live
from attention_lab.pages.explore.state import Inputs
from attention_lab.pages.explore.sums import sums_message
from attention_lab.viz_core.viewer.program import plotly_script, program
from benchmarks.percentile import percentile
from tools import chromium
from tools.javascript import NODE, ROOT, copy_runtime

TOLERANCE = 1e-4
OF_SESSION = ("beside", "terms", "fromBehind", "viewToken", "linked", "controls", "notes", "abilities")
"""Entries of a message that are of a visit to the app, or of more texts than one."""
POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "connect-src 'self'; img-src 'self' data: blob:; font-src 'self'"
)
PAGE = (
    f'<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    '<link rel="icon" href="data:,"><input id="text" style="width: 60em"><p id="said"></p>'
    '<div id="stage"></div><script src="page.js"></script>'
)
OF_RUNTIME = ("ort.wasm.js", "ort.wasm.threads.js", "ort.wasm.packed", "tokenizers.js")
TYPED = "because it was too wide"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*")
    parser.add_argument("--texts", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--folder", type=Path, help="of a model of transformers, which is measured instead")
    parser.add_argument("--weights", choices=FORMATS, default="int8", help="of that one")
    options = parser.parse_args()
    if options.folder:
        return measure_folder(options.folder, options.weights, options.rounds)
    names = options.models or [name for name, why in live_models().items() if not why]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for name in names:
            differs = write_live(name, folder)
            size = sum((folder / f"{name}{ending}").stat().st_size for ending in (".onnx", ".bin"))
            print(f"{name}: {size / 1e6:.2f} MB, traced values within {differs:.1g} of their largest")
        asked = {name: wishes(name, options.texts) for name in names}
        for name, (problems, milliseconds) in compared(folder, asked).items():
            middle = statistics.median(milliseconds)
            print(
                f"{name}: {len(asked[name])} messages, {len(problems)} unlike the server's, {middle:.0f} ms"
            )
            print("".join(f"  {problem}\n" for problem in problems[:5]), end="")
        copy_runtime(folder)
        total = sum(file.stat().st_size for file in folder.iterdir() if file.suffix != ".message")
        print(f"all models with the runtime: {total / 1e6:.1f} MB")
        path = chromium.find()
        if path is None or "translator" not in names:
            sys.exit(None if path else chromium.MISSING)
        with sync_playwright() as playwright, served(write_page(folder)) as address:
            times = keystrokes(playwright.chromium.launch(executable_path=path), address, options.rounds)
        middle, most = statistics.median(times), percentile(times, 95)
        print(f"keystroke to paint: median {middle:.0f} ms, p95 {most:.0f} ms")


def measure_folder(path: Path, weights: Format, rounds: int) -> None:
    """Prints what a model of transformers takes on the wire, and how soon a keystroke is drawn by one thread
    and by as many as an isolated page has.
    """
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        folder = Path(temporary)
        name = add_folder(path, folder, weights)
        write_live(name, folder)
        size = sum(file.stat().st_size for file in folder.iterdir())
        copy_runtime(folder, tokenizers=True)
        runtime = sum((folder / file).stat().st_size for file in OF_RUNTIME)
        print(f"{name}: {size / 1e6:.1f} MB, with the runtime {(size + runtime) / 1e6:.1f} MB")
        print(offers()[name].taught)
        browser = playwright.chromium.launch(executable_path=chromium.find())
        write_page(folder)
        for handler, threads in ((_Quiet, "one thread"), (_Isolated, "threads")):
            with served(folder, handler) as address:
                times = keystrokes(browser, f"{address}?model={name}", rounds)
            middle, most = statistics.median(times), percentile(times, 95)
            print(f"keystroke to paint, {threads}: median {middle:.0f} ms, p95 {most:.0f} ms")


def wishes(name: str, count: int) -> list[dict[str, Any]]:
    """What is asked of a model: its examples, and texts as they are typed, some with heads off, with special
    tokens hidden, in another direction or with a typed translation.
    """
    offer, texts = offers()[name], [example["text"] for example in offers()[name].examples]
    if name.startswith("translator"):
        sentences = islice(sample_pairs(5, "held out"), count)
        texts += [" ".join((pair.english, pair.french)[at % 3 == 1]) for at, pair in enumerate(sentences)]
    typed = [text[: len(text) * (1 + at % 4) // 4] for at, text in enumerate(texts * count)]
    asked = [{"text": text, "settings": {}, "edits": []} for text in [*texts, *typed][:count]]
    address = offer.story["stack"].replace(".", ".0.")
    opened = {"stack": offer.story["stack"], "layer": 0, "head": 1, "q0": 3, "k0": 2}
    for at, wish in enumerate(asked):
        if at % 5 == 4:
            wish["edits"] = [f"{address} heads {at % 4}: zero", f"{address} heads 0-2: zero"][: 1 + at % 2]
        how = (payload.HIDDEN, payload.RENORMALISED)[at % 2] if at % 7 == 5 else payload.SHOWN
        wish["opened"] = opened | {"special": how}
        if offer.settings and at % 8 == 3:
            wish["settings"] = ({"direction": "fr-en"}, {"target": "le chat zzz"}, {"padding": 3})[at % 3]
    return asked


def compared(
    folder: Path, asked: dict[str, list[dict[str, Any]]]
) -> dict[str, tuple[list[str], list[float]]]:
    """By model, how the messages that JavaScript made differ from the server's, and how long each took."""
    command = [str(NODE / "bin" / "node"), "benchmarks/live.js", str(folder)]
    done = subprocess.run(command, input=json.dumps(asked), capture_output=True, text=True, cwd=ROOT)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    answers: dict[str, list[dict[str, Any]]] = json.loads(done.stdout)
    results = {}
    for name, wanted in asked.items():
        problems = []
        for at, (wish, answer) in enumerate(zip(wanted, answers[name], strict=True)):
            model = wish.get("model", name)  # a family's member has files of its own name
            for problem in _differences_of(model, wish, answer, folder / f"{name}.{at}.message"):
                problems.append(f"{wish}: {problem}")
        results[name] = (problems, [each["milliseconds"] for each in answers[name] if "problem" not in each])
    return results


def _differences_of(name: str, wish: dict[str, Any], answer: dict[str, Any], path: Path) -> list[str]:
    inputs = Inputs(name, wish["text"], "\n".join(wish["edits"]), **wish["settings"])
    try:
        body = payload.body_of_inputs(inputs, payload.Opened(**wish["opened"]))
    except ValueError as error:
        return (
            []
            if answer.get("problem") == str(error)
            else [f"{error} / {answer.get('problem', 'no problem')}"]
        )
    if "problem" in answer:
        return [answer["problem"]]
    asked = asked_of(inputs)
    asked["settings"] = {key: value for key, value in asked["settings"].items() if key not in WITHOUT}
    at = {"sizes": panel.stops(inputs, ""), "standing": panel.standing(inputs)}
    own = own_header(inputs, body, offers()[name]) | {"asked": asked, **at}
    theirs, ours = (
        {name: value for name, value in message.items() if name not in OF_SESSION}
        for message in map(unpacked, (path.read_bytes(), body.packed.message(**own, controls=None)))
    )
    unknown = {(word["where"], word["text"]): word for word in reversed(answer["unknown"])}
    ours |= {"unknown": [(w["where"], w["word"], w["start"], w["suggestions"]) for w in body.unknown]}
    theirs["unknown"] = [
        (where, text[:40], word["start"], word["suggestions"])
        for (where, text), word in [*unknown.items()][::-1]
    ]
    ours["advice"], theirs["advice"] = body.advice and body.advice._asdict(), answer["advice"]
    ours["sums"] = sums_message(inputs, wish["opened"]["stack"], "", "0")["values"]
    return list(differences(ours, theirs | {"sums": answer["sums"]}))


def unpacked(message: bytes) -> Any:
    """The header of a message with its arrays put in."""
    length = int.from_bytes(message[:4], "little")
    start = -(-(4 + length) // 8) * 8

    def array(value: dict[str, Any]) -> Any:
        if "$" not in value:
            return value
        offset, kind, shape = value["$"]
        return np.frombuffer(message, kind, int(np.prod(shape, dtype=int)), start + offset).reshape(shape)

    return json.loads(message[4 : 4 + length], object_hook=array)


def differences(one: Any, other: Any, at: str = "") -> Iterator[str]:
    """Where two headers differ: numbers by more than the tolerance, bytes by more than 1."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        for name in one:
            yield from differences(one[name], other[name], f"{at}.{name}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        if all(isinstance(each, list) and each and isinstance(each[0], str) for each in [*one, *other]):
            one, other = sorted(one), sorted(other)  # outputs that are alike probable may change places
        for place, pair in enumerate(zip(one, other, strict=True)):
            yield from differences(*pair, f"{at}[{place}]")
    elif isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        alike = one.shape == other.shape and one.dtype == other.dtype
        scale = np.abs(one[np.isfinite(one)], dtype=float).max(initial=1.0)
        within = 1 if one.dtype == np.uint8 else TOLERANCE * scale
        if not alike or not np.allclose(one.astype(float), other.astype(float), rtol=0, atol=within):
            yield f"{at}: other numbers"
    elif isinstance(one, float) and isinstance(other, int | float):
        if abs(one - other) > 1.5 * TOLERANCE:  # each is rounded to four digits
            yield f"{at}: {one} and {other}"
    elif one != other:
        yield f"{at}: {one!r:.80} and {other!r:.80}"


def write_page(folder: Path) -> Path:
    """Writes the page and its program beside the models."""
    host = program("stage", ROOT / "benchmarks" / "live_page.js", plotly_address="./plotly.js")
    start = f"module_benchmarks_live_page.start({host.render});"
    (folder / "page.js").write_text(f"{host.script}\n{start}", "utf-8")
    (folder / "plotly.js").write_text(plotly_script(), "utf-8")
    (folder / "index.html").write_text(PAGE, "utf-8")
    return folder


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


class _Isolated(_Quiet):
    """Its pages share their process with no other site, so that they have threads."""

    def end_headers(self) -> None:
        self.send_header("Cross-Origin-Opener-Policy", "same-origin")
        self.send_header("Cross-Origin-Embedder-Policy", "require-corp")
        super().end_headers()


@contextlib.contextmanager
def served(folder: Path, handler: type[_Quiet] = _Quiet) -> Iterator[str]:
    """The address of a folder, served as `python -m http.server` does."""
    own = functools.partial(handler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), own) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def keystrokes(browser: Browser, address: str, rounds: int) -> list[float]:
    """Milliseconds from each keystroke to the frame that shows its text."""
    page = browser.new_page(viewport={"width": 1366, "height": 768})
    page.goto(address)
    page.locator(".stage[data-generation]").wait_for(timeout=60_000)
    page.focus("#text")
    page.keyboard.press("End")
    for at in range(rounds):
        before = page.evaluate("times.length")
        page.keyboard.press("Backspace" if at % (2 * len(TYPED)) < len(TYPED) else TYPED[at % len(TYPED)])
        page.evaluate(f"new Promise((is) => setInterval(() => times.length > {before} && is(), 5))")
    times: list[float] = page.evaluate("times")
    page.close()
    return times[3:]


if __name__ == "__main__":
    main()
