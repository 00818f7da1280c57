/* What is around a view, and what a view may ask of it: a host says so once, before it renders anything.
   Where it says nothing, a view is alone. Selectors are "" where there is no such element. */

/** @type {import("../contract").Page} */
export const page = {
  params: () => new URLSearchParams(),
  write: null,
  plotly: null,
  computes: true,
  takesAway: false,
  savePicture: null,
  presents: false,
  fillsScreen: true,
  hides: null,
  isAsked: false,
  halts: null,
  fits: true,
  height: () => window.innerHeight,
  isGoing: () => false,
  keys: (root) => root,
  hasFollowed: () => true,
  scrolled: "",
  above: "",
  beside: "",
  computing: "",
  parts: "",
  questions: "",
  text: "",
  field: "",
};

/** @param {Partial<import("../contract").Page>} own */
export function hostedBy(own) {
  Object.assign(page, own);
}

/* Whether another page shows this one in a frame: ?embed=1, or Streamlit's own ?embed=true. */
export function isEmbedded() {
  return ["1", "true"].includes(new URLSearchParams(location.search).get("embed") ?? "");
}

/* Of a page in a frame, whose view has a height of its own. */
export function prepareEmbedded() {
  document.documentElement.dataset.embed = "";
  hostedBy({ write: null, presents: false, takesAway: false, fits: false });
}

/** Tells the page around one in a frame how high the frame has to be: {type: "attention-lab:height", height},
   in pixels. To be called when the view is drawn: an empty page has another height.
   @param {HTMLElement} inside */
export function tellHeight(inside) {
  if (!isEmbedded()) return;
  const message = () => ({ type: "attention-lab:height", height: inside.scrollHeight });
  if (parent !== window) new ResizeObserver(() => parent.postMessage(message(), "*")).observe(inside);
}

/** The first element of a selector that may be none. @param {string} selector @param {ParentNode} within */
export function find(selector, within = document) {
  return selector ? /** @type {HTMLElement | null} */ (within.querySelector(selector)) : null;
}

/** All elements of a selector. @param {string} selector @param {ParentNode} within
   @returns {NodeListOf<HTMLElement>} */
export const findAll = (selector, within = document) => within.querySelectorAll(selector);

/** An address of ours, with the language where this page's own link names it. @param {string} href */
export function inLanguage(href) {
  const { lang, dataset } = document.documentElement;
  if (!("chosen" in dataset)) return href;
  const url = new URL(href, document.baseURI);
  url.searchParams.set("lang", lang);
  return url.href;
}

/* The switch of languages leads to what is shown: a browser keeps the page's address up to date. */
export function hearSwitch() {
  addEventListener("click", (event) => {
    const link = /** @type {Element} */ (event.target).closest("a[hreflang]");
    if (!link) return;
    event.preventDefault();
    const params = new URLSearchParams(location.search);
    params.set("lang", link.getAttribute("hreflang") ?? "en");
    location.search = params.toString();
  });
}

/* The station of the walk, and the learner's own sentence. */
export const OF_THE_WALK = ["walk", "own"];

/** Of a page whose address says what is shown. @type {Partial<import("../contract").Page>} */
export const addressBar = {
  params: () => new URLSearchParams(window.location.search),
  write: (params, isNew = false) => {
    const { lang, dataset } = document.documentElement;
    if ("chosen" in dataset) params.set("lang", lang);
    for (const [name, value] of addressBar.params?.() ?? []) // the station of the walk stays
      if (OF_THE_WALK.includes(name)) params.set(name, value);
    const query = params.toString();
    const next = window.location.pathname + (query ? `?${query}` : "");
    if (next !== window.location.pathname + window.location.search)
      window.history[isNew ? "pushState" : "replaceState"](window.history.state, "", next);
  },
};
