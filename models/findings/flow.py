"""Attention flow: what of each input token can get through, if weights are the width of pipes."""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

RESOLUTION = 2**28
"""Pipes are counted in whole numbers of 32 bits."""


def flowing(
    patterns: Float[Tensor, "layer head query key"], queries: Sequence[int]
) -> Float[Tensor, "asked key"]:
    """The maximum flow from each of `queries` after the last layer to each input token, through edges of half
    of the heads' mean weight and half of the residual stream (Abnar & Zuidema 2020, section 3).
    """
    from scipy.sparse import csr_array  # comes with scikit-learn
    from scipy.sparse.csgraph import maximum_flow

    n_layers, _, n, _ = patterns.shape
    mixed = 0.5 * patterns.double().mean(dim=1) + 0.5 * torch.eye(n, dtype=torch.double)
    layer, query, key = mixed.nonzero(as_tuple=True)
    widths = (mixed[layer, query, key] * RESOLUTION).round().int().numpy()
    ends = ((layer + 1) * n + query).numpy(), (layer * n + key).numpy()
    nodes = (n_layers + 1) * n
    graph = csr_array((widths, ends), shape=(nodes, nodes), dtype=np.int32)
    flows = [[maximum_flow(graph, n_layers * n + q, k).flow_value for k in range(n)] for q in queries]
    return torch.tensor(flows, dtype=torch.double) / RESOLUTION
