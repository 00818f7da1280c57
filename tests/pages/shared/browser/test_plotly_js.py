import re

import plotly
from starlette.applications import Starlette
from starlette.testclient import TestClient

from pages.shared.browser import plotly_js


def test_plotly_is_that_of_the_installed_package_and_kept_for_good():
    assert re.fullmatch(r"\./plotly/\d+\.\d+\.\d+\.js", plotly_js.ADDRESS)
    assert plotly.__version__ in plotly_js.ADDRESS
    answer = TestClient(Starlette(routes=plotly_js.routes())).get(f"/app/../{plotly_js.ADDRESS}")
    assert answer.text == plotly_js.script()
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.headers["content-type"].startswith("text/javascript")
    assert int(answer.headers["content-length"]) < 2_000_000


def test_two_kinds_of_traces_are_registered_at_once_and_all_others_later():
    at_once, later = re.findall(r"\.register\(\[([^]]*)\]\)", plotly_js.script())
    assert len(at_once.split(",")) == 2 and len(later.split(",")) > 40
    assert not set(at_once.split(",")) & set(later.split(","))


def test_plotly_has_a_name_of_its_own_that_no_other_version_takes():
    assert plotly_js.script().endswith("\nglobalThis.LabPlotly = globalThis.Plotly;")
