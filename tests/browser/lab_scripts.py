"""What tests ask of a lab page in the browser, as JavaScript functions of an element."""

# Resolves once the window has this size and the board has followed, which draws its figures anew: two frames
# later, where what stands above it moved. A board that does not follow is looked at after all.
RESIZED = """
(board, [width, height]) => new Promise((done) => {
  const end = performance.now() + 3000;
  const isDrawn = (figure) => Math.abs(figure._fullLayout?.width - figure.clientWidth) < 2;
  const follows = () => innerWidth === width && innerHeight === height
    && [...board.querySelectorAll(".plot")].filter((figure) => figure.clientWidth).every(isDrawn);
  const look = (frames) => requestAnimationFrame(() => {
    if (performance.now() > end || (frames > 1 && follows())) setTimeout(done);
    else look(frames + 1);
  });
  look(0);
})
"""
# What of a board that fits its window has to be scrolled for.
NOT_ON_SCREEN = """
(board) => {
  const rows = board.querySelector(".rows");
  const over = rows.scrollHeight - rows.clientHeight;
  const below = Math.round(board.getBoundingClientRect().bottom - window.innerHeight);
  const found = over > 2 ? [`${over} px of its rows have to be scrolled for`] : [];
  return below > 0 ? [...found, `${below} px are below the window`] : found;
}
"""
# What stands above a board's figures is at most this high, and the longest headline of all frames fits in.
ABOVE_THE_FIGURES = """
(board, most) => {
  let host = board;
  while (!host.attentionLab) host = host.parentNode ?? host.host;
  const view = host.attentionLab;
  const story = board.querySelector(".story");
  const top = document.querySelector(".st-key-lab_heading").getBoundingClientRect().top;
  const height = Math.round(10 * (story.getBoundingClientRect().bottom - top)) / 10;
  const found = height > most ? [`heading, experiments and headline take ${height} px`] : [];
  for (const notice of new Set([view.header.board.notice].flat())) {
    view.story.notice.replaceChildren(...view.glossary.nodes(notice));
    const over = view.story.notice.scrollHeight - story.clientHeight;
    if (over > 0) found.push(`${over} px of a headline are cut: ${notice}`);
  }
  view.show(view.frame);
  return found;
}
"""
# Texts that lie on each other, or that their panel or cell cuts, and fields too narrow for their numbers.
UNREADABLE = """
(board) => {
  const texts = [];
  const walker = document.createTreeWalker(board, NodeFilter.SHOW_TEXT);
  const hidden = "title, .hoverlayer, .modebar, .absent, .heard, defs, style";
  while (walker.nextNode()) {
    const { currentNode: node } = walker;
    const owner = node.parentElement;
    const isSeen = owner.checkVisibility({ opacityProperty: true, visibilityProperty: true });
    if (!node.data.trim() || owner.closest(hidden) || !isSeen) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const box of range.getClientRects()) if (box.width) texts.push({ node, owner, box });
  }
  const name = ({ node }) => `“${node.data.trim().slice(0, 30)}”`;
  const isCut = (field) => field.scrollWidth > field.clientWidth;
  const clipped = [...board.querySelectorAll(".rows input")].filter(isCut);
  const rows = board.querySelector(".rows").getBoundingClientRect();
  const found = clipped.map((field) => `the field with “${field.value}” is cut`);
  texts.forEach((text, at) => {
    const { box, owner, node } = text;
    const panel = owner.closest(".main-svg") ?? owner.closest(".rows");
    const edge = panel?.getBoundingClientRect();
    if (edge && (box.right > edge.right + 2 || box.left < edge.left - 2)) found.push(`${name(text)} is cut`);
    for (const other of texts.slice(at + 1)) {
      const across = Math.min(box.right, other.box.right) - Math.max(box.left, other.box.left);
      const down = Math.min(box.bottom, other.box.bottom) - Math.max(box.top, other.box.top);
      if (across > 2 && down > 5 && node !== other.node) found.push(`${name(text)} lies on ${name(other)}`);
    }
  });
  return found;
}
"""
SMALL_LETTERS = """
(board, least) => {
  const zoom = board.getBoundingClientRect().width / board.offsetWidth;
  const isShown = (node) => getComputedStyle(node).visibility !== "hidden";
  const isSeen = (node) => node.getBoundingClientRect().width && isShown(node);
  const isText = (node) => [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim());
  const exponent = '[style*="font-size: 70%"], [style*="font-size:70%"]';
  return [...board.querySelectorAll(".rows *, .notice")]
    .filter((node) => !node.matches(exponent))
    .filter((node) => isText(node) && isSeen(node))
    .map((node) => [node, zoom * parseFloat(getComputedStyle(node).fontSize)])
    .filter(([, size]) => size < least - 0.05)
    .map(([node, size]) => `${node.textContent.slice(0, 20)} has letters of ${size.toFixed(1)} px`);
}
"""
# What Plotly is dragged by is not seen, and reaches beyond its figures.
STICKING_OUT = """
(board) => {
  const seen = (part) => [...part.querySelectorAll(":not(.draglayer, .draglayer *)")];
  const edge = board.getBoundingClientRect().right;
  const right = (node) => node.getBoundingClientRect().right;
  return [...board.querySelectorAll(".panel, .sign, .story, .scrub")]
    .map((part) => [part, Math.round(Math.max(...[part, ...seen(part)].map(right)) - edge)])
    .filter(([, px]) => px > 2)
    .map(([part, px]) => `${part.innerText.slice(0, 20)} by ${px} px`);
}
"""
SCROLLED_SIDEWAYS = """
() => {
  const main = document.querySelector("[data-testid=stMain]");
  const px = main.scrollWidth - main.clientWidth;
  return px > 0 ? [`the page by ${px} px`] : [];
}
"""
# Where headline and figures begin, if not on the first screen of a phone, with room for the figure.
BELOW_THE_FIRST_SCREEN = """
(board, most) => [".notice", ".rows"].flatMap((name) => {
  const main = document.querySelector("[data-testid=stMain]");
  const top = Math.round(board.querySelector(name).getBoundingClientRect().top + main.scrollTop);
  return top > most ? [`${name} begins ${top} px from the top`] : [];
})
"""
# Focus that moves within the board's shadow tree is not told outside it.
NOTE_FOCUS = """
(board) => {
  for (const root of [document, board.getRootNode()])
    root.addEventListener("focusin", (event) => (event.composedPath()[0].dataset.reached = ""), true);
}
"""
# Of a group whose radio buttons the arrow keys walk, Tab reaches one: the checked one, or the first.
MISSED = """
(wanted) => wanted
  .filter((node) => !node.matches("[data-reached]") && !node.querySelector("[data-reached]"))
  .map((node) => node.outerHTML.slice(0, 150))
"""
# KaTeX writes what it does not know in this red, and a formula that it cannot read as an error.
MISREAD = """
(page) =>
  [...page.querySelectorAll(".katex-error, .katex :is([style*='#cc0000'], [style*='rgb(204, 0, 0)'])")]
    .map((node) => `${node.textContent} is not LaTeX`)
"""
# What is said of a board's terms where they stand, and the glossary, which is drawn after it, does not have.
UNLISTED = """
(board) => {
  const listed = [...document.querySelectorAll(".glossary-drawer dd")].map((each) => each.innerText.trim());
  const terms = [...board.querySelectorAll("abbr, .explained")];
  const told = terms.flatMap(({ dataset }) => dataset.means.split("\\n"));
  return told.filter((sentence) => !listed.includes(sentence));
}
"""
