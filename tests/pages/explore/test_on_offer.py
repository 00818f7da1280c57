"""Which models Explore opens for whom: by its link and by its picker."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from models.runs.owners import Ownership, Visitor, write_owned
from models.zoo.offers import offers
from pages.explore import controls, current, state
from pages.shared import visitors
from tests.limits import SetLimits
from tests.pages.explore.test_current import opened, said, shown
from tests.pages.shared.runs import write_run


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ATTENTION_LAB_RUNS", str(tmp_path))
    return tmp_path


def names(page: AppTest) -> list[str]:
    return page.selectbox(key="model").options


def test_anothers_run_is_no_other_than_one_that_is_not_here(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visitors, "visitor", lambda: Visitor("ben"))
    model = write_run(runs, "reverse")
    folder = runs / "reverse"
    write_owned(folder, Ownership(owner="anna"))
    page = opened(model=model)
    assert said(page) == ["'run:reverse' is no run with a checkpoint on this machine; the default is shown."]
    assert shown(page)[0] == "translator"
    assert not state.MODEL.fits(model)  # what a message to the widget must be
    write_owned(folder, Ownership(owner="anna", shared=True))
    assert state.MODEL.fits(model)
    assert shown(opened(model=model))[0] == model


def test_the_model_to_compare_with_is_offered_where_it_may_be_opened(set_limits: SetLimits) -> None:
    told = offers()["translator"]
    other = controls.contrast_of(told)
    assert other is not None and other.name == "translator-plain"
    assert current._taught(told, "") == {"text": told.taught, **told.contrast}
    set_limits(models=["translator"])
    assert controls.contrast_of(told) is None
    assert current._taught(told, "") == {"text": told.taught, "label": "", "model": ""}
    assert controls.contrast_of(offers()["untrained"]) is None


def test_only_the_models_of_the_limits_are_shown(runs: Path, set_limits: SetLimits) -> None:
    set_limits(models=["translator", "induction"])
    assert names(opened()) == ["translator", "induction"]
    assert shown(opened(model="induction"))[0] == "induction"
    page = opened(model="sparse")
    assert said(page) == [
        "'sparse' is not among the models shown here, translator, induction; the default is shown."
    ]
    assert shown(page)[0] == "translator"
    run = write_run(runs, "reverse")
    assert shown(opened(model=run))[0] == "translator"
    set_limits(models=["translator", "runs"])
    assert shown(opened(model=run))[0] == run
