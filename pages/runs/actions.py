"""What can be done with one run: its export, its tags and notes, its name, its sharing, its deletion, and the
pages that it leads to.
"""

import io
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from attention_lab.models.byte_units import MB, readable
from attention_lab.models.fields import characters
from attention_lab.models.files import IMPORT_ROOT
from attention_lab.models.runs import jobs, owners
from attention_lab.models.runs.folder import MAX_NAME, MAX_NOTES, MAX_TAG, MAX_TAGS, Status, notes_of, tags_of
from attention_lab.models.runs.owners import Visitor
from attention_lab.models.runs.results import changed_words, history_of
from attention_lab.pages.runs import state
from attention_lab.pages.shared import cache, phrases, visitors
from attention_lab.pages.shared.state import attempt, guard
from attention_lab.pages.shared.training import further, runs, settings
from attention_lab.pages.shared.training.buttons import confirm_deletion
from attention_lab.pages.shared.training.runs import Run
from attention_lab.pages.shared.visitors import without_places

MAX_BYTES = 512 * MB
"""Of a run that is downloaded: it is packed in memory."""


EXPORT_SECONDS = 180.0
"""Another program's format is written within so long, or not at all."""


def archive(run: Run, by: Visitor, form: str = "own") -> bytes:
    """The ZIP file of a run, in one of `models.runs.export`. Raises NotAllowed where it is another
    visitor's, and ValueError where it has no checkpoint, does not fit the format, or is too large for a
    download.
    """
    from attention_lab.models.runs.export import export_run

    owners.check(run.folder.path, by, "export it")
    name = run.title if run.shipped else run.id
    with tempfile.TemporaryDirectory() as folder:
        if form == "own":
            export_run(run.folder, Path(folder), name=name, which=run.which)
        else:
            _write_apart(run, Path(folder), name, form)
        files = sorted(path for path in Path(folder).iterdir() if path.is_file())
        total = sum(path.stat().st_size for path in files)
        if total > MAX_BYTES:
            raise ValueError(
                f"this run has {readable(total)}, more than the {readable(MAX_BYTES)} of a download: use "
                f"python -m attention_lab.models.training export {run.id} --out FOLDER"
            )
        out = io.BytesIO()
        # Weights are random numbers to a compressor; it would only take time.
        with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
            for path in files:
                inside = f"{name}/{path.name}"
                if path.suffix == ".json":
                    archive.writestr(inside, without_places(path.read_text(encoding="utf-8")))
                else:
                    archive.write(path, inside)
        return out.getvalue()


def _write_apart(run: Run, out: Path, name: str, form: str) -> None:
    """Writes a format of another program in a process of its own: its exporter takes seconds and changes
    what is shared by all threads. Raises ValueError.
    """
    command = [sys.executable, "-m", "attention_lab.models.training", "export", str(run.folder.path)]
    command += ["--out", str(out), "--name", name, "--format", form]
    command += ["--best"] if run.which == "best" else []
    try:
        process = subprocess.run(
            command, capture_output=True, text=True, timeout=EXPORT_SECONDS, cwd=IMPORT_ROOT, check=False
        )
    except subprocess.TimeoutExpired:
        raise ValueError(
            f"writing took over {EXPORT_SECONDS:.0f} seconds; use "
            f"python -m attention_lab.models.training export {run.id} --out FOLDER --format {form}"
        ) from None
    if process.returncode < 0:
        raise ValueError(
            f"the process that wrote the files was ended (signal {-process.returncode}); "
            "try again, or choose another format"
        )
    if process.returncode:
        lines = process.stderr.strip().splitlines()
        raise ValueError(without_places(lines[-1].removeprefix("error: ")) if lines else "the export failed")


# The download of a run: our own format at once, another program's after it was written.

TITLES = {"own": "this app's own", "transformers": "Hugging Face's transformers", "onnx": "ONNX"}
HELP = {
    "own": "Weights, card, metrics.csv and config.json: it opens here again.",
    "transformers": "Weights, config and tokenizer, with the same logits within 1e-5.",
    "onnx": "One file that runs without PyTorch, checked with onnxruntime.",
}
WRITTEN = "runs.written"
"""What was written last, for the next press: the run, its step and the format, and the bytes."""


def draw_download(run: Run) -> None:
    """Offers the download of a run, or says why there is none: a failing download could not say so."""
    from attention_lab.models.config import ModelConfig
    from attention_lab.models.runs.export import refusal

    try:
        cache.on_worker(lambda: cache.model(run.model_link))
    except (ValueError, OSError) as error:
        st.caption(phrases.plain(without_places(str(error))))
        return
    form = str(st.radio("Export as", list(TITLES), format_func=TITLES.__getitem__, key="runs.format"))
    why_not = refusal(form, ModelConfig.from_dict(runs.described(run)["model"]))
    st.caption(why_not or HELP[form])
    if form == "own":
        by = visitors.visitor()
        _offer(run, form, lambda: archive(run, by))
    elif not why_not:
        _other(run, form)


def _other(run: Run, form: str) -> None:
    key, written = (run.model_link, runs.status_of(run).step, form), st.session_state.get(WRITTEN)
    if written and written[0] == key:
        _offer(run, form, lambda: written[1])
    elif st.button("Write the files", key="runs.write"):
        st.session_state.pop(WRITTEN, None)
        with st.spinner("Writing and checking the files…"):
            content = attempt(lambda: archive(run, visitors.visitor(), form))
        if content is not None:
            st.session_state[WRITTEN] = (key, content)
        st.rerun()


