// The film of a figure that is a page of its own: each frame of its slider, played once and recorded as WebM.

const { Plotly } = /** @type {any} */ (globalThis);
const button = /** @type {HTMLButtonElement} */ (document.querySelector("#film"));

async function pictures() {
  const plot = /** @type {any} */ (document.querySelector(".js-plotly-plot"));
  const { width, height, sliders } = plot.layout;
  const found = [];
  for (const { args } of sliders[0].steps) {
    await Plotly.animate(plot, ...args);
    const picture = new Image();
    picture.src = await Plotly.toImage(plot, { format: "png", width, height });
    await picture.decode();
    found.push(picture);
    button.textContent = `${found.length} of ${sliders[0].steps.length}`;
  }
  return found;
}

/** Plays pictures on a canvas, each for as long as a frame lasts, and the last one for a second.
   @param {HTMLImageElement[]} shown
   @param {number} speed frames per second */
async function recorded(shown, speed) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [shown[0].width, shown[0].height];
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const recorder = new MediaRecorder(canvas.captureStream(), {
    mimeType: "video/webm",
    videoBitsPerSecond: 8e6,
  });
  /** @type {Blob[]} */
  const parts = [];
  recorder.ondataavailable = ({ data }) => parts.push(data);
  const ended = new Promise((resolve) => {
    recorder.onstop = resolve;
  });
  recorder.start();
  for (const [at, picture] of shown.entries()) {
    context.drawImage(picture, 0, 0);
    await new Promise((resolve) => setTimeout(resolve, at < shown.length - 1 ? 1000 / speed : 1000));
  }
  recorder.stop();
  await ended;
  return new Blob(parts, { type: "video/webm" });
}

button.addEventListener("click", async () => {
  button.disabled = true;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await recorded(await pictures(), Number(button.dataset.speed)));
  link.download = `${document.title}.webm`;
  link.click();
  URL.revokeObjectURL(link.href);
  button.textContent = "Film, WebM";
  button.disabled = false;
});
