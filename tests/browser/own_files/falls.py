"""A kind of panel of one's own that Plotly draws, with traces that none of our charts have: one file."""

from dataclasses import dataclass

import numpy as np

from attention_lab.viz_core.boards.chart import Chart, ChartPanel
from attention_lab.viz_core.boards.panel import CHART, Room


@dataclass(frozen=True, kw_only=True)
class Falls(ChartPanel):
    """Numbers as steps from the one before."""

    sample: np.ndarray

    def room(self, cell: int) -> Room:
        return Room(**CHART)

    def describe(self) -> Chart:
        return Chart(traces=[{"type": "waterfall", "y": self.sample, "name": "sample", "showlegend": False}])
