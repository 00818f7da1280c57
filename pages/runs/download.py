"""The download of a run: our own format at once, another program's after it was written."""

from collections.abc import Callable

import streamlit as st

from pages.runs import export
from pages.shared import cache, visitors, wording
from pages.shared.places import without_places
from pages.shared.state import refuse
from pages.shared.training import runs
from pages.shared.training.runs import Run

TITLES = {"own": "this app's own", "transformers": "Hugging Face's transformers", "onnx": "ONNX"}
HELP = {
    "own": "Weights with their card, metrics.csv and config.json: it opens here again.",
    "transformers": "Weights, config and tokenizer of theirs, with the same logits within 1e-5.",
    "onnx": "One file that runs without PyTorch; its logits are checked with onnxruntime.",
}
WRITTEN = "runs.written"
"""What was written last, for the next press: the run, its step and the format, and the bytes."""


def draw(run: Run) -> None:
    """Offers the download of a run, or says why there is none: a failing download could not say so."""
    try:
        cache.on_worker(lambda: cache.model(run.model_link))
    except (ValueError, OSError) as error:
        st.button("Export…", disabled=True, help=wording.plain(without_places(str(error))), key="runs.export")
        return
    with st.popover("Export…"):
        form = str(st.radio("Format", list(TITLES), format_func=TITLES.__getitem__, key="runs.format"))
        said = _refusal(run, form)
        st.caption(said or HELP[form])
        if form == "own":
            by = visitors.visitor()
            _offer(run, form, lambda: export.archive(run, by))
        elif not said:
            _other(run, form)


def _refusal(run: Run, form: str) -> str:
    from models.config import ModelConfig
    from models.runs.formats import refusal

    return refusal(form, ModelConfig.from_dict(runs.described(run)["model"]))


def _other(run: Run, form: str) -> None:
    step = runs.status_of(run).step
    made = st.session_state.get(WRITTEN)
    if made and made[0] == (run.model_link, step, form):
        content = made[1]
        _offer(run, form, lambda: content)
    elif st.button("Write the files", key="runs.write"):
        _write(run, step, form)
        st.rerun()


def _write(run: Run, step: int, form: str) -> None:
    st.session_state.pop(WRITTEN, None)
    try:
        with st.spinner("Writing and checking the files…"):
            content = export.archive(run, visitors.visitor(), form)
    except (ValueError, OSError) as error:
        refuse(str(error))
        return
    st.session_state[WRITTEN] = ((run.model_link, step, form), content)


def _offer(run: Run, form: str, content: bytes | Callable[[], bytes]) -> None:
    name = run.folder.path.name if form == "own" else f"{run.folder.path.name}-{form}"
    st.download_button(
        "Download", content, f"{name}.zip", "application/zip", on_click="ignore", key=f"runs.download.{form}"
    )
