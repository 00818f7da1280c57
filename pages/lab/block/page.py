"""Inside the block: through one layer, gradients at depth, which axis a norm takes, the stream read early."""

from pages.lab import page
from pages.lab.block import depth, flow, lens, norms
from pages.lab.block.inputs import Inputs
from pages.lab.lesson import LabPage

PAGE = LabPage("block", "Inside the block", Inputs, (flow.PART, depth.PART, norms.PART, lens.PART))

page.run(PAGE)
