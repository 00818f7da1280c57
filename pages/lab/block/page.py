"""Inside the block: through one layer, gradients at depth, which axis a norm takes, the stream read early."""

from attention_lab.pages.lab.lesson import lab_page
from attention_lab.pages.lab.page import run

run(lab_page("block"))
