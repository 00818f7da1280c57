"""What a head moves, not only where it looks: weights times the length of the value they move."""

import numpy as np
from jaxtyping import Float

from viz_core._checks import check_finite


def value_weighted(
    pattern: Float[np.ndarray, "head query key"],
    v: Float[np.ndarray, "key_head key d_head"],
    output: Float[np.ndarray, "head d_head d_model"],
) -> Float[np.ndarray, "head query key"]:
    """‖a(query, key) · v(key) W_O‖ (Kobayashi et al. 2020, Attention is Not Only a Weight, section 3).

    What each head takes from each key, as the length of the vector that it adds to the residual stream: a
    large weight on a value near 0 moves nothing. v: values with their bias; where heads share them (grouped
    queries), each is for as many neighbouring heads. output: each head's rows of the output projection; of a
    torch layer, `out_proj.weight.T.reshape(n_heads, d_head, d_model)`. Lengths have no upper bound, and a
    query's do not sum to 1. Raises ValueError for NaN, infinities and heads that cannot be shared out.
    """
    for name, array in (("pattern", pattern), ("v", v), ("output", output)):
        check_finite(name, array)
    if len(pattern) % len(v):
        raise ValueError(
            f"{len(pattern)} heads cannot share {len(v)} heads of values alike; pass as many, or a divisor"
        )
    v = v.repeat(len(pattern) // len(v), axis=0)
    lengths = np.linalg.norm(v @ output, axis=-1)  # [head, key]
    return np.asarray(np.abs(pattern) * lengths[:, None, :])
