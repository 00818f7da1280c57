/* Drawings of structure: who may look at whom through the layers, and the boxes of a computation. */

class LayersPanel extends Chart {
  constructor(board, spec) {
    super(board, spec, "layers");
  }

  prepare(width, height) {
    const { spec } = this;
    const n = spec.tokens.length;
    const floors = (this.floors = spec.lit.size(2));
    const box = { left: 64, right: width - 24, top: 18, bottom: height - 34 };
    this.x = (token) => box.left + ((token + 0.5) * (box.right - box.left)) / n;
    this.y = (floor) => box.bottom - (floor * (box.bottom - box.top)) / Math.max(1, floors - 1);
    this.links = svg("path", { class: "link" });
    this.litLinks = svg("path", { class: "link lit" });
    this.picture.append(this.links, this.litLinks);
    this.nodes = [];
    for (let floor = 0; floor < floors; floor++) {
      const name = floor === 0 ? "input" : `layer ${floor}`;
      this.picture.append(svg("text", { class: "tick", x: 4, y: this.y(floor), "dominant-baseline": "middle", text: name }));
      for (let token = 0; token < n; token++) {
        const node = svg("circle", { class: "node", cx: this.x(token), cy: this.y(floor), r: 6 });
        this.nodes.push(node);
        this.picture.append(node);
      }
    }
    const most = Math.max(3, Math.floor((box.right - box.left) / n / 8));
    spec.tokens.forEach((token, at) => this.picture.append(svg("text", { class: "tick", x: this.x(at), y: height - 8, "text-anchor": "middle", text: shorten(token, most) })));
    const all = [];
    for (let floor = 1; floor < floors; floor++) for (const [query, key] of this.pairs()) all.push(this.line(floor, query, key));
    this.links.setAttribute("d", all.join(""));
  }

  pairs() {
    const n = this.spec.tokens.length;
    const found = [];
    this.spec.links.values.forEach((may, at) => may && found.push([Math.floor(at / n), at % n]));
    return found;
  }

  line(floor, query, key) {
    return `M${this.x(key)} ${this.y(floor - 1)}L${this.x(query)} ${this.y(floor)}`;
  }

  move(frame) {
    const lit = this.spec.lit.frame(frame, 2);
    const n = this.spec.tokens.length;
    this.nodes.forEach((node, at) => node.classList.toggle("lit", Boolean(lit[at])));
    const found = [];
    for (let floor = 1; floor < this.floors; floor++)
      for (const [query, key] of this.pairs()) if (lit[floor * n + query] && lit[(floor - 1) * n + key]) found.push(this.line(floor, query, key));
    this.litLinks.setAttribute("d", found.join(""));
  }
}

class DiagramPanel extends Chart {
  constructor(board, spec) {
    super(board, spec, "diagram");
  }

  prepare(width) {
    const { spec, board } = this;
    const columns = Math.max(...spec.nodes.map((node) => node.column)) + 1;
    const rows = Math.max(...spec.nodes.map((node) => node.row)) + 1;
    const height = Math.max(90, 56 * rows);
    this.picture.setAttribute("height", height);
    const step = width / columns;
    const wide = Math.min(150, step - 22);
    const tall = spec.nodes.some((node) => node.note) ? 44 : 34;
    const centre = (node) => [(node.column + 0.5) * step, ((node.row + 0.5) * height) / rows];
    const byId = Object.fromEntries(spec.nodes.map((node) => [node.id, node]));
    const tip = `tip${(DiagramPanel.count = (DiagramPanel.count ?? 0) + 1)}`;
    const marker = { id: tip, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" };
    this.picture.append(svg("defs", {}, [svg("marker", marker, [svg("path", { class: "tip", d: "M0 0L8 4L0 8Z" })])]));
    for (const [from, to] of spec.edges) {
      const [x1, y1] = centre(byId[from]);
      const [x2, y2] = centre(byId[to]);
      const level = Math.abs(x2 - x1) > 1;
      const ends = level ? [x1 + (Math.sign(x2 - x1) * wide) / 2, y1, x2 - (Math.sign(x2 - x1) * wide) / 2, y2] : [x1, y1 + (Math.sign(y2 - y1) * tall) / 2, x2, y2 - (Math.sign(y2 - y1) * tall) / 2];
      this.picture.append(svg("line", { class: "edge", x1: ends[0], y1: ends[1], x2: ends[2], y2: ends[3], "marker-end": `url(#${tip})` }));
    }
    for (const node of spec.nodes) {
      const [x, y] = centre(node);
      const colour = node.colour === null ? board.theme.ink : board.colour(node.colour);
      this.picture.append(
        svg("rect", { class: node.changed ? "box changed" : "box", x: x - wide / 2, y: y - tall / 2, width: wide, height: tall, rx: 7, stroke: colour }),
        this.words("box-label", node.label, x, node.note ? y - 8 : y, colour, wide / 7.5),
        node.note ? this.words("box-note", node.note, x, y + 10, colour, wide / 6.2) : "",
      );
    }
  }

  words(className, text, x, y, fill, letters) {
    return svg("text", { class: className, x, y, fill, "text-anchor": "middle", "dominant-baseline": "central", text: shorten(text, Math.floor(letters)) });
  }

  move() {}
}
