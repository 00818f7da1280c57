// @ts-nocheck
/* From numbers to pixels, linear or logarithmic, with round ticks. */
export class Axis {
  constructor([low, high], from, to, log = false) {
    if (low === high) [low, high] = log ? [low / 2, high * 2] : [low - 1, high + 1];
    Object.assign(this, { low, high, from, to, log });
  }

  place(value) {
    const at = (v) => (this.log ? Math.log10(Math.max(v, 1e-30)) : v);
    const share = (at(value) - at(this.low)) / (at(this.high) - at(this.low));
    return this.from + (this.to - this.from) * share;
  }

  ticks(count) {
    if (this.log) {
      const first = Math.ceil(Math.log10(this.low) - 1e-9);
      const last = Math.floor(Math.log10(this.high) + 1e-9);
      const step = Math.max(1, Math.ceil((last - first + 1) / count));
      const found = [];
      for (let power = first; power <= last; power += step) found.push(10 ** power);
      return found;
    }
    const rough = (this.high - this.low) / count;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].find((m) => m * power >= rough);
    const found = [];
    for (let at = Math.ceil(this.low / step - 1e-9); at * step <= this.high + 1e-9 * step; at++)
      found.push(at * step);
    return found;
  }
}
