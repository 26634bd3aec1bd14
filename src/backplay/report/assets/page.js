"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const percent = (share) => `${Math.round(100 * share)}%`;

// The animation: one clock, one hill for each track.
const canvases = [...document.querySelectorAll("canvas[data-track]")];
const playButton = document.getElementById("play");
const slider = document.getElementById("time");
const clock = document.getElementById("clock");
const lastStep = Math.max(...data.tracks.map((track) => track.positions.length - 1));
const STEPS_PER_SECOND = 30, PAUSE_AT_END = 45, LEFT = -1.2, RIGHT = 0.6, FLAG = 0.5;
const COLOURS = ["--demo", "--r0", "--r1", "--r2"];
let step = 0, playing = true, before = null;
slider.max = lastStep;

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const height = (x) => 0.45 * Math.sin(3 * x) + 0.55;

function drawTrack(canvas, track, name) {
  const ratio = window.devicePixelRatio || 1;
  const width = canvas.clientWidth, tall = canvas.clientHeight;
  if (canvas.width !== Math.round(width * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(tall * ratio);
  }
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, tall);
  const X = (x) => ((x - LEFT) / (RIGHT - LEFT)) * width;
  const Y = (x) => tall * (0.9 - 0.68 * height(x));

  pen.beginPath();
  pen.moveTo(0, tall);
  for (let i = 0; i <= 80; i++) {
    const x = LEFT + ((RIGHT - LEFT) * i) / 80;
    pen.lineTo(X(x), Y(x));
  }
  pen.lineTo(width, tall);
  pen.fillStyle = colour("--hill");
  pen.fill();

  pen.strokeStyle = pen.fillStyle = colour("--ink");
  pen.lineWidth = 1.5;
  pen.beginPath();
  pen.moveTo(X(FLAG), Y(FLAG));
  pen.lineTo(X(FLAG), Y(FLAG) - tall * 0.16);
  pen.stroke();
  pen.beginPath();
  pen.moveTo(X(FLAG), Y(FLAG) - tall * 0.16);
  pen.lineTo(X(FLAG) - width * 0.06, Y(FLAG) - tall * 0.12);
  pen.lineTo(X(FLAG), Y(FLAG) - tall * 0.08);
  pen.fill();

  const at = Math.min(step, track.positions.length - 1);
  const now = Math.floor(at), next = Math.min(now + 1, track.positions.length - 1);
  const x = track.positions[now] + (at - now) * (track.positions[next] - track.positions[now]);
  pen.fillStyle = pen.strokeStyle = colour(name);
  pen.lineWidth = 2;
  pen.globalAlpha = 0.35;
  pen.beginPath();
  for (let i = Math.max(0, now - 14); i <= now; i++) pen.lineTo(X(track.positions[i]), Y(track.positions[i]) - 5);
  pen.lineTo(X(x), Y(x) - 5);
  pen.stroke();
  pen.globalAlpha = 1;
  pen.save();
  pen.translate(X(x), Y(x));
  pen.rotate(Math.atan2(Y(x + 0.01) - Y(x - 0.01), X(x + 0.01) - X(x - 0.01)));
  const size = Math.max(9, width / 20);
  pen.beginPath();
  pen.roundRect(-size, -size * 0.95, size * 2, size * 0.62, size * 0.2);
  pen.roundRect(-size * 0.55, -size * 1.4, size * 1.05, size * 0.6, size * 0.2);
  pen.fill();
  pen.fillStyle = colour("--ink");
  for (const side of [-0.55, 0.55]) {
    pen.beginPath();
    pen.arc(side * size, -size * 0.28, size * 0.28, 0, 7);
    pen.fill();
  }
  pen.restore();

  const over = step >= track.positions.length - 1;
  const ending = track.reached ? `flag at step ${track.positions.length - 1}` : "time is up";
  canvas.parentElement.querySelector("span").textContent = over ? ending : "";
}

function drawAll() {
  const shown = Math.min(Math.floor(step), lastStep);
  slider.value = shown;
  clock.textContent = `step ${shown}`;
  canvases.forEach((canvas) => {
    const index = Number(canvas.dataset.track);
    drawTrack(canvas, data.tracks[index], COLOURS[index % COLOURS.length]);
  });
}

function setPlaying(on) {
  playing = on;
  before = null;
  playButton.textContent = on ? "Pause" : "Play";
  if (on && step >= lastStep) step = 0;
}

function tick(now) {
  if (playing) {
    if (before !== null) step += (STEPS_PER_SECOND * Math.min(100, now - before)) / 1000;
    before = now;
    if (step > lastStep + PAUSE_AT_END) step = 0;
    drawAll();
  }
  requestAnimationFrame(tick);
}

playButton.addEventListener("click", () => setPlaying(!playing));
slider.addEventListener("input", () => {
  setPlaying(false);
  step = Number(slider.value);
  drawAll();
});
window.addEventListener("resize", drawAll);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
if (matchMedia("(prefers-reduced-motion: reduce)").matches) setPlaying(false);
drawAll();
requestAnimationFrame(tick);

// Reading values off the charts.
function plotPoint(svg, event) {
  const box = svg.getBoundingClientRect(), view = svg.viewBox.baseVal;
  const { left, right, top, bottom } = svg.dataset;
  const x = ((event.clientX - box.left) / box.width) * view.width;
  const y = ((event.clientY - box.top) / box.height) * view.height;
  return {
    x: (x - left) / (view.width - left - right),
    y: 1 - (y - top) / (view.height - top - bottom),
    picture: x,
  };
}

const curvesReadout = document.querySelector('[data-for="curves"]');
const startsReadout = document.querySelector('[data-for="starts"]');
document.querySelectorAll("svg[data-chart]").forEach((svg) => {
  const chart = svg.dataset.chart;
  svg.addEventListener("pointermove", (event) => {
    const point = plotPoint(svg, event);
    if (chart === "curves") readCurves(svg, point);
    else readStarts(chart, point);
  });
});

function readCurves(svg, point) {
  if (point.x < 0 || point.x > 1) return;
  const frames = point.x * data.frames;
  const nearest = (curve) => curve.frames.reduce((best, f, i) => (Math.abs(f - frames) < Math.abs(curve.frames[best] - frames) ? i : best), 0);
  const at = data.curves[0].frames[nearest(data.curves[0])];
  const values = data.curves.map((curve) => `${curve.regime} ${percent(curve.success[nearest(curve)])}`);
  curvesReadout.textContent = `At ${at.toLocaleString("en")} frames: ${values.join(", ")}.`;
  const cursor = svg.querySelector(".cursor");
  cursor.classList.add("on");
  cursor.setAttribute("transform", `translate(${point.picture} 0)`);
}

function readStarts(regime, point) {
  const { episodes, successes } = data.starts[regime];
  const columns = episodes.length, rows = episodes[0].length;
  const column = Math.floor(point.x * columns), row = Math.floor(point.y * rows);
  if (column < 0 || row < 0 || column >= columns || row >= rows) return;
  const count = episodes[column][row];
  const first = Math.ceil((row * data.demoLength) / rows), last = Math.ceil(((row + 1) * data.demoLength) / rows) - 1;
  const frames = Math.round(((column + 0.5) * data.frames) / columns).toLocaleString("en");
  const what = count ? `${count} episodes, ${percent(successes[column][row] / count)} reached the goal` : "no episode";
  startsReadout.textContent = `${regime}, around ${frames} frames, from steps ${first} to ${last}: ${what}.`;
}
