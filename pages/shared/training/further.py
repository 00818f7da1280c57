"""The form that trains a run further: how far, what changes from there on, and how the schedule goes on."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import streamlit as st

from attention_lab.models.fields import SWITCH, Field, fields_of, one_of, whole
from attention_lab.models.runs import jobs
from attention_lab.models.runs.continuation import Change
from attention_lab.models.runs.folder import Status
from attention_lab.models.training.config import TrainingConfig
from attention_lab.pages.shared import visitors
from attention_lab.pages.shared.state import State, attempt, guard_choice
from attention_lab.pages.shared.training import runs, settings, tasks_on_offer, uploads
from attention_lab.pages.shared.training.runs import Run
from attention_lab.pages.shared.training.tasks_on_offer import TaskInfo

MOST_STEPS = int(fields_of(TrainingConfig)["steps"].rule.high or 0)
TRAINING = (
    "minutes", "learning_rate", "schedule", "warmup_steps", "final_rate", "batch_size", "accumulation",
    "weight_decay", "clip", "label_smoothing", "precision",
)  # fmt: skip
MODEL = ("dropout",)
HOW = {"goes on": "goes on from this step", "anew": "starts anew, with its warm-up"}


def draw(run: Run, status: Status, go: Callable[[str], None]) -> None:
    """A button that opens the form. go: what to do once the new run has started, given its id."""
    with st.popover("Train further…"):
        # At first, nothing changes but the number of steps.
        rule, usual = whole(status.step + 1, MOST_STEPS), min(MOST_STEPS, 2 * max(1, status.step))
        fields = {
            "steps": Field(usual, rule, "Steps in all", control="count", more={"step": 100}),
            "how": Field("goes on", one_of(HOW), "The learning rate's schedule", control="segments"),
            "forget": Field(False, SWITCH, "Forget the optimiser's moments"),
        }
        inputs = State(f"further.{run.id}", {**fields, **_changeable(run)})
        inputs.take()
        inputs.draw("steps")
        inputs.draw("how")
        st.caption("A new run goes on from this one's last checkpoint.")
        with st.expander("Change settings"):
            _settings(run, inputs)
        if st.button("Go on", type="primary", key=f"further.{run.id}.go"):
            further = attempt(lambda: jobs.extend(run.id, _change(run, inputs), by=visitors.visitor()))
            if further:
                go(further)


def _changeable(run: Run) -> dict[str, Field]:
    """The settings that may change, with the run's own values; none of a task that is not known here."""
    described = runs.described(run)
    info = _info(run)
    if info is None:
        return {}
    declared = settings.declared(info)
    now = {**described["task"]["options"], **described["model"], **described["training"]}
    names = [name for name in (*TRAINING, *MODEL, *_options(info)) if name in declared]
    fields = {name: replace(declared[name], default=now.get(name, declared[name].default)) for name in names}
    return {name: field for name, field in fields.items() if field.rule.fits(field.default)}


def _info(run: Run) -> TaskInfo | None:
    return tasks_on_offer.task_of(runs.described(run))


def _options(info: TaskInfo) -> list[str]:
    """The options of the task that no file is chosen for."""
    return [option.name for option in info.options if not option.file]


def _columns(run: Run) -> dict[str, dict[str, Any]]:
    """What the menus of columns are drawn with, by the option: the columns of the file that will be read."""
    now = runs.described(run)["task"]["options"]
    info, menus = _info(run), {}
    for option in info.options if info else ():
        if option.column:
            chosen = st.session_state.get(f"further.{run.id}.{option.of}")
            names = uploads.columns_on_offer(chosen or now.get(option.of, ""), now)
            menus[option.name] = uploads.column_menu(names, now.get(option.name, ""))
    return menus


def _settings(run: Run, inputs: State) -> None:
    info = _info(run)
    options = _options(info) if info else []
    inputs.draw_grid([name for name in (*TRAINING, *MODEL) if name in inputs.params])
    inputs.draw("forget")
    st.caption("Sizes belong to the weights and stay.")
    data = [name for name in options if name in inputs.params]
    files = [option for option in info.options if option.file] if info else []
    if data or files:
        st.markdown("**Data**, where vocabulary and lengths stay")
        inputs.draw_grid(data, changes=_columns(run))
        names = ["", *(upload.name for upload in uploads.mine())]  # instead of the one that the run reads
        for field in [option.name for option in files]:
            if len(names) == 1:
                st.caption(f"{field}: hand in another on Train, then choose it here.")
                continue
            key = f"further.{run.id}.{field}"
            st.selectbox(
                field, names, key=key, format_func=lambda it: uploads.called(it) if it else "the same"
            )
            guard_choice(key, field, names, "")


def _change(run: Run, inputs: State) -> Change:
    """What the form says, as far as it differs from the run's settings. Raises ValueError for a file gone."""
    values, info = inputs.kept, _info(run)
    changed = {name: values[name] for name in _changeable(run) if values[name] != inputs.params[name].default}
    known = _options(info) if info else []
    options: dict[str, Any] = {name: value for name, value in changed.items() if name in known}
    for option in info.options if info else ():
        name = st.session_state.get(f"further.{run.id}.{option.name}") if option.file else ""
        if name:
            options[option.name] = str(uploads.path_of(name))
    return Change(
        steps=values["steps"],
        training={name: value for name, value in changed.items() if name in TRAINING},
        model={name: value for name, value in changed.items() if name in MODEL},
        options=options,
        schedule="anew" if values["how"] == "anew" else "goes on",
        moments="forgotten" if values["forget"] else "kept",
    )
