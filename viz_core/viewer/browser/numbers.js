/* Numbers as words, as viz_core/labels.py writes them. */

export const FEW_DIGITS = 0.02; // where the largest of some numbers is smaller, two digits say too little
const TIMES = "\u00a0×\u00a0"; // a number never breaks over lines

/** 10⁻⁷. @param {number} power */
export function powerOfTen(power) {
  const raised = [...String(power)].map((sign) => (sign === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[+sign]));
  return `10${raised.join("")}`;
}

/** A number and its power of ten: −2.4 × 10⁻⁷. @param {number} value */
function scientific(value, digits = 1) {
  const [mantissa, power] = value.toExponential(digits).split("e");
  return `${mantissa}${TIMES}${powerOfTen(+power)}`.replace("-", "−");
}

/** A number with so many digits; a smaller one with a power of ten. @param {number} value */
export function number(value, digits = 2) {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "∞" : "−∞";
  const small = value !== 0 && Math.abs(value) < 0.5 * 10 ** -digits;
  return small ? scientific(value) : value.toFixed(digits).replace("-", "−");
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

/** Three digits, and a power of ten where there would be many zeros. @param {number} value */
export function anyNumber(value) {
  const size = Math.abs(value);
  if (!Number.isFinite(value)) return number(value);
  if (value !== 0 && (size < 1e-3 || size >= 1e5)) return scientific(value);
  return size < 999.5 ? String(+value.toPrecision(3)).replace("-", "−") : written(value, 0);
}

/** A number as Plotly writes it in a label, as we write it. @param {string} text */
export function asOurs(text) {
  if (text === "-Infinity" || text === "−Infinity") return "−∞"; // where a mask forbids
  return /^[-−]?[\d.]+e[-−+]\d+$/.test(text) ? anyNumber(parsed(text)) : text;
}

/** The same where a label's line is a number in any case, and not a name. @param {string} text */
export function numberAsOurs(text) {
  return /^[-−]?[\d.]+$/.test(text) ? anyNumber(parsed(text)) : asOurs(text);
}

const parsed = (/** @type {string} */ text) => Number(text.replaceAll("−", "-"));

/** What stands beside a tick of an axis: 0.25, 50,000, 10⁻⁷, 3 × 10⁶. @param {number} value */
export function tickText(value) {
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e5 || size < 1e-3))
    return scientific(value, 0).replace(/^(−?)1\u00a0×\u00a0/, "$1");
  return (+value.toPrecision(4)).toLocaleString("en", { maximumFractionDigits: 10 }).replace("-", "−");
}

/** As a person types it, and a link holds it. @param {number} value */
export function plainNumber(value) {
  return String(Number(value.toPrecision(6)));
}
