"""The causal mask: nobody sees later tokens."""

from ....mask_names import MaskName
from ..core import causal, register

ABOUT = MaskName(order=1, title="causal")

register(
    "causal", lambda n, argument: causal(n, n), part=lambda query, key, n, argument: key <= query, code=causal
)
