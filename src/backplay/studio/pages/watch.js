// Watch: run directories, live or later; the policy from any step; training from a demonstration.

import { COLOURS, figure, lines, s } from "./chart.js";
import { busy, ending, get, getPacked, h, post, say, short } from "./dom.js";
import { PictureBox } from "./picture.js";
import { Strip } from "./strip.js";

const EVERY = 2000; // milliseconds between two looks at a run that goes on

export async function open(main, rest) {
  if (rest.startsWith("train:")) return train(main, decodeURIComponent(rest.slice(6)));
  if (!rest) {
    const { runs } = await get("home");
    main.append(h("h1", {}, "Watch"), runs.length ? h("ul", {}, runs.map((run) => h("li", {}, h("a", { href: `#watch/${encodeURIComponent(run.name)}` }, run.name))))
      : h("p", { class: "quiet" }, "There is no run in this folder yet."));
    return undefined;
  }
  const page = new WatchPage(main, rest.split("\n"));
  await page.look();
  return () => page.close();
}

/** The form that starts a run. */
function train(main, demo) {
  const frames = h("input", { id: "frames", type: "number", min: 1, step: 1, value: 100000 });
  const curriculum = h("select", { id: "curriculum" }, ["backplay", "uniform", "standard"].map((name) => h("option", {}, name)));
  const seed = h("input", { id: "seed", type: "number", min: 0, value: 0 });
  const success = h("input", { id: "rule", placeholder: "as the demonstration ends", spellcheck: false, title: "info:KEY, return>=X or terminated" });
  const button = h("button", { class: "main", id: "start" }, "Train");
  main.append(h("h1", {}, "Train from here"), h("section", { class: "card", style: "max-width:32rem" }, h("p", {}, "Our PPO, with episodes that start in states of ", h("code", {}, demo), "."),
    h("form", { onsubmit: (event) => {
      event.preventDefault();
      busy(button, async () => {
        const { run } = await post("train", { demo, frames: Number(frames.value), curriculum: curriculum.value, seed: Number(seed.value), success: success.value });
        location.hash = `#watch/${encodeURIComponent(run)}`;
      });
    } }, h("label", {}, "Frames", frames), h("label", {}, "Where episodes start", curriculum), h("label", {}, "Seed", seed),
    h("label", {}, "A success is: info:KEY, return>=X, terminated, or nothing", success), h("div", {}, button))));
}

class WatchPage {
  constructor(main, names) {
    Object.assign(this, { names, at: 0 });
    this.head = h("div", { class: "grid", id: "runs" });
    this.charts = h("div", { class: "charts", id: "charts" });
    this.maps = h("div", { class: "charts", id: "maps" });
    this.metric = h("select", { id: "metric", onchange: () => this.drawLearner() });
    this.learner = h("div", { class: "charts" });
    this.policy = h("section", { class: "card", hidden: true });
    main.append(h("h1", {}, names.length === 1 ? names[0] : `${names.length} runs`), this.head,
      h("section", { class: "card" }, h("h2", {}, "Success"), this.charts),
      h("section", { class: "card" }, h("h2", {}, "Success by start, over time"), h("p", { class: "quiet" },
        "A column is a stretch of training, a row a distance from the end of the demonstration. Dark green: every episode from there succeeds. Red: none. Empty: none started there."), this.maps),
      this.policy, h("section", { class: "card" }, h("h2", {}, "The learner"), h("label", {}, "Measure", this.metric), this.learner));
  }

  close() {
    this.closed = true;
    clearTimeout(this.timer);
  }

  async look() {
    try {
      this.runs = await Promise.all(this.names.map((name) => get("run", { name })));
      this.draw();
    } catch (error) {
      say(error.message);
    }
    if (!this.closed && (!this.runs || this.runs.some((run) => !run.finished))) this.timer = setTimeout(() => this.look(), EVERY);
  }

  draw() {
    this.head.replaceChildren(...this.runs.map((run, i) => this.card(run, i)));
    const has = (pick) => this.runs.map((run, i) => ({ name: run.name, colour: COLOURS[i % COLOURS.length], points: pick(run) ?? [] })).filter((one) => one.points.length);
    const curve = (title, pick, options) => {
      const found = has(pick);
      return found.length ? [lines(title, "frames", found.map(({ points, ...one }) => ({ ...one, x: points.map(([x]) => x), y: points.map(([, y]) => y) })), options)] : [];
    };
    const share = { low: 0, high: 1 };
    this.charts.replaceChildren(...curve("From the true start, measured without the curriculum", (run) => run.evaluations?.success, share),
      ...curve("Of training episodes, wherever they started", (run) => run.train_success, share),
      ...curve("Return from the true start", (run) => run.evaluations?.return));
    this.maps.replaceChildren(...this.runs.filter((run) => run.map?.rows.length).map((run) => heat(run)));
    this.learnerCurve = (name) => curve(name, (run) => run.learner?.[name]);
    const names = [...new Set(this.runs.flatMap((run) => Object.keys(run.learner ?? {})))];
    if (names.join() !== this.metrics) {
      this.metrics = names.join();
      this.metric.replaceChildren(...names.map((name) => h("option", {}, name)));
    }
    this.drawLearner();
    this.drawPolicy();
  }

