/* A board's message: header, and the arrays that it points into. Written by pages/shared/board/pack.py. */

const ARRAY_TYPES = { float32: Float32Array, int32: Int32Array, uint8: Uint8Array };

/* Half precision (IEEE 754, 5 bits of exponent, 10 of fraction) as numbers; not every browser has an array of it. */
function halves(buffer, offset, length) {
  if (!halves.table) {
    halves.table = Float32Array.from({ length: 1 << 16 }, (_, bits) => {
      const [exponent, fraction, sign] = [(bits >> 10) & 31, bits & 1023, bits >> 15 ? -1 : 1];
      if (exponent === 31) return fraction ? NaN : sign * Infinity;
      return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : 2 ** -14 * (fraction / 1024));
    });
  }
  return Float32Array.from(new Uint16Array(buffer, offset, length), (bits) => halves.table[bits]);
}

/* An array [*frame, ...]; without a frame axis it is the same in every frame. */
export class Framed {
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

export function readMessage(bytes) {
  const copy = bytes.slice(); // a fresh buffer, so that typed arrays are aligned
  const length = new DataView(copy.buffer).getUint32(0, true);
  const start = Math.ceil((4 + length) / 8) * 8;
  const text = new TextDecoder().decode(copy.subarray(4, 4 + length));
  const header = JSON.parse(text, (name, value) => {
    if (!value || !value.$) return value;
    const [offset, type, shape] = value.$;
    const length = shape.reduce((a, b) => a * b, 1);
    const numbers = type === "float16" ? halves(copy.buffer, start + offset, length) : new ARRAY_TYPES[type](copy.buffer, start + offset, length);
    return new Framed(numbers, shape);
  });
  return header;
}

/* The smallest and largest finite number of an array. */
export function extent(values) {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low > high ? [0, 1] : [low, high];
}
