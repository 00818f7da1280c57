/* The show of a talk: one stop fills the window; a clicker goes on to the next, which is ready behind it. */

import { button, el, isForView, reveal, switchOfLetters, typed } from "../browser/dom.js";
import { saveFile } from "../browser/files.js";
import { inLanguage } from "../browser/page.js";
import { KEYS } from "../browser/present.js";
import { t } from "../browser/words.js";
import { write } from "./format.js";
import { Frame, randomName } from "./frames.js";
import { Invitation } from "./invitation.js";
import { optionsOf } from "./question.js";
import { talkFile } from "./recorded.js";
import { channelWire } from "./wires.js";

/** @import { Asked, Place, Press, Shared, Told, Wire } from "./types" */

const AWAKE = 3000; // milliseconds that buttons are seen after the pointer has moved
const OPENING = 8000; // milliseconds that the stop before is seen while a far one opens
const ESCAPING = 4000; // milliseconds within which Esc is pressed twice
const PAINTED = 200; // milliseconds after which a stop that was ready has been painted
const LOOKING = 3000; // milliseconds from one look whether the server answers to the next
const TELLING = 30; // milliseconds within which changes are told together
const HELP = [
  ["→ ↓ Space Page Down", "go on"],
  ["← ↑ Page Up", "go back"],
  ["n N", "the next stop, the one before"],
  ["Home End", "the first stop, the last"],
  ["a", "uncover what is hidden"],
  ["b .", "blank the screen"],
  ["c", "clear what was drawn"],
  ["s", "the speaker's window"],
  ["h", "let the hall follow, by a link"],
  ["f", "full screen"],
  ["t", "the page's colours, or those for a projector"],
  ["?", "these keys"],
  ["Esc Esc", "leave the show"],
];

export class Show {
  /** @type {Map<number, Frame>} by their stops */ frames = new Map();
  /** @type {Map<number, Place[][]>} what was drawn, by stop; a reload leaves it */
  ink = history.state?.ink ?? new Map();
  /** @type {Set<number>} the stops of which all is seen */ uncovered = new Set();
  /** @type {Set<number>} those of which is seen how many chose what */ counted = new Set();
  /** @type {Place | null} */ pointer = null;
  /** @type {Wire[]} */ wires = [];
  /** @type {Map<Wire, Set<string>>} the pictures that each has */ sent = new Map();
  at = 0;
  seen = -1; // the stop that is seen: the one before, until this one is ready
  blank = false;
  started = history.state?.started ?? 0; // a reload leaves it
  /** @type {number[] | null} how many in the hall chose each option */ counts = null;
  following = 0;
  isAway = false; // whether the server does not answer
  leaving = 0; // when Esc was pressed last
  /** @type {ReturnType<typeof setTimeout> | undefined} */ telling;
  /** @type {ReturnType<typeof setTimeout> | undefined} */ coming;
  /** @type {ReturnType<typeof setTimeout> | undefined} */ tidying;
  /** @type {ReturnType<typeof setTimeout> | undefined} */ waking;

