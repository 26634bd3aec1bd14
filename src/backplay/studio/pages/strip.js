// The strip of an episode: small pictures along it, rewards, loops, and where it stands.

import { h } from "./dom.js";

const HIGH = 84;

/** A strip that can be clicked, and a slider under it for keys. */
export class Strip {
  constructor(onGo) {
    this.canvas = h("canvas", { height: HIGH, "aria-hidden": "true" });
    this.slider = h("input", { type: "range", min: 0, max: 0, value: 0, "aria-label": "Step" });
    this.words = h("span", {}, "step 0");
    this.right = h("span", {}, "");
    this.node = h("div", { class: "strip" }, this.canvas, this.slider,
      h("div", { class: "under" }, this.words, this.right));
    this.thumbs = new Map();
    this.length = 0;
    this.at = 0;
    this.marks = [];
    this.bands = [];
    this.canvas.addEventListener("click", (event) => {
      const box = this.canvas.getBoundingClientRect();
      onGo(Math.round(((event.clientX - box.left) / box.width) * this.length));
    });
    this.slider.addEventListener("input", () => onGo(Number(this.slider.value)));
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    this.pending = false;
  }

  /** Adds small pictures: [step, {blob}]. */
  async add(thumbs) {
    await Promise.all(thumbs.map(async ([step, picture]) => {
      if (picture.kind.startsWith("image/")) this.thumbs.set(step, await createImageBitmap(picture.blob));
    }));
    if (thumbs.length) this.draw();
  }

  /** Another episode: its pictures and marks are still to come. */
  clear() {
    this.thumbs.clear();
    this.marks = [];
    this.bands = [];
  }

  /** What the strip shows; parts that are not given stay. */
  set({ at, length, marks, bands, stride, right }) {
    this.at = at ?? this.at;
    this.length = length ?? this.length;
    this.marks = marks ?? this.marks;
    this.bands = bands ?? this.bands;
    this.stride = stride ?? this.stride ?? 1;
    for (const step of this.thumbs.keys()) {
      if (step > this.length || step % this.stride) this.thumbs.delete(step);
    }
    this.slider.max = this.length;
    this.slider.value = this.at;
    this.words.textContent = `step ${this.at} of ${this.length}`;
    if (right !== undefined) this.right.textContent = right;
    this.draw();
  }

  draw() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => { this.pending = false; this.paint(); });
  }

  paint() {
    const scale = window.devicePixelRatio || 1;
    const width = this.canvas.clientWidth;
    if (!width) return;
    this.canvas.width = width * scale;
    this.canvas.height = HIGH * scale;
    const pen = this.canvas.getContext("2d");
    pen.scale(scale, scale);
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const x = (step) => (this.length ? (step / this.length) * width : 0);
    const room = HIGH - 20;
    // From its end back to its beginning: the end is always seen.
    let free = width;
    for (const step of [...this.thumbs.keys()].sort((a, b) => b - a)) {
      const image = this.thumbs.get(step);
      const wide = (image.width / image.height) * room;
      const left = Math.min(x(step), width - wide);
      if (left + wide > free || (step && left < wide + 2)) continue;
      pen.drawImage(image, left, 0, wide, room);
      free = left - 2;
    }
    pen.fillStyle = colour("--line");
    pen.fillRect(0, HIGH - 16, width, 8);
    pen.fillStyle = colour("--accent");
    pen.fillRect(0, HIGH - 16, x(this.at), 8);
    for (const [first, last, name] of this.bands) {
      pen.fillStyle = colour(name ?? "--bad");
      pen.fillRect(x(first), HIGH - 7, Math.max(2, x(last) - x(first)), 5);
    }
    for (const [step, reward] of this.marks) {
      pen.fillStyle = colour(reward >= 0 ? "--good" : "--bad");
      pen.fillRect(x(step) - 1, HIGH - 20, 2, 16);
    }
    pen.fillStyle = colour("--ink");
    pen.fillRect(Math.min(x(this.at), width - 3) - 1, 0, 3, HIGH - 4);
  }
}
