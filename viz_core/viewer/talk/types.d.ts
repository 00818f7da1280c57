/* What the parts of a talk say to each other: its file, the show, the speaker's window, a clicker, the hall. */

/** A talk as format.js reads it from Markdown. */
export interface Talk {
  title: string;
  about: string;
  /** What its list of settings says of the whole talk, such as `minutes` and `language`. */
  settings: Record<string, string>;
  stops: Stop[];
}

/** One picture of a talk. */
export interface Stop {
  title: string;
  /** Where its heading stands in the file, counted from 1. */
  line: number;
  /** Relative to the root of the app or site: "masks?part=causal", "?model=reader" (Explore), "" (none). */
  link: string;
  /** Markdown, for the speaker alone. */
  notes: string;
  /** What is hidden until `a` is pressed: "headline", or the titles of panels. */
  hide: string[];
  /** The values of the scrub at which a clicker stops; without any, it goes on to the next stop. */
  at: number[];
  question: Question | null;
  /** What its list of settings says else, such as the rule and the hints of a task, a line each. */
  settings: Record<string, string>;
}

/** right: the place of the right option, null where there is none. because: Markdown. */
export interface Question {
  ask: string;
  options: string[];
  right: number | null;
  because: string;
}

/** A line of a file that is passed over, and why: value, rule, remedy. */
export interface Problem {
  line: number;
  text: string;
}

/** What a view shows, which another window can show again (copies.js). file: under which a wire keeps the bytes
    of its message: 32 hexadecimal digits, by chance unlike those of any other. */
export interface Picture {
  kind: "board" | "stage" | "map";
  file: string;
  state: Record<string, unknown> | null;
}

/** A place on a picture: the panel ("0/1": row and column; "" for all of it), and fractions of its size. */
export interface Place {
  panel: string;
  x: number;
  y: number;
}

/** The one record that all windows of a talk share. The show writes it; others read it, and ask. */
export interface Shared {
  title: string;
  /** The names of all stops, which is shown, counted from 0, and which is to be shown once it is ready. */
  stops: string[];
  at: number;
  goes: number;
  /** As `Stop.link`, with what the lecturer has changed since. */
  link: string;
  picture: Picture | null;
  /** What comes next, so that it can be fetched now. */
  next: Picture | null;
  hidden: string[];
  blank: boolean;
  pointer: Place | null;
  /** Lines of the pen on this picture. */
  ink: Place[][];
  /** Seconds since 1970 at which the timer was started; 0 while it is not. minutes: what the talk may take. */
  timer: { started: number; minutes: number };
  asked: Asked | null;
}

/** A question to the hall. id: unlike that of any other. uncovered: whether the hall sees the answer, and how
    many chose what; until then right and because are null and "". */
export interface Asked {
  id: string;
  ask: string;
  options: string[];
  uncovered: boolean;
  right: number | null;
  because: string;
}

/** What the lecturer's devices ask of the show; the newest press wins. */
export type Press =
  | { type: "go"; by: 1 | -1 }
  | { type: "to"; stop: number }
  | { type: "point"; place: Place | null }
  | { type: "draw"; line: Place[] }
  | { type: "clear" }
  | { type: "blank" }
  | { type: "uncover" }
  | { type: "timer" }
  | { type: "hello" };

/** How windows reach each other: a BroadcastChannel for those of one browser, the hall for all others. */
export interface Wire {
  /** By the show: the record as it is now, and the bytes of a picture before the record names it. */
  tell(shared: Shared): void;
  keep(file: string, bytes: Uint8Array): Promise<void>;
  /** By the others. */
  ask(press: Press): void;
  fetch(file: string): Promise<Uint8Array>;
  onShared(hear: (heard: Heard) => void): void;
  onPress(hear: (press: Press) => void): void;
  /** By a wire with a server, which counts. */
  onCounts?(hear: (counts: number[] | null, following: number) => void): void;
  /** By the show: what the lecturer's devices alone are to know. */
  brief(known: Briefing): void;
  close(): void;
}

/** The notes of each stop, in Markdown, which the hall does not see; how many chose each option of what is
    asked, which it sees once uncovered; and how many windows follow, once there is a hall. */
export interface Briefing {
  notes: string[] | null;
  counts: number[] | null;
  following?: number;
  /** Whether the server does not answer. */
  isAway?: boolean;
  /** Where the hall is, for the windows of the lecturer's browser. */
  hall?: HallCard | null;
}

/** link: for who follows. clicker: for the lecturer's phone; whoever has it drives. clickerDrawn: it as a QR
    code, the address of a picture. */
export interface HallCard {
  link: string;
  clicker: string;
  clickerDrawn: string;
}

/** What a wire tells of a talk. */
export type Heard = Shared & Briefing;

/** How a frame of the show begins: its name is STOP and this as JSON. asks: whether the stop has a question, so
    that the page asks none. */
export interface Setting {
  hides: string[];
  asks: boolean;
  at: number[];
}

/** What the page in a frame tells the show. message: null where it is the one told before. asked: the page's own
    question while it covers the headline. lost: the server has started anew, and does not know the page. */
export type Told = { type: "attention-lab:stop" } & (
  | { kind: Picture["kind"]; message: Uint8Array | null; state: Picture["state"]; href: string; asked: PageQuestion | null }
  | { key: string; shift: boolean }
  | { go: 1 | -1 }
  | { point: Place | null }
  | { line: Place[] }
  | { awake: true }
  | { lost: true }
);
export interface PageQuestion {
  ask: string;
  options: string[];
}

/** What the show asks of the page in a frame. */
export type Wanted = { type: "attention-lab:show" } & (
  | { go: 1 | -1 }
  | { uncover: true }
  | { state: Picture["state"] }
  | { mode: "off" | "laser" | "pen" }
  | { pointer: Place | null; lines: Place[][] }
);
