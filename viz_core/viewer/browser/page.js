/* What is around a view, and what a view may ask of it: a host says so once, before it renders anything.
   Where it says nothing, a view is alone. Selectors are "" where there is no such element. */

/** @type {import("../contract").Page} */
export const page = {
  params: () => new URLSearchParams(),
  write: null,
  plotly: null,
  takesAway: false,
  presents: false,
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

/** The first element of a selector that may be none. @param {string} selector @param {ParentNode} within */
export function find(selector, within = document) {
  return selector ? /** @type {HTMLElement | null} */ (within.querySelector(selector)) : null;
}

/** Of a page whose address says what is shown. @type {Partial<import("../contract").Page>} */
export const addressBar = {
  params: () => new URLSearchParams(window.location.search),
  write: (params, isNew = false) => {
    const query = params.toString();
    const next = window.location.pathname + (query ? `?${query}` : "");
    if (next !== window.location.pathname + window.location.search)
      window.history[isNew ? "pushState" : "replaceState"](window.history.state, "", next);
  },
};
