/* Runs ahead of the program of a page: brings the words of the language that its link names, else of the
   browser's. */

{
  /** @type {Record<string, string>} English has none */ const FILES = { LANGUAGE: "FILE" };
  const { documentElement: root, currentScript } = document;
  const asked = new URLSearchParams(location.search).get("lang") ?? "";
  const own = navigator.language.slice(0, 2).toLowerCase();
  const lang = [asked, own].find((each) => Object.hasOwn(FILES, each)) ?? "en";
  Object.assign(root, { lang }).toggleAttribute("data-chosen", lang === asked);
  const { src } = /** @type {HTMLScriptElement} */ (currentScript);
  // What is written here is run before the program, which then finds its words.
  if (FILES[lang]) document.write(`<script src="${new URL(FILES[lang], src)}"></script>`);
}