  /** @param {HTMLElement} place @param {import("./source.js").Reading} reading
     @param {(link: string, at: number) => string} addressOf where a page is, by its link in a talk and stop
     @param {{appRoot: string | null, isFile: boolean}} around appRoot: that of a server to follow by */
  constructor(place, { talk, problems }, addressOf, { appRoot, isFile }) {
    this.talk = talk;
    this.addressOf = addressOf;
    this.isFile = isFile;
    document.title = talk.title;
    const faults = problems.map(({ line, text }) => el("p", { text: `Line ${line}: ${text}` }));
    this.faults = el("div", { class: "faults", role: "status" }, faults);
    reveal(this.faults, problems.length);
    this.title = el("h1");
    this.count = el("span", { class: "count" });
    this.area = el("div", { class: "frames" });
    this.card = el("div", { class: "card absent" });
    this.question = el("div", { class: "question", role: "status" });
    this.veil = el("div", { class: "veil absent" });
    const keys = HELP.map(([keys, does]) =>
      el("tr", {}, [el("th", { scope: "row", text: t(keys) }), el("td", { text: does })]),
    );
    this.help = el("table", { class: "help absent", "aria-label": "Keys of the show" }, [
      ...keys,
      el("tr", {}, [el("td", { colspan: "2" }, [switchOfLetters()])]),
    ]);
    this.invitation = new Invitation(appRoot ?? "", this);
    const invite = button({
      text: t("hall"),
      title: "Let others follow; key h",
      onclick: () => this.invite(),
    });
    reveal(invite, appRoot);
    this.keeping = button({
      text: "as a file",
      title: "To show without a server",
      onclick: () => this.keep(),
    });
    const leave = button({ text: t("leave"), title: t("Esc"), onclick: () => this.leave() });
    for (const each of [this.keeping, leave]) reveal(each, !isFile);
    const list = talk.stops.map(({ title }, at) =>
      el("option", { value: at }, [typed(`${at + 1}  ${title}`)]),
    );
    this.list = el("select", { "aria-label": "All stops", onchange: () => this.to(+this.list.value) }, list);
    const uncover = () => {
      this.uncover();
      this.rooted.focus(); // the button may be gone
    };
    this.opening = button({ text: t("uncover"), title: "Key a", onclick: uncover });
    this.bar = el("nav", { class: "bar", "aria-label": "The talk" }, [
      button({ text: "◀", "aria-label": t("Back"), onclick: () => this.go(-1) }),
      button({ text: "▶", "aria-label": t("On"), onclick: () => this.go(1) }),
      this.list,
      this.opening,
      button({ text: "full screen", title: "Key f", onclick: () => this.fill() }),
      button({ text: "speaker's window", title: "Key s", onclick: () => this.openSpeaker() }),
      invite,
      button({ text: t("keyboard"), title: "Key ?", onclick: () => this.help.classList.toggle("absent") }),
      this.keeping,
      leave,
    ]);
    this.area.append(this.card, this.bar);
    this.line = el("div", { class: "line" }, [this.title, this.count]);
    this.rooted = el("div", { class: "show", tabIndex: -1 }, [
      this.line,
      this.area,
      this.question,
      this.faults,
      this.help,
      this.veil,
      this.invitation.root,
    ]);
    place.replaceChildren(this.rooted);
    window.addEventListener("keydown", (event) => this.hear(event));
    window.addEventListener("pointermove", () => this.wake());
    this.wake();
    this.channel = sessionStorage.getItem("attention-lab:talk") ?? randomName(8);
    sessionStorage.setItem("attention-lab:talk", this.channel);
    this.windows = channelWire(this.channel);
    this.join(this.windows);
    if (!isFile) setInterval(() => this.look(), LOOKING);
  }

  get stop() {
    return this.talk.stops[this.seen];
  }

  get frame() {
    return this.frames.get(this.seen);
  }

  /** Shares the talk with others, too. @param {Wire} wire */
  join(wire) {
    this.wires.push(wire);
    this.sent.set(wire, new Set());
    wire.onPress((press) => this.take(press));
    wire.onCounts?.((counts, following) => {
      this.counts = counts;
      this.following = following;
      this.ask();
      this.brief();
    });
    this.brief();
    this.share();
  }

  brief() {
    const notes = this.talk.stops.map(({ notes }) => notes);
    const { counts, following, isAway, invitation } = this;
    for (const wire of this.wires) wire.brief({ notes, counts, following, isAway, hall: invitation.card });
  }

  /* Looks whether the server answers: then what it has lost is asked for anew, else the speaker is told. */
  async look() {
    const answers = await fetch(location.href, { method: "HEAD" }).then(
      ({ ok }) => ok,
      () => false,
    );
    if (this.isAway === answers) {
      this.isAway = !answers;
      this.brief();
    }
    if (answers) for (const frame of this.frames.values()) frame.mend();
  }

  invite() {
    if (this.invitation.appRoot) this.invitation.toggle();
  }

  /** @param {import("./hall.js").Hall} hall */
  leaveHall(hall) {
    this.wires = this.wires.filter((wire) => wire !== hall);
    this.counts = null;
    this.ask();
    this.brief();
  }

