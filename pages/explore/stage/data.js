// @ts-nocheck
/* The payload: [uint32 header length][header JSON][padding][blocks]. Written by pages/explore/payload.py. */

export class TraceData {
  constructor(bytes) {
    const copy = bytes.slice(); // a fresh buffer, so that typed arrays are aligned
    const headerLength = new DataView(copy.buffer).getUint32(0, true);
    this.header = JSON.parse(new TextDecoder().decode(copy.subarray(4, 4 + headerLength)));
    this.buffer = copy.buffer;
    this.start = Math.ceil((4 + headerLength) / 8) * 8;
    this.cache = new Map();
  }

  get stacks() {
    return this.header.stacks;
  }

  stack(id) {
    return this.stacks.find((stack) => stack.id === id) || this.stacks[0];
  }

  tokens(side) {
    return this.header.tokens[side];
  }

  thumb(stack, layer, head) {
    const size = stack.thumbQuery * stack.thumbKey;
    return new Uint8Array(this.buffer, this.start + stack.thumbs + (layer * stack.heads + head) * size, size);
  }

  /* Thumbnails of short texts hold every cell, rounded to 1/255. */
  thumbIsWhole(stack) {
    return stack.thumbQuery === stack.nQuery && stack.thumbKey === stack.nKey;
  }

  /* The trace's own float32 numbers of one head, or null where the server has not sent them. `bias` is
     there only when
     positions add something to the scores. */
  exact(stackId, layer, head) {
    const name = `${stackId}/${layer}/${head}`;
    if (!this.cache.has(name)) this.cache.set(name, this.readExact(stackId, layer, head));
    return this.cache.get(name);
  }

  readExact(stackId, layer, head) {
    const block = this.header.exact.find(
      (b) => b.stack === stackId && b.layer === layer && b.heads.includes(head),
    );
    if (!block) return null;
    const d = this.stack(stackId).dHead;
    const sizes = { q: block.nq * d, k: block.nk * d, v: block.nk * d, z: block.nq * d };
    sizes.bias = sizes.scores = sizes.pattern = block.nq * block.nk;
    const found = { q0: block.q0, k0: block.k0, nq: block.nq, nk: block.nk, d };
    let at = this.start + block.offset;
    const place = block.heads.indexOf(head);
    for (const array of block.arrays) {
      found[array] = new Float32Array(this.buffer, at + 4 * place * sizes[array], sizes[array]);
      at += 4 * block.heads.length * sizes[array];
    }
    return found;
  }

  /* The weights of one head as they were sent: {values, unit, exact, q0, k0, nq, nk}, or null. All others
     than the trace's
     own numbers are bytes, rounded to 1/255. */
  cells(stack, layer, head) {
    const exact = this.exact(stack.id, layer, head);
    if (exact) return { ...exact, values: exact.pattern, unit: 1, exact: true };
    if (this.thumbIsWhole(stack))
      return {
        values: this.thumb(stack, layer, head),
        unit: 1 / 255,
        exact: false,
        q0: 0,
        k0: 0,
        nq: stack.nQuery,
        nk: stack.nKey,
      };
    const block = this.header.exact.find(
      (b) => b.stack === stack.id && b.layer === layer && b.coarse !== null,
    );
    if (!block) return null;
    const size = block.nq * block.nk;
    const values = new Uint8Array(this.buffer, this.start + block.coarse + head * size, size);
    return { ...block, values, unit: 1 / 255, exact: false };
  }
}

function dotProduct(a, aStart, b, bStart, length) {
  let sum = 0;
  for (let c = 0; c < length; c++) sum += a[aStart + c] * b[bStart + c];
  return sum;
}

/* One matrix of an exact head: its pattern, its scores, or its dot products (summed here from the trace's q
   and k). */
export function matrixOf(exact, show) {
  if (show !== "dots") return exact[show];
  if (!exact.dots) {
    exact.dots = new Float64Array(exact.nq * exact.nk);
    for (let i = 0; i < exact.nq; i++)
      for (let j = 0; j < exact.nk; j++)
        exact.dots[i * exact.nk + j] = dotProduct(exact.q, i * exact.d, exact.k, j * exact.d, exact.d);
  }
  return exact.dots;
}