  drawLearner() {
    if (this.metric.value) this.learner.replaceChildren(...this.learnerCurve(this.metric.value));
  }

  card(run, i) {
    const state = run.finished ? "finished" : run.working ? "training" : "not finished";
    const act = (path, words, id) => h("button", { id, onclick: (event) => busy(event.target, async () => {
      await post(path, { run: run.name });
      say(path === "train/stop" ? "It saves and stops after this update." : "Resumed.");
      setTimeout(() => this.look(), 500);
    }) }, words);
    const last = run.evaluations?.success?.at(-1)?.[1];
    return h("section", { class: "card", "data-run": run.name, "data-state": state },
      h("div", { class: "row spread" }, h("h2", { style: "margin:0" }, h("i", { style: `display:inline-block;width:1em;height:.3em;vertical-align:middle;margin-right:.4em;background:${COLOURS[i % COLOURS.length]}` }), run.name), h("span", { class: run.finished ? "good" : "quiet" }, state)),
      run.total ? h("progress", { max: run.total, value: Math.min(run.frames, run.total) }) : "",
      h("dl", { class: "facts" }, h("dt", {}, "frames"), h("dd", {}, run.total ? `${short(run.frames)} of ${short(run.total)}` : short(run.frames)),
        h("dt", {}, "success from the true start"), h("dd", { class: "success" }, last === undefined ? "–" : `${Math.round(last * 100)} %`), h("dt", {}, "starts"), h("dd", {}, run.starts || "–"),
        ...(run.result?.sampled ? [h("dt", {}, "at the end, sampled"), h("dd", {}, run.result.sampled), h("dt", {}, "likeliest actions"), h("dd", {}, run.result.greedy)] : [])),
      !run.finished && run.said?.length && !run.working ? h("pre", { class: "report" }, run.said.join("\n")) : "",
      h("div", { class: "row", style: "margin-top:.5rem" }, run.finished ? "" : run.working ? act("train/stop", "Stop", "stop") : act("train/resume", "Resume", "resume")));
  }

  /** The demonstrations of one run: a strip with the frontier, and films of the policy. */
  async drawPolicy() {
    const shown = this.runs.filter((one) => one.job);
    if (!shown.length) return;
    if (!this.picked) {
      this.picked = shown[0].name;
      this.buildPolicy(shown.map((run) => run.name));
      await this.open();
    }
    const run = this.runs.find((one) => one.name === this.picked);
    if (!this.length || !run.map) return;
    const backs = run.map.rows.filter((back) => back >= 0);
    const width = backs.length > 1 ? backs[1] - backs[0] : 1;
    const bands = (run.map.now ?? []).filter(([back, tries]) => tries && back <= this.length).map(([back, tries, wins]) => {
      const first = back < 0 ? 0 : Math.max(0, this.length - back - width + 1);
      return [first, back < 0 ? 1 : this.length - back + 1, wins / tries >= 0.5 ? "--good" : wins ? "--gold" : "--bad"];
    });
    this.strip.set({ bands });
  }

  buildPolicy(names) {
    this.box = h("div", { class: "stage", id: "stage" });
    this.picture = new PictureBox(this.box);
    this.strip = new Strip((step) => this.go(step));
    this.which = h("select", { id: "which", onchange: () => { this.picked = this.which.value; this.open(); } }, names.map((name) => h("option", {}, name)));
    this.number = h("input", { id: "demo", type: "number", min: 0, value: 0, style: "width:5rem", onchange: () => this.choose(Number(this.number.value)) });
    this.numbered = h("label", { class: "check", hidden: true }, "demonstration", this.number);
    this.greedy = h("input", { type: "checkbox", id: "greedy" });
    this.film = h("button", { class: "main", id: "film", disabled: true, onclick: (event) => busy(event.target, () => this.play()) }, "Film from here");
    this.outcome = h("span", { id: "outcome" });
    this.policy.replaceChildren(h("h2", {}, "The frontier, and what the last checkpoint does"),
      h("p", { class: "quiet" }, "The strip is the demonstration; under it, where episodes started lately: green where most succeed, gold where some do, red where none does. Click a step to see it."),
      h("div", { class: "row", style: "margin-bottom:.75rem" }, names.length > 1 ? h("label", { class: "check" }, "of", this.which) : "", this.numbered),
      this.box, h("div", { class: "row", style: "margin-top:.75rem" }, this.film, h("label", { class: "check" }, this.greedy, "likeliest actions"), this.outcome), this.strip.node);
    this.policy.hidden = false;
  }

