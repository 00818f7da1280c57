/* The room of the stage: from where it begins to the lower edge of the window, whatever stands above it. */

/**
 * Keeps the style property --top of an element at its distance from the top of the page, while things come
 * and go above it. Returns what ends that.
 * @param {HTMLElement} root
 */
export function keepTop(root) {
  const page = document.querySelector("[data-testid=stMain]");
  const above = document.querySelector("[data-testid=stMainBlockContainer]");
  if (!page || !above) return () => {};
  let known = -1;
  const place = () => {
    const top = Math.round(root.getBoundingClientRect().top + page.scrollTop);
    if (top === known || !root.clientWidth || root.closest(".presented")) return;
    known = top;
    root.style.setProperty("--top", `${top}px`);
  };
  const observer = new ResizeObserver(place);
  observer.observe(above);
  for (const part of above.querySelectorAll(":scope > *, [data-testid=stColumn]")) observer.observe(part);
  return () => observer.disconnect();
}
