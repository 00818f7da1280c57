/* A board's message: header, and the arrays that it points into. Written by pages/shared/lab/pack.py. */

const ARRAY_TYPES = { float32: Float32Array, int32: Int32Array, uint8: Uint8Array };

/* An array [*frame, ...]; without a frame axis it is the same in every frame. */
class Framed {
  constructor(values, shape) {
    this.values = values;
    this.shape = shape;
  }

  /* The numbers of one frame, which has `axes` axes. */
  frame(at, axes) {
    if (this.shape.length === axes) return this.values;
    const size = this.values.length / this.shape[0];
    return this.values.subarray(at * size, (at + 1) * size);
  }

  size(axisFromEnd) {
    return this.shape[this.shape.length - axisFromEnd];
  }
}

function readMessage(bytes) {
  const copy = bytes.slice(); // a fresh buffer, so that typed arrays are aligned
  const length = new DataView(copy.buffer).getUint32(0, true);
  const start = Math.ceil((4 + length) / 8) * 8;
  const text = new TextDecoder().decode(copy.subarray(4, 4 + length));
  const header = JSON.parse(text, (name, value) => {
    if (!value || !value.$) return value;
    const [offset, type, shape] = value.$;
    return new Framed(new ARRAY_TYPES[type](copy.buffer, start + offset, shape.reduce((a, b) => a * b, 1)), shape);
  });
  return header;
}

/* The smallest and largest finite number of an array. */
function extent(values) {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low > high ? [0, 1] : [low, high];
}
