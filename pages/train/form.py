"""The settings of a run that has not started, and presets of those that a lecture needs at once."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from attention_lab.pages.shared.training import settings
from attention_lab.pages.shared.training.settings import Values, label_of
from attention_lab.pages.shared.training.tasks_on_offer import TaskInfo
from attention_lab.pages.train import own_file, rate, state


def laptop(info: TaskInfo) -> Values:
    """The task as it comes: from 20 seconds to nine minutes on two cores."""
    return {}


def more(info: TaskInfo) -> Values:
    """Twice as wide for three times as many steps: about ten times the arithmetic."""
    width, steps = info.sizes.get("d_model", 64), info.training.get("steps", 1_000)
    return {"d_model": 2 * width, "steps": 3 * steps}


def gpu(info: TaskInfo) -> Values:
    """nanoGPT's size for characters of Shakespeare, in bfloat16, at least 2,000 steps."""
    sizes: dict[str, Any] = {"n_layers": 6, "n_heads": 6, "d_model": 384, "dropout": 0.2}
    if info.group == "Language" and any(option.name == "length" for option in info.options):
        sizes["length"] = 256
    steps = max(2_000, info.training.get("steps", 0))
    training = {"steps": steps, "batch_size": 64, "learning_rate": 1e-3, "warmup_steps": 100}
    return sizes | training | {"device": "cuda", "precision": "bfloat16"}


def today(info: TaskInfo) -> Values:
    """What language models have had since about 2023: rotary positions, RMS norms, SwiGLU, shared keys."""
    n_heads = info.sizes.get("n_heads", 4)
    shared = {"n_kv_heads": n_heads // 2} if n_heads % 2 == 0 else {}
    sizes = {"positions": "rotary", "norm": "pre", "norm_type": "rms", "qk_norm": "head"}
    wanted = {**sizes, "gated": True, "activation": "silu", **shared}
    return {name: value for name, value in wanted.items() if name not in info.fixes}


PRESETS: dict[str, Callable[[TaskInfo], Values]] = {
    "a laptop": laptop,
    "ten times the work": more,
    "a GPU": gpu,
    "a model of today": today,
}


# The settings of a run that has not started: widgets made from what the task and the configs say.

FIRST = ("n_layers", "n_heads", "d_model", "steps")
SHOWN = ("minutes", "batch_size", "learning_rate", "schedule", "warmup_steps", "seed")
DEVICE = ("device", "precision", "threads", "compile")
SWEEPS = "sweeps/page.py"


def draw_first(info: TaskInfo) -> None:
    """The settings that a person decides on: sizes, steps, and a file of one's own."""
    inputs = state.settings_of(info)
    inputs.draw_grid([name for name in FIRST if name in inputs.params], columns=4)
    width, n_heads = inputs.kept["d_model"], inputs.kept["n_heads"]
    size = "is no whole number" if width % n_heads else f"= {width // n_heads}"
    st.caption(f"d_head = {width} / {n_heads} {size}")
    for option in info.options:
        if option.file:
            own_file.draw(info, inputs, option)


def draw_others(info: TaskInfo) -> None:
    """All others, folded: the task's, the model's, the training's."""
    inputs = state.settings_of(info)
    changed = len(
        inputs.link(set(inputs.params) - {*FIRST, *(each.name for each in info.options if each.file)})
    )
    label = f"More settings ({changed} changed)" if changed else "More settings"
    with st.expander(label, key="train_form"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown("Settings for", width="content")
            for name, preset in PRESETS.items():
                st.button(name, on_click=inputs.put, args=(inputs.defaults() | preset(info),))
            state.page().draw("name")
        st.markdown("**Task**")
        for option in info.options:
            if not option.file and not option.of:
                inputs.draw(option.name)
        st.markdown("**Model**")
        sizes = [name for name in settings.size_names(info) if name not in FIRST]
        inputs.draw_grid([name for name in sizes if name not in settings.TODAY])
        st.markdown("**Parts of newer models**")
        inputs.draw_grid([name for name in sizes if name in settings.TODAY])
        for name, why in info.fixes.items():
            st.caption(f"{label_of(name)}: {why}; the task says so")
        st.markdown("**Training**")
        inputs.draw_grid(SHOWN)
        tools = st.container(horizontal=True, vertical_alignment="center", key="train_tools")
        with tools:
            rate.button(info, inputs)
            link = settings.to_link(info, inputs.kept) | {"sweep": "+"}
            is_refused = bool(own_file.refusals(info, inputs))
            tools.page_link(SWEEPS, label="Sweep over this…", query_params=link, disabled=is_refused)
        rate.draw(info, inputs)
        rest = {*FIRST, *SHOWN, *DEVICE}
        inputs.draw_grid([name for name in settings.training_names() if name not in rest])
        st.markdown("**Device**")
        inputs.draw_grid(DEVICE)
        state.page().draw("keep_going")