  /** @param {number} at */
  to(at) {
    if (!this.talk.stops[at]) return;
    this.at = at;
    this.pointer = null;
    clearTimeout(this.coming);
    clearTimeout(this.tidying);
    if (this.talk.stops[at].link) this.open(at);
    const frame = this.frames.get(at);
    if (this.seen < 0) this.seen = at;
    if (!frame || frame.picture) this.bring();
    else this.coming = setTimeout(() => this.frames.get(at)?.hasCome && this.bring(), OPENING);
    history.replaceState(history.state, "", withStop(location.href, at));
    this.share();
  }

  /** Opens the page of a stop, behind what is seen. @param {number} at */
  open(at) {
    if (this.frames.has(at)) return;
    const stop = this.talk.stops[at];
    const hear = (/** @type {Told} */ told, /** @type {boolean} */ isNew) => this.told(at, told, isNew);
    const frame = new Frame(stop, (link) => this.addressOf(link, at), hear);
    this.frames.set(at, frame);
    this.area.append(frame.element);
  }

  /* Opens the stops beside this one, and closes those further away. */
  tidy() {
    const near = [this.at, this.at + 1, this.at - 1].filter((at) => this.talk.stops[at]?.link);
    for (const [at, frame] of this.frames) {
      if (near.includes(at)) continue;
      frame.leave();
      this.frames.delete(at);
    }
    for (const at of near) this.open(at);
    this.rooted.dataset.tidied = String(this.at); // for tests and measurements
  }

  /* Puts this stop in the place of the one that is seen. */
  bring() {
    const at = (this.seen = this.at);
    clearTimeout(this.coming);
    for (const [place, frame] of this.frames) frame.reveal(place === at);
    // A page that is opened takes its time from the picture that is to be painted now.
    this.tidying = setTimeout(() => this.tidy(), PAINTED);
    const { title, link } = this.stop;
    this.title.textContent = title;
    document.title = `${title} · ${this.talk.title}`;
    this.count.textContent = `${at + 1} / ${this.talk.stops.length}`;
    this.list.value = String(at);
    reveal(this.card, !link);
    const heading = el("p", { role: "heading", "aria-level": "1" }, [typed(title)]);
    if (!link) this.card.replaceChildren(heading, el("p", {}, [typed(at ? "" : this.talk.about)]));
    this.line.classList.toggle("alone", !link);
    if (!this.frame?.picture) this.rooted.focus();
    this.ask();
    this.drawInk();
    this.share();
  }

  /** What the page in a frame says. @param {number} at its stop @param {Told} told @param {boolean} isNew */
  told(at, told, isNew) {
    if ("awake" in told) return this.wake();
    const frame = /** @type {Frame} */ (this.frames.get(at));
    if (isNew) frame.element.dataset.ready = "";
    if (isNew && this.ink.get(at)?.length) frame.draw(null, this.ink.get(at) ?? []);
    if (isNew && this.uncovered.has(at)) frame.want({ uncover: true });
    const isSeen = at === this.seen;
    if (isNew && at === this.at) this.bring();
    if ("kind" in told) isSeen && this.ask();
    else if ("key" in told) this.key(told.key, told.shift);
    else if ("go" in told && isSeen) {
      this.begin();
      this.to(this.at + told.go);
    } else if ("go" in told) this.go(told.go); // a frame that has kept the keys
    this.share();
  }

  /** @param {1 | -1} by */
  go(by) {
    this.begin();
    reveal(this.faults, false);
    const frame = this.frames.get(this.at);
    if (frame?.picture) frame.want({ go: by });
    else this.to(this.at + by);
  }

  /* A talk begins with the first step on. */
  begin() {
    if (!this.started) this.time(Date.now() / 1000);
  }

  /** Starts the timer, or sets it to 0. @param {number} started */
  time(started) {
    this.started = started;
    this.remember();
  }

  remember() {
    const { started, ink } = this;
    history.replaceState({ started, ink }, "");
  }

