// Look: a demonstration step by step, with its rewards; mend it, export it, go on from it.

import { busy, ending, get, getPacked, h, post, say, short } from "./dom.js";
import { lines } from "./chart.js";
import { PictureBox } from "./picture.js";
import { Strip } from "./strip.js";

export async function open(main, name) {
  if (!name) {
    const { demos } = await get("home");
    main.append(h("h1", {}, "Look"), demos.length ? h("ul", {}, demos.filter((demo) => !demo.error)
      .map((demo) => h("li", {}, h("a", { href: `#look/${encodeURIComponent(demo.name)}` }, demo.name))))
      : h("p", { class: "quiet" }, "There is no demonstration in this folder yet."));
    return undefined;
  }
  main.append(h("p", { class: "quiet", id: "wait" }, `Opening ${name} …`));
  const facts = await get("demo", { name });
  main.replaceChildren();
  const page = new LookPage(main, name, facts);
  return () => page.close();
}

class LookPage {
  constructor(main, name, facts) {
    Object.assign(this, { name, facts, at: 0, wanted: 0 });
    this.box = h("div", { class: "stage", id: "stage", tabIndex: 0, role: "application", "aria-label": "The demonstration. Arrow keys go along it." });
    this.box.addEventListener("keydown", (event) => {
      const far = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -Infinity, End: Infinity }[event.key];
      if (far) { event.preventDefault(); this.go(this.at + far); }
    });
    this.picture = new PictureBox(this.box);
    this.strip = new Strip((step) => this.go(step));
    this.status = h("dl", { class: "facts", id: "status" });
    this.play = h("button", { id: "play", onclick: () => this.toggle() }, "Play");
    this.curves = h("div", { class: "charts" });
    this.agent = h("select", { id: "agent", onchange: () => this.showValues() }, h("option", { value: "" }, "no agent"));
    main.append(h("h1", {}, name), h("div", { class: "bench" },
      h("div", {}, this.box, h("div", { class: "row", style: "margin-top:.75rem" }, this.play,
        h("button", { onclick: () => this.go(this.at - 1) }, "Back 1"), h("button", { onclick: () => this.go(this.at + 1) }, "On 1")),
      this.strip.node, h("section", { class: "card", style: "margin-top:1rem" }, h("h2", {}, "Along it"),
        h("label", {}, "The value that a trained agent sees in it", this.agent), this.curves)),
      h("div", {}, h("section", { class: "card" }, h("h2", {}, "What it is"), this.status), this.mend(), this.exports())));
    const bands = [...facts.loops.map(([a, b]) => [a, b, "--bad"]), ...facts.wasted.map((step) => [step, step + 1, "--gold"])];
    const usual = median(facts.rewards);
    const marks = facts.rewards.map((reward, i) => [i * facts.every + 1, reward]).filter(([, reward]) => reward !== usual).slice(0, 400);
    const meaning = [facts.loops.length ? "red: a loop" : "", facts.wasted.length ? "gold: wasted, nothing changes" : ""].filter(Boolean).join(", ");
    this.strip.set({ length: facts.length, bands, marks: marks.length > facts.rewards.length / 2 ? [] : marks, right: meaning });
    this.showCurves(null);
    this.go(0);
    this.fill();
  }

  close() {
    this.closed = true;
  }

  async fill() {
    try {
      const { thumbs } = await getPacked("demo/thumbs", { name: this.name });
      this.strip.add(thumbs);
    } catch (error) {
      say(error.message);
    }
    const { runs } = await get("home");
    this.agent.append(...runs.filter((run) => !run.error).map((run) => h("option", { value: run.name }, run.name)));
  }

  /** Shows a step; while a picture is on its way, the newest wish waits. */
  async go(step) {
    this.at = Math.max(0, Math.min(this.facts.length, step));
    this.strip.set({ at: this.at });
    this.showStatus();
    if (this.asking) return;
    this.asking = true;
    try {
      let shown = -1;
      while (shown !== this.at && !this.closed) {
        shown = this.at;
        const response = await fetch(`/api/demo/picture?${new URLSearchParams({ name: this.name, step: shown })}`);
        if (!response.ok) break;
        await this.picture.show({ kind: response.headers.get("content-type").split(";")[0], blob: await response.blob() });
        this.box.dataset.step = shown;
      }
    } finally {
      this.asking = false;
    }
  }

  async toggle() {
    this.playing = !this.playing;
    this.play.textContent = this.playing ? "Pause" : "Play";
    if (this.playing && this.at === this.facts.length) this.at = 0;
    while (this.playing && !this.closed && this.at < this.facts.length) {
      const due = performance.now() + 60;
      await this.go(this.at + 1);
      await new Promise((done) => setTimeout(done, Math.max(0, due - performance.now())));
    }
    this.playing = false;
    this.play.textContent = "Play";
  }

  showStatus() {
    const { facts, at } = this;
    const seen = (list) => (list && at > 0 && (at - 1) % facts.every === 0 ? list[(at - 1) / facts.every] : null);
    const action = seen(facts.actions);
    const name = Array.isArray(action) ? action.flat(3).map((value) => value.toFixed(2)).join(", ") : facts.names?.[action] ?? action;
    const rows = [["environment", facts.env], ["seed", short(facts.seed)], ["steps", short(facts.length)], ["return", short(facts.total)],
      ["end", ending(facts.ended, facts.success)], ["restored by", facts.restorer], ["loops", short(facts.loops.length)],
      ["wasted steps", short(facts.wasted_count)], ["here", `step ${at}`], ["action that led here", name ?? "–"], ["reward here", short(seen(facts.rewards))]];
    this.status.replaceChildren(...rows.flatMap(([key, value]) => [h("dt", {}, key), h("dd", {}, value ?? "–")]));
  }

  showCurves(values) {
    const { facts } = this;
    const steps = facts.rewards.map((_, i) => i * facts.every + 1);
    let sum = 0;
    const returns = facts.rewards.map((reward) => { sum += reward; return sum; });
    const made = [lines("Reward", "step", [{ name: "reward", x: steps, y: facts.rewards }]),
      ...(facts.every === 1 ? [lines("Return so far", "step", [{ name: "return", x: steps, y: returns }])] : [])];
    if (values) made.unshift(lines("Value seen by the agent", "step", [{ name: "value", x: values.map((_, i) => i * facts.every), y: values }]));
    this.curves.replaceChildren(...made);
  }

  async showValues() {
    if (!this.agent.value) { this.showCurves(null); return; }
    await busy(this.agent, async () => {
      const { values } = await get("demo/values", { name: this.name, run: this.agent.value });
      this.showCurves(values);
    });
  }

  mend() {
    const { facts, name } = this;
    if (!facts.can_mend) return h("section", { class: "card" }, h("h2", {}, "Mend"), h("p", { class: "quiet" }, "Only a demonstration with a seed and actions can be mended."));
    const file = h("input", { id: "mended", value: name.split("/").pop().replace(/\.npz$/, "-mended.npz"), spellcheck: false });
    const told = h("div", { id: "told" });
    const work = (asked) => (event) => busy(event.target, async () => {
      const made = await post("demo/mend", { demo: name, name: file.value, ...asked() });
      told.replaceChildren(h("p", {}, h("a", { href: `#look/${encodeURIComponent(made.name)}` }, made.name), `: ${made.length} steps, return ${short(made.total)}. `,
        made.differs === null ? "The rest goes as it did." : `From step ${made.differs} on the rest goes another way.`), h("pre", { class: "report" }, made.report));
    });
    return h("section", { class: "card" }, h("h2", {}, "Mend"), h("form", { onsubmit: (event) => event.preventDefault() },
      h("label", {}, "Write it as", file),
      h("div", { class: "row tight" }, h("button", { id: "trim", type: "button", onclick: work(() => ({ end: Math.max(1, this.at) })) }, "End it at this step"),
        facts.loops.slice(0, 6).map(([first, last]) => h("button", { type: "button", class: "small", onclick: work(() => ({ end: facts.length, cut: [first, last] })) }, `Cut ${first} to ${last}`)),
        h("button", { type: "button", id: "continue", onclick: (event) => busy(event.target, async () => {
          await post("record", { demo: name, step: this.at });
          location.hash = "#record";
        }) }, "Record on from this step")), told));
  }

  exports() {
    const { name } = this;
    const link = (path, query, words) => h("a", { class: "button", href: `/api/${path}?${new URLSearchParams(query)}`, download: "" }, words);
    const dataset = h("input", { id: "dataset", value: `studio/${name.split("/").pop().replace(/\.npz$/, "").replace(/[^A-Za-z0-9]+/g, "-").toLowerCase()}-v0`, spellcheck: false });
    const told = h("p", { class: "quiet", style: "overflow-wrap:anywhere" });
    return h("section", { class: "card" }, h("h2", {}, "Take it along"), h("form", { onsubmit: (event) => event.preventDefault() },
      h("div", { class: "row" }, link("demo/film", { name, kind: "gif" }, "GIF"), link("demo/film", { name, kind: "mp4" }, "MP4"), link("demo/file", { name }, "The file"),
        h("a", { class: "button", href: `#watch/train:${encodeURIComponent(name)}` }, "Train from it")),
      h("label", {}, "As a Minari dataset", dataset),
      h("div", {}, h("button", { type: "button", id: "minari", onclick: (event) => busy(event.target, async () => {
        told.textContent = `Written to ${(await post("demo/minari", { demo: name, dataset: dataset.value })).where}`;
      }) }, "Export to Minari")), told));
  }
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