def _offer(run: Run, form: str, content: bytes | Callable[[], bytes]) -> None:
    name = run.folder.path.name if form == "own" else f"{run.folder.path.name}-{form}"
    st.download_button(
        "Download", content, f"{name}.zip", "application/zip", on_click="ignore", key=f"runs.download.{form}"
    )


# A run's name, tags and notes, edited in place, and what was changed when it was trained further.

MOST_TAGS = MAX_TAGS * (MAX_TAG + 2)


def edit(run: Run) -> None:
    """Fields for the name, the tags and the notes, and a button that saves them."""
    described = runs.described(run)
    now = {"name": run.folder.name, "tags": ", ".join(tags_of(described)), "notes": notes_of(described)}
    keys = {field: f"runs.{field}.{run.id}" for field in now}

    def save() -> None:
        # A message by hand need not have them.
        texts = {field: str(st.session_state.get(keys[field], now[field])) for field in now}
        by = visitors.visitor()
        if texts["name"] != now["name"]:
            attempt(lambda: jobs.rename(run.id, texts["name"], by=by))
        attempt(lambda: jobs.annotate(run.id, tags=[texts["tags"]], notes=texts["notes"], by=by))

    st.text_input("Name", now["name"], max_chars=MAX_NAME, key=keys["name"])
    _guard_text(keys["name"], "Name", MAX_NAME, now["name"])
    st.text_input("Tags, with commas between them", now["tags"], max_chars=MOST_TAGS, key=keys["tags"])
    _guard_text(keys["tags"], "Tags", MOST_TAGS, now["tags"])
    st.text_area("Notes", now["notes"], max_chars=MAX_NOTES, height=68, key=keys["notes"])
    _guard_text(keys["notes"], "Notes", MAX_NOTES, now["notes"])
    st.button("Save", on_click=save, key="runs.save")


def _guard_text(key: str, label: str, most: int, now: str) -> None:
    """Guards a field for a text of so many characters, which is `now` where a message brings another."""
    rule = characters(most)
    guard(key, rule.fits, lambda value: f"{label}: {rule.refusal(value)}", lambda: now)


def show_notes(run: Run) -> None:
    """The tags, the notes and the history of a run, where it has any."""
    described = runs.described(run)
    tags, notes, changes = tags_of(described), notes_of(described), history_of(described)
    if not (tags or notes or changes):
        return
    with st.container(key="runs_notes"):
        if tags:
            st.text(f"Tags: {', '.join(tags)}")
        if notes:
            st.text(notes)
        for entry in changes:
            before = runs.find(str(entry.get("from", "")))
            whence = f" from “{before.title}”" if before else ""
            st.text(f"Trained further{whence}, {changed_words(entry)}")


# The actions on a run: rename, share, delete, download, open elsewhere, train further.

TRAIN, EXPLORE = "train/page.py", "explore/page.py"


def draw(run: Run, status: Status, row: DeltaGenerator) -> Run:
    """The name and the buttons of a run, in a row; those that would change a shipped one are left out.

    Returns the run with the weights that are chosen, its last ones or its best.
    """
    with row:
        st.markdown(f"**{phrases.plain(run.title)}**", width="content")
        run = _with_weights(run)
        if run.has_weights:
            st.page_link(EXPLORE, label="Open in Explore", query_params={"model": run.model_link})
        link = settings.link_of_run(runs.described(run))
        if link:
            st.page_link(TRAIN, label="Same again with…", query_params=link)
        if status.live:
            st.page_link(TRAIN, label="Watch", query_params={**link, "run": run.id})
        if not runs.may_change(run):
            return run
        if run.has_weights and not status.live and status.step < further.MOST_STEPS:

            def watch(run_id: str) -> None:
                steps = jobs.status(run_id).steps
                st.switch_page(TRAIN, query_params={**link, "steps": str(steps), "run": run_id})

            further.draw(run, status, watch)
        with st.popover("More…"):
            edit(run)
            st.divider()
            if visitors.is_class():
                _share(run)
            if run.has_weights:
                draw_download(run)
                st.divider()
            _delete(run, status)
    return run


def _with_weights(run: Run) -> Run:
    """The choice between the last and the best weights, for Explore, the export and trying it."""
    best = run.best
    if best is None or run.shipped:
        return run
    value = runs.worded(best.score, best.value)
    labels = {"last": "Last step", "best": f"Best, step {best.step:,}: {best.score} {value}"}
    state.STATE.draw("weights", format_func=labels.__getitem__)
    return run.of_best if state.STATE.kept["weights"] == "best" else run


def _share(run: Run) -> None:
    """A press lets everybody in the class look at the run; the next takes that back."""
    shared = owners.ownership_of(run.folder.path).shared
    share = partial(jobs.share, run.id, shared=not shared, by=visitors.visitor())
    label, tip = ("Unshare", "Everybody here sees it") if shared else ("Share", "Lets everybody here see it")
    st.button(label, on_click=attempt, args=(share,), help=tip, key="runs.share")


def _delete(run: Run, status: Status) -> None:
    def delete() -> None:
        attempt(lambda: jobs.delete(run.id, by=visitors.visitor()))
        state.choose([])

    loss = "Its model and its curves are lost."
    confirm_deletion(run.folder.name, loss, delete, live=status.live, key="runs.delete")
