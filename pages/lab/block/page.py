"""Inside the block: through one layer, gradients at depth, which axis a norm takes, the stream read early."""

from __future__ import annotations

from pages.lab import page
from pages.lab.block import depth, flow, lens, norms
from pages.lab.block.inputs import Inputs
from pages.lab.lesson import LabPage, Part

PAGE = LabPage(
    name="block",
    title="Inside the block",
    inputs=Inputs,
    parts=(
        Part(
            name="flow",
            label="Through the block",
            fields=flow.FIELDS,
            lesson=flow.lesson,
            controls=flow.controls,
            tries=flow.TRIES,
            questions=flow.questions,
            scrub="point",
        ),
        Part(
            name="depth",
            label="Depth and gradients",
            fields=depth.FIELDS,
            lesson=depth.lesson,
            controls=depth.controls,
            tries=depth.TRIES,
            questions=depth.questions,
            scrub="depth",
        ),
        Part(
            name="norms",
            label="Layer or batch",
            fields=norms.FIELDS,
            lesson=norms.lesson,
            controls=norms.controls,
            tries=norms.TRIES,
            questions=norms.questions,
            scrub="shift",
        ),
        Part(
            name="lens",
            label="Logit lens",
            fields=lens.FIELDS,
            lesson=lens.lesson,
            controls=lens.controls,
            tries=lens.TRIES,
            questions=lens.questions,
            scrub="at",
        ),
    ),
)

page.run(PAGE)
