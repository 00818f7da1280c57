/* What the server puts before the modules (component.py). */
interface Colours {
  query: string;
  key: string;
  value: string;
  ink: string;
  muted: string;
  background: string;
  grid: string;
  accent: string;
  heads: string[];
  template: { layout: { dragmode?: string | false; colorscale: Record<string, any> } };
}

/* Tables of 256 colours as hexadecimal digits. */
interface GivenColours extends Colours {
  sequential: string;
  diverging: string;
}

declare const THEME: { light: GivenColours; dark: GivenColours; projector: GivenColours };
declare const STYLE: string;
declare const PLOTLY: { address: string; whole: string; kinds: string[] };

/* The panels of a board by their kinds in lower case: one module each. */
declare const PANELS: Record<string, { Panel: new (board: any, spec: any) => import("../board/specs").Panel }>;

/* What was presented last (present.js). */
/** Of a page in a talk: what it does when its server has started anew, in the place of loading itself again. */
/* The session of Streamlit's page. */
declare var attentionLabSession: string | undefined;
declare var attentionLabLost: (() => void) | undefined;
declare var attentionLabPresents: import("./present.js").Present | undefined;

/* The catalogue of the visitor's language, as pages/shared/words.py makes it. */
declare var attentionLabWords:
  | { language: string; whole: Record<string, string>; filled: Record<string, [number, string, string][]> }
  | undefined;

/* Our Plotly, once its script has run (program.py). */
declare var LabPlotly: any;

/* KaTeX, on pages of static files that have formulas. */
declare var katex: { render(text: string, into: HTMLElement, options: object): void };

/* markdown-it, where talks are read (talk/format.js). */
declare var markdownit: (options?: object) => {
  parse(text: string, env: object): any[];
  render(text: string): string;
};
