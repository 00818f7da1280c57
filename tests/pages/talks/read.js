/* Prints each talk that ships as JSON, as the show reads it. Its arguments: the pages, and the files. */

import { readFileSync } from "node:fs";
import "../../../viz_core/viewer/vendored/markdown-it.js";
import { read, write } from "../../../viz_core/viewer/talk/format.js";

const [pages, ...files] = process.argv.slice(2);
const talks = files.map((file) => {
  const reading = read(readFileSync(file, "utf8"), JSON.parse(pages));
  const written = write(reading.talk);
  return { ...reading, isSame: write(read(written).talk) === written };
});
process.stdout.write(JSON.stringify(talks));
