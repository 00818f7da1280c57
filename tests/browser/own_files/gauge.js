/* A number as a needle on a dial. */

import { svg } from "../../browser/dom.js";
import { caption } from "../words.js";

export class Panel {
  constructor(_board, spec) {
    this.needle = svg("line", { x1: 60, y1: 55, x2: 10, y2: 55, stroke: "currentColor" });
    this.root = document.createElement("figure");
    this.root.className = "panel gauge";
    const dial = svg("svg", { width: 120, height: 60, role: "img", "aria-label": spec.title }, [this.needle]);
    this.root.append(caption(spec), dial);
    this.update(spec);
  }

  update(spec) {
    this.spec = spec;
  }

  draw(frame) {
    const share = this.spec.reading.values[frame] / this.spec.most;
    this.needle.setAttribute("transform", `rotate(${180 * share} 60 55)`);
  }
}
