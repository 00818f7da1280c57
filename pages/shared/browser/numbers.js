/* Numbers as words. */

/** A number with so many digits; small ones with an exponent. @param {number} value */
export function number(value, digits = 2) {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "∞" : "−∞";
  const small = value !== 0 && Math.abs(value) < 0.5 * 10 ** -digits;
  return (small ? value.toExponential(1) : value.toFixed(digits)).replaceAll("-", "−");
}

/** Where there is little room, what the digits would round away is about nothing. @param {number} value */
export function shortNumber(value, digits = 2) {
  return value !== 0 && Math.abs(value) < 0.5 * 10 ** -digits ? "≈0" : number(value, digits);
}

/** Whole numbers stand in groups of three. @param {number} value @param {number} digits */
export function written(value, digits) {
  return digits === 0 && Number.isFinite(value)
    ? value.toLocaleString("en", { maximumFractionDigits: 0 }).replace("-", "−")
    : number(value, digits);
}

/** What stands beside a tick of an axis. @param {number} value */
export function tickText(value) {
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e5 || size < 1e-3))
    return value.toExponential(0).replace("e+", "e").replaceAll("-", "−");
  return String(+value.toPrecision(4)).replaceAll("-", "−");
}

/** As a person types it, and a link holds it. @param {number} value */
export function plainNumber(value) {
  return String(Number(value.toPrecision(6)));
}