  /** What one of the lecturer's devices asks for. @param {Press} press */
  take(press) {
    if (press.type === "hello") this.brief();
    if (press.type === "go") this.go(press.by);
    if (press.type === "to") this.to(press.stop);
    if (press.type === "point") this.pointer = press.place;
    if (press.type === "draw") this.ink.set(this.seen, [...(this.ink.get(this.seen) ?? []), press.line]);
    if (press.type === "clear") this.ink.delete(this.seen);
    if (press.type === "blank") this.veil.classList.toggle("absent", !(this.blank = !this.blank));
    if (press.type === "uncover") this.uncover();
    if (press.type === "timer") this.time(this.started ? 0 : Date.now() / 1000);
    if (["draw", "clear"].includes(press.type)) this.remember();
    if (["point", "draw", "clear"].includes(press.type)) this.drawInk();
    this.share();
  }

  drawInk() {
    this.frame?.draw(this.pointer, this.ink.get(this.seen) ?? []);
  }

  /* The question of this stop, or that of the page in it while that covers its headline. */
  get asked() {
    const { question } = this.stop;
    const isOpen = this.uncovered.has(this.seen);
    const of = question ?? this.frame?.asked ?? null;
    if (!of) return null;
    const { ask, options } = of;
    const id = `${this.channel}-${this.seen}-${digestOf(ask + options)}`;
    /** @type {Asked} */
    const asked = { id, ask, options, uncovered: isOpen, right: null, because: "" };
    return question && isOpen ? { ...asked, right: question.right, because: question.because } : asked;
  }

  ask() {
    const { asked, counts } = this;
    const seen = this.counted.has(this.seen) ? counts : null;
    const isShown = asked && (this.stop.question || seen);
    reveal(this.question, isShown);
    reveal(this.opening, asked && !asked.uncovered);
    this.rooted.classList.toggle("asking", Boolean(isShown));
    this.frame?.element.classList.toggle("asks", Boolean(isShown));
    if (!isShown) return;
    const answers = counts?.reduce((sum, count) => sum + count, 0);
    const so = answers === undefined ? "" : t(`answers: ${answers}`);
    const because = el("div", { class: "because" });
    because.innerHTML = globalThis.markdownit().render(asked.because); // which lets no HTML through
    this.question.replaceChildren(
      el("p", {}, [typed(asked.ask), el("span", { class: "answers", text: so })]),
      optionsOf(asked, seen),
      because,
    );
    const share = (100 * this.question.offsetHeight) / innerHeight;
    this.rooted.style.setProperty("--asking", `${share}vh`);
  }

  /* First how many chose what, where others have answered; then the answer, and all else that is hidden. */
  uncover() {
    const isCounted = !this.asked || !this.counts?.some(Boolean) || this.counted.has(this.seen);
    this.counted.add(this.seen);
    if (isCounted) {
      this.uncovered.add(this.seen);
      this.frame?.want({ uncover: true });
    }
    this.ask();
    this.share();
  }

  /** @param {KeyboardEvent} event that no frame has */
  hear(event) {
    if (event.key === "Tab") this.wake(); // and goes to the next button
    if (event.ctrlKey || event.metaKey || event.altKey || !isForView(event)) return;
    if (this.key(event.key, event.shiftKey)) event.preventDefault();
  }

  /** Whether the key did something. @param {string} key @param {boolean} shift */
  key(key, shift) {
    const last = this.talk.stops.length - 1;
    const to = (/** @type {number} */ at) => () => this.to(at);
    const blank = () => this.take({ type: "blank" });
    /** @type {Record<string, () => void>} */
    const does = {
      ...Object.fromEntries(KEYS.next.map((name) => [name, () => this.go(1)])),
      ...Object.fromEntries(KEYS.back.map((name) => [name, () => this.go(-1)])),
      n: to(this.at + (shift ? -1 : 1)),
      N: to(this.at - 1),
      Home: to(0),
      End: to(last),
      a: () => this.uncover(),
      b: blank,
      ".": blank,
      c: () => this.take({ type: "clear" }),
      f: () => this.fill(),
      h: () => this.invite(),
      s: () => this.openSpeaker(),
      "?": () => this.help.classList.toggle("absent"),
      Escape: () => (this.help.matches(".absent") ? this.escape() : this.help.classList.add("absent")),
    };
    does[key]?.();
    return key in does;
  }

