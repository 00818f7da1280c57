/* Tokens as a screen shows them, as viz_core/labels.py and pages/explore/subject.py do. */

const LONGEST = 40;
const SYMBOLS = /** @type {Record<string, string>} */ ({ "\n": "⏎", "\r": "␍", "\t": "⇥" });
const JOINERS = "\u200c\u200d\ufe0e\ufe0f";
const SPECIAL = /^(?:\[[A-Z]+\]|<\/?[\p{L}\p{N}_]+>|<\|[\p{L}\p{N}_-]+\|>)$/u;

/** @param {string} sign @param {boolean} alone */
function visibleSign(sign, alone) {
  if (SYMBOLS[sign]) return SYMBOLS[sign];
  if (sign !== " " && /\p{Zs}/u.test(sign)) return "␣";
  if (JOINERS.includes(sign) ? !alone : !/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(sign)) return sign;
  return `U+${Number(sign.codePointAt(0)).toString(16).toUpperCase().padStart(4, "0")}`;
}

/** With its blanks and what would be invisible made visible, and cut. @param {string} token */
export function visible(token) {
  if (!token) return "∅";
  const inner = token.replace(/^ +|(?<! ) +$/g, "");
  const start = inner ? token.length - token.replace(/^ +/, "").length : token.length;
  const alone = [...inner].every((sign) => JOINERS.includes(sign));
  const signs = Array.from(inner, (sign) => visibleSign(sign, alone)).join("");
  const text = [...("␣".repeat(start) + signs + "␣".repeat(token.length - start - inner.length))];
  const holds = (/** @type {string} */ sign) => JOINERS.includes(sign);
  let end = LONGEST - 1;
  while (
    end > 1 &&
    (/\p{M}/u.test(text[end] ?? "") || holds(text[end] ?? "x") || holds(text[end - 1] ?? "x"))
  )
    end--;
  return text.length <= LONGEST ? text.join("") : `${text.slice(0, end).join("")}…`;
}

/** A word is shown whole, and as it was typed. @param {string} token */
export const tokenText = (token) =>
  token && !/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Z}]/u.test(token) ? token : visible(token);

/** Tokens for the screen; what was read as <unk> is called that, whatever was typed.
   @param {string[]} tokens @param {Set<string>} unknown
   @returns {{text: string, raw?: string, typed?: string, mark?: string, next?: string}[]} */
export function entriesOf(tokens, unknown) {
  return tokens.map((token) => {
    if (unknown.has(token)) return { text: "<unk>", typed: visible(token), mark: "unknown" };
    const text = tokenText(token);
    const raw = text === token ? {} : { raw: token };
    return { text, ...raw, ...(SPECIAL.test(token) ? { mark: "special" } : {}) };
  });
}
