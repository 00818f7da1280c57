"""The stage: the browser side of Explore. Its JavaScript is in the files beside this one."""

from pathlib import Path

from pages.shared.browser.component import Component

HERE = Path(__file__).parent
stage = Component("attention_lab_stage", HERE / "stage.js", HERE / "stage.css")