  /* Buttons are seen for a while. */
  wake() {
    clearTimeout(this.waking);
    this.rooted.classList.remove("asleep");
    this.waking = setTimeout(() => this.rooted.classList.add("asleep"), AWAKE);
  }

  fill() {
    if (document.fullscreenElement) document.exitFullscreen();
    else document.documentElement.requestFullscreen?.().catch(() => {});
  }

  openSpeaker() {
    this.windows.meet(
      open(inLanguage(`?speaker=${this.channel}`), "attention-lab-speaker", "popup,width=1200,height=800"),
    );
  }

  /* The talk as one file, which opens from a disk. */
  async keep() {
    const count = this.talk.stops.length;
    const tell = (/** @type {number} */ at) => (this.keeping.textContent = `${at + 1} / ${count}`);
    this.keeping.disabled = true;
    try {
      const { html, missing } = await talkFile(this.talk, write(this.talk), this.addressOf, this.area, tell);
      saveFile(html, this.talk.title, "html");
      if (missing.length) throw new Error(`Without a picture: ${missing.join(", ")}; try again.`);
    } catch (error) {
      this.faults.replaceChildren(el("p", { text: /** @type {Error} */ (error).message }));
      reveal(this.faults, true);
    }
    this.keeping.disabled = false;
    this.keeping.textContent = t("as a file");
  }

  /* Leaves the show where that was asked for just now, and else asks. */
  escape() {
    if (this.isFile) return;
    if (Date.now() - this.leaving < ESCAPING) return this.leave();
    this.leaving = Date.now();
    this.faults.replaceChildren(el("p", { text: t("Press Esc again to leave the show.") }));
    reveal(this.faults, true);
    setTimeout(() => reveal(this.faults, false), ESCAPING);
  }

  leave() {
    for (const wire of this.wires.splice(0)) wire.close();
    location.href = this.addressOf("talks", 0);
  }

  /* Tells all wires what is shown; first the pictures that they do not have. */
  share() {
    clearTimeout(this.telling);
    this.telling = setTimeout(() => {
      const next = this.frames.get(this.at + 1);
      for (const wire of this.wires) {
        const known = /** @type {Set<string>} */ (this.sent.get(wire));
        const fresh = [this.frame, next].filter((frame) => frame?.picture && !known.has(frame.picture.file));
        const keeping = fresh.map((frame) => {
          known.add(/** @type {Frame} */ (frame).picture?.file ?? "");
          return wire.keep(
            /** @type {Frame} */ (frame).picture?.file ?? "",
            /** @type {Uint8Array} */ (frame?.bytes),
          );
        });
        Promise.all(keeping).then(() => this.wires.includes(wire) && wire.tell(this.shared));
      }
    }, TELLING);
  }

  /** @returns {Shared} */
  get shared() {
    const { talk, at: goes, seen: at, frame, blank, pointer, asked } = this;
    return {
      title: talk.title,
      stops: talk.stops.map(({ title }) => title),
      at,
      goes,
      link: frame?.link ?? this.stop.link,
      picture: frame?.picture ?? null,
      next: this.frames.get(goes + 1)?.picture ?? null,
      hidden: this.uncovered.has(at) ? [] : this.stop.hide,
      blank,
      pointer,
      ink: this.ink.get(at) ?? [],
      timer: { started: this.started, minutes: Number(talk.settings.minutes) || 0 },
      asked,
    };
  }
}

/** A number of a text: a stop may ask another question later, and this tab show another talk.
   @param {string} text */
function digestOf(text) {
  let digest = 7;
  for (const letter of text) digest = (31 * digest + Number(letter.codePointAt(0))) | 0;
  return digest;
}

/** @param {string} address @param {number} at */
function withStop(address, at) {
  const url = new URL(address);
  const fields = new URLSearchParams(url.hash.slice(1));
  fields.set("at", String(at + 1));
  url.hash = fields.toString();
  return url.href;
}