  /** Opens the picked run: its job is built once, which may take a while. */
  async open() {
    const name = this.picked;
    this.film.disabled = true;
    this.length = 0;
    this.outcome.textContent = "opening the run …";
    try {
      const { lengths } = await get("run/scenes", { run: name });
      if (this.closed || name !== this.picked) return;
      this.lengths = lengths;
      this.number.max = lengths.length - 1;
      this.numbered.hidden = lengths.length < 2;
      this.outcome.textContent = "";
      this.film.disabled = false;
      await this.choose(0);
    } catch (error) {
      if (name === this.picked) this.outcome.textContent = error.message;
    }
  }

  /** Shows one of its demonstrations. */
  async choose(demo) {
    this.demo = Math.max(0, Math.min(this.lengths.length - 1, demo || 0));
    this.number.value = this.demo;
    this.length = this.lengths[this.demo];
    this.strip.clear();
    this.strip.set({ length: this.length, at: 0 });
    this.go(0);
    this.drawPolicy();
    const mine = `${this.picked} ${this.demo}`;
    const { thumbs } = await getPacked("run/thumbs", { run: this.picked, demo: this.demo });
    if (mine === `${this.picked} ${this.demo}`) this.strip.add(thumbs);
  }

  async go(step) {
    this.at = Math.max(0, Math.min(this.length, step));
    this.playing = null;
    this.strip.set({ at: this.at });
    const shown = this.at;
    const response = await fetch(`/api/run/picture?${new URLSearchParams({ run: this.picked, demo: this.demo, step: shown })}`);
    if (!response.ok || this.playing || shown !== this.at) return;
    await this.picture.show({ kind: response.headers.get("content-type").split(";")[0], blob: await response.blob() });
    this.box.dataset.step = shown;
  }

  async play() {
    const step = Math.min(this.at, this.length - 1);
    this.outcome.textContent = "it plays …";
    const { facts, thumbs } = await getPacked("run/film", { run: this.picked, demo: this.demo, step, greedy: this.greedy.checked });
    this.outcome.replaceChildren(`from step ${facts.start}, after ${short(facts.frames)} frames: ${facts.steps} steps, return ${short(facts.total)}, `, ending(facts.over ? "over" : "cut off", facts.success));
    Object.assign(this.outcome.dataset, { success: facts.success, start: facts.start, demo: facts.demo, pictures: thumbs.length });
    const mine = {};
    this.playing = mine;
    for (const [, picture] of thumbs) {
      if (this.playing !== mine || this.closed) return;
      await this.picture.show(picture);
      await new Promise((done) => setTimeout(done, 40));
    }
  }
}

/** Success by start over time, as squares. */
function heat(run) {
  const { frames, rows, cells } = run.map;
  const [wide, high, left, bottom] = [480, 220, 46, 30];
  const svg = s("svg", { class: "chart", viewBox: `0 0 ${wide} ${high}`, role: "img", "aria-label": `Success by start over time of ${run.name}` });
  const w = (wide - left - 8) / frames.length;
  const t = (high - bottom - 8) / rows.length;
  cells.forEach((column, x) => column.forEach((value, y) => {
    if (value === null) return;
    const colour = `hsl(${Math.round(value * 130)} 55% ${Math.round(58 - 20 * value)}%)`;
    svg.append(s("rect", { x: left + x * w, y: high - bottom - (y + 1) * t, width: w + 0.5, height: t + 0.5, fill: colour }));
  }));
  [...new Set([0, Math.floor((rows.length - 1) / 2), rows.length - 1])].forEach((y) => svg.append(s("text", { x: left - 6, y: high - bottom - (y + 0.5) * t + 4, "text-anchor": "end" }, rows[y] < 0 ? "start" : rows[y])));
  svg.append(s("text", { x: left, y: high - 12 }, "0"), s("text", { x: wide - 8, y: high - 12, "text-anchor": "end" }, `${short(frames.at(-1))} frames`),
    s("text", { x: 12, y: (high - bottom) / 2, "text-anchor": "middle", transform: `rotate(-90 12 ${(high - bottom) / 2})` }, "steps back"));
  return figure(run.name, svg);
}
