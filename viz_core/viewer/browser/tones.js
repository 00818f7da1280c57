/* A row that is heard: a tone for each number, from left to right, the higher the larger. */

const LOWEST = 220; // hertz
const OCTAVES = 2;
const STEP = 0.16; // seconds from tone to tone
const LONGEST = 5; // seconds of a row
const LOUD = 0.2;
const SOFT = 0.008; // seconds in which a tone comes and goes, so that it does not click

/** When each number is heard, how high, and where between left and right; silence for what is none.
   @param {unknown[]} values */
export function tonesOf(values) {
  const known = values.filter((value) => typeof value === "number" && Number.isFinite(value));
  const low = Math.min(0, .../** @type {number[]} */ (known));
  const reach = Math.max(.../** @type {number[]} */ (known)) - low || 1;
  const step = Math.min(STEP, LONGEST / values.length);
  return values.flatMap((value, at) => {
    if (typeof value !== "number" || !Number.isFinite(value)) return [];
    const frequency = LOWEST * 2 ** ((OCTAVES * (value - low)) / reach);
    return [
      { begin: at * step, end: (at + 0.8) * step, frequency, pan: (2 * at) / (values.length - 1 || 1) - 1 },
    ];
  });
}

/** @type {AudioContext | undefined} */ let playing;

/* Ends what is heard. */
export function hush() {
  playing?.close();
  playing = undefined;
}

/** @param {unknown[]} values */
export function hear(values) {
  hush();
  const context = new AudioContext();
  playing = context;
  for (const { begin, end, frequency, pan } of tonesOf(values)) {
    const tone = new OscillatorNode(context, { frequency });
    const loudness = new GainNode(context, { gain: 0 });
    loudness.gain.setTargetAtTime(LOUD, begin, SOFT).setTargetAtTime(0, end, SOFT);
    tone.connect(loudness).connect(new StereoPannerNode(context, { pan })).connect(context.destination);
    tone.start(begin);
    tone.stop(end + 10 * SOFT);
  }
}
