"""A kind of panel of one's own that Plotly draws, with traces that none of our charts have: one file."""

from dataclasses import dataclass

import numpy as np

from attention_lab.viz_core.boards.chart import Chart, ChartPanel
from attention_lab.viz_core.boards.panel import CHART, Room


@dataclass(frozen=True, kw_only=True)
class Boxes(ChartPanel):
    """Quartiles of some numbers."""

    sample: np.ndarray

    def room(self, cell: int) -> Room:
        return Room(**CHART)

    def describe(self) -> Chart:
        return Chart(traces=[{"type": "box", "y": self.sample, "name": "sample", "showlegend": False}])
