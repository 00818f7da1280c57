"""Edits values inside one pass, each edit a line of text, and tells what it changed.

    line     = place ":" change
    place    = address [" heads " numbers] [" at " numbers]     numbers = "all", or such as 2,5-7
    address  = stack "." layer                                  a whole layer
             | stack "." layer "." ("self" | "cross")           z, what each head gives
             | stack "." layer "." ("self" | "cross") "." ("q" | "k" | "v" | "pattern" | "z" | "out")
             | stack "." layer "." "ff" ["." ("pre" | "post" | "out")]
             | stack "." layer "." ("resid_pre" | "resid_self" | "resid_cross" | "resid_post")
             | stack "." ("embed" | "norm")
             | 'module "' path '"'                              what a module of the network gives
    change   = one of `change.KINDS`, a file each in `kinds`, such as: zero; mean; scale -1; from "a text"

Numbers count from 0: heads within a layer (of k and v: key heads), positions among the tokens of the stack;
of a pattern they are its rows. Left out, all are meant. Examples:

    encoder.0.self heads 2,5: zero                         the heads give nothing to the output projection
    encoder.0.self heads 1: mean of "a text" "another"     their mean over all positions of these texts
    decoder.1.cross: scale -1
    encoder.1: off                                         the stream leaves the layer as it entered
    encoder.1.self.pattern heads 3 at 10: set 4=0.8 renormalised
    encoder.1.self.q heads 3 at 4-6: from "another text"   patched, position by position
    module "model.layers.3.mlp": scale 0.5                 of a model of transformers, or any other

In Python a pair of a place and a function is an edit, too: ("encoder.0.ff", lambda value: value.clamp(0, 1)).
"""

from .edit import Edit
from .effects import Comparison, compare
