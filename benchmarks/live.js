/* Runs models in Node as a browser does, for benchmarks/live.py: the folder of their files is the argument,
   what is asked of each model comes as JSON, and the messages go into the folder. */

// @ts-nocheck: it needs the types of Node, which nothing else here does

import { readFileSync, writeFileSync } from "node:fs";
import * as runtime from "onnxruntime-web/wasm";
import { readMessage } from "../viz_core/viewer/browser/message.js";
import { Live } from "../viz_core/viewer/live/live.js";

const folder = process.argv[2];
runtime.env.wasm.numThreads = 1;
const answers = {};
for (const [name, wishes] of Object.entries(JSON.parse(readFileSync(0, "utf8")))) {
  const [weights, described] = [".onnx", ".bin"].map((ending) => readFileSync(`${folder}/${name}${ending}`));
  const session = await runtime.InferenceSession.create(new Uint8Array(weights));
  const live = new Live(runtime, session, readMessage(new Uint8Array(described)));
  answers[name] = [];
  for (const { opened, ...asked } of wishes) {
    Object.assign(live.opened, opened);
    const begun = performance.now();
    try {
      const { bytes, reading } = await live.messageOf(asked);
      const milliseconds = performance.now() - begun;
      live.set("reading", reading); // whose translation is the draft of the next
      writeFileSync(`${folder}/${name}.${answers[name].length}.message`, bytes);
      const { values } = await live.answer({ type: "sums", stack: opened.stack, queries: "", keys: "0" });
      answers[name].push({ milliseconds, unknown: reading.unknown, advice: reading.advice, sums: values });
    } catch (error) {
      answers[name].push({ problem: error.message });
    }
  }
}
process.stdout.write(JSON.stringify(answers));
