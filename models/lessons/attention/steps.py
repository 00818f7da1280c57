"""Eight forms of attention, from the simplest to the Transformer's, each in a few lines.

Vectors are rows: a token's embedding is a row of `X`, and a matrix projects it from the right, `X @ W_K`.
Each function returns its intermediate tensors by name, in the order in which they are computed; `scores` is
always what softmax gets, `pattern` what it gives, `z` the weighted sum.
"""

from jaxtyping import Float
from torch import Tensor

Tensors = dict[str, Tensor]
Tokens = Float[Tensor, "token channel"]
Query = Float[Tensor, "channel"]
Queries = Float[Tensor, "query channel"]
Square = Float[Tensor, "channel channel"]


def parameter_free(X: Tokens) -> Tensors:
    """Each token looks at all tokens by similarity, with nothing to learn (Bloem 2019, Transformers from
    scratch, "Self-attention").
    """
    scores = X @ X.mT  # [query, key]
    pattern = scores.softmax(dim=-1)  # [query, key]
    z = pattern @ X  # [query, channel]
    return {"scores": scores, "pattern": pattern, "z": z}


def additive(
    q: Query,
    X: Tokens,
    W_a: Float[Tensor, "hidden channel"],
    U_a: Float[Tensor, "hidden channel"],
    v_a: Float[Tensor, "hidden"],
) -> Tensors:
    """A small network scores one query against each token (Bahdanau et al. 2015, section 3.1, A.1.2)."""
    hidden = (W_a @ q + X @ U_a.mT).tanh()  # [key, hidden]
    scores = hidden @ v_a  # [key]
    pattern = scores.softmax(dim=-1)  # [key]
    z = pattern @ X  # [channel]
    return {"hidden": hidden, "scores": scores, "pattern": pattern, "z": z}


def dot_product(q: Query, X: Tokens) -> Tensors:
    """A dot product scores one query against each token (Luong et al. 2015, section 3.1, "dot")."""
    scores = X @ q  # [key]
    pattern = scores.softmax(dim=-1)  # [key]
    z = pattern @ X  # [channel]
    return {"scores": scores, "pattern": pattern, "z": z}


def scaled_dot_product(q: Query, X: Tokens) -> Tensors:
    """The dot product divided by sqrt(d_k), d_k the number of channels (Vaswani et al. 2017, 3.2.1)."""
    dots = X @ q  # [key]
    scores = dots / len(q) ** 0.5  # [key]
    pattern = scores.softmax(dim=-1)  # [key]
    z = pattern @ X  # [channel]
    return {"dots": dots, "scores": scores, "pattern": pattern, "z": z}


def many_queries(Q: Queries, X: Tokens) -> Tensors:
    """All queries in one matrix product (Vaswani et al. 2017, equation 1, with K = V = X)."""
    dots = Q @ X.mT  # [query, key]
    scores = dots / Q.shape[1] ** 0.5  # [query, key]
    pattern = scores.softmax(dim=-1)  # [query, key]
    z = pattern @ X  # [query, channel]
    return {"dots": dots, "scores": scores, "pattern": pattern, "z": z}


def cross_attention(Q: Queries, X: Tokens, W_K: Square, W_V: Square) -> Tensors:
    """Keys to be found by and values to be taken away, both projected from the source tokens
    (Vaswani et al. 2017, 3.2.3, without the projection of the queries).
    """
    K = X @ W_K  # [key, channel]
    V = X @ W_V  # [key, channel]
    dots = Q @ K.mT  # [query, key]
    scores = dots / Q.shape[1] ** 0.5  # [query, key]
    pattern = scores.softmax(dim=-1)  # [query, key]
    z = pattern @ V  # [query, channel]
    return {"K": K, "V": V, "dots": dots, "scores": scores, "pattern": pattern, "z": z}


def self_attention(X: Tokens, W_Q: Square, W_K: Square, W_V: Square) -> Tensors:
    """The tokens ask each other: queries too are projected from them (Vaswani et al. 2017, 3.2.3)."""
    Q = X @ W_Q  # [query, channel]
    K = X @ W_K  # [key, channel]
    V = X @ W_V  # [key, channel]
    dots = Q @ K.mT  # [query, key]
    scores = dots / Q.shape[1] ** 0.5  # [query, key]
    pattern = scores.softmax(dim=-1)  # [query, key]
    z = pattern @ V  # [query, channel]
    return {"Q": Q, "K": K, "V": V, "dots": dots, "scores": scores, "pattern": pattern, "z": z}


def multi_head(X: Tokens, W_Q: Square, W_K: Square, W_V: Square, W_O: Square, n_heads: int) -> Tensors:
    """Several attentions beside each other, each on its own channels (Vaswani et al. 2017, 3.2.2)."""
    Q = X @ W_Q  # [query, channel]
    K = X @ W_K  # [key, channel]
    V = X @ W_V  # [key, channel]
    Q_heads, K_heads, V_heads = split(Q, n_heads), split(K, n_heads), split(V, n_heads)
    dots = Q_heads @ K_heads.mT  # [head, query, key]
    scores = dots / Q_heads.shape[-1] ** 0.5  # [head, query, key]
    pattern = scores.softmax(dim=-1)  # [head, query, key]
    z = pattern @ V_heads  # [head, query, d_head]
    concat = z.transpose(0, 1).flatten(1)  # [query, head * d_head]
    out = concat @ W_O  # [query, channel]
    projected = {"Q": Q, "K": K, "V": V, "Q_heads": Q_heads, "K_heads": K_heads, "V_heads": V_heads}
    return projected | {
        "dots": dots, "scores": scores, "pattern": pattern, "z": z, "concat": concat, "out": out,
    }  # fmt: skip


def split(x: Tokens, n_heads: int) -> Float[Tensor, "head token d_head"]:
    """Cuts the channels into `n_heads` equal parts, one for each head."""
    return x.unflatten(1, (n_heads, -1)).transpose(0, 1)  # [token, head, d_head] -> [head, token, d_head]
