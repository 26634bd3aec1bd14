// Record: the stage, the strip to travel in time, takes, keys, saving.

import { busy, ending, get, h, keyName, post, say, short, unpack } from "./dom.js";
import { Input, keyOf } from "./input.js";
import { PictureBox } from "./picture.js";
import { Strip } from "./strip.js";

export async function open(main) {
  const home = await get("home");
  if (!home.recording) {
    main.append(h("h1", {}, "Record"), h("p", {}, "Nothing is being recorded. ", h("a", { href: "#home" }, "Begin a recording"), "."));
    return undefined;
  }
  const page = new RecordPage(main);
  return () => page.close();
}

class RecordPage {
  constructor(main) {
    this.facts = {};
    this.box = h("div", { class: "stage", id: "stage", tabIndex: 0, role: "application", "aria-label": "The environment. Keys play here; Tab leaves it." },
      h("span", { class: "hint" }, "click here to play"));
    this.picture = new PictureBox(this.box);
    this.strip = new Strip((step) => this.send({ do: "go", step }));
    this.title = h("h1", {}, "Record");
    this.banner = h("div", { class: "banner", hidden: true });
    this.buildTransport();
    this.status = h("dl", { class: "facts", id: "status", "aria-live": "off" });
    this.loops = h("div", { id: "loops" });
    this.takes = h("ul", { class: "plain", id: "takes" });
    this.keys = h("div", { class: "keys", id: "keys" });
    this.buildSave();
    main.append(this.title, this.banner, h("div", { class: "bench" },
      h("div", {}, this.box, this.transport, this.strip.node, this.loops,
        h("section", { class: "card", style: "margin-top:1rem" }, h("h2", {}, "Keys"), this.keys,
          h("p", { class: "quiet", style: "margin:.6rem 0 0" }, h("kbd", {}, "Enter"), " plays and pauses, ", h("kbd", {}, "Backspace"),
            " goes back one step and with ", h("kbd", {}, "Shift"), " ten, ", h("kbd", {}, "Home"), " and ", h("kbd", {}, "End"),
            " go to the ends, ", h("kbd", {}, "Esc"), " leaves the picture. A gamepad plays too."))),
      h("div", {}, h("section", { class: "card" }, h("h2", {}, "Now"), this.status),
        h("section", { class: "card" }, h("h2", {}, "Save"), this.save),
        h("section", { class: "card" }, h("h2", {}, "Takes"), this.takes))));
    this.connect();
  }

  close() {
    this.closed = true;
    this.input?.close();
    this.socket?.close();
  }

  connect() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    this.socket = new WebSocket(`${scheme}://${location.host}/recording`);
    this.socket.binaryType = "arraybuffer";
    this.socket.onmessage = (event) => this.told(unpack(event.data));
    this.socket.onclose = () => {
      if (this.closed) return;
      this.show({ role: "lost" });
      setTimeout(() => !this.closed && this.connect(), 1000);
    };
  }

  send(message) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  told({ facts, picture, thumbs }) {
    if (picture) this.picture.show(picture);
    if (facts.controls) this.begin(facts);
    this.show(facts);
    this.strip.add(thumbs);
    this.frames = (this.frames ?? 0) + 1;
    this.box.dataset.frames = this.frames;
  }

  begin({ task, controls }) {
    this.task = task;
    this.given = structuredClone(controls);
    this.controls = this.remembered(controls);
    this.title.textContent = `${task.env}, seed ${task.seed}`;
    if (!this.name.value) this.name.value = `${task.env.replace(/[^A-Za-z0-9.-]+/g, "-")}-${task.seed}.npz`;
    this.pace.value = controls.pace;
    this.input?.close();
    this.input = new Input(this.box, this.controls, {
      act: (action) => this.send({ do: "act", action }),
      hold: (action) => this.send({ do: "hold", action }),
      command: (key, shift) => this.command(key, shift),
      isLive: () => this.facts.pace !== null && this.facts.pace !== undefined,
    });
    this.showKeys();
    this.showButtons();
  }

  command(key, shift) {
    if (key === "Enter") this.toggle();
    else if (key === "Backspace") this.send({ do: "back", steps: shift ? 10 : 1 });
    else if (key === "Home") this.send({ do: "go", step: 0 });
    else if (key === "End") this.send({ do: "go", step: this.facts.length });
    else if (key === "Escape") this.box.blur();
    else return false;
    return true;
  }

  toggle() {
    if (this.facts.pace === null) this.send({ do: "play", pace: Number(this.pace.value) || 15 });
    else this.send({ do: "pause" });
  }

  buildTransport() {
    const button = (words, title, onclick) => h("button", { title, onclick: () => { onclick(); this.box.focus(); } }, words);
    this.play = button("Play", "Real time", () => this.toggle());
    this.play.id = "play";
    this.pace = h("input", { type: "number", min: 0.5, max: 120, step: 0.5, value: 15, id: "pace", "aria-label": "Steps a second", style: "width:5rem",
      onchange: () => { if (this.facts.pace) this.send({ do: "play", pace: Number(this.pace.value) }); } });
    this.pads = h("div", { class: "row tight", id: "pads" });
    this.transport = h("div", { class: "row", style: "margin-top:.75rem" },
      this.play, h("span", { class: "quiet" }, "at"), this.pace, h("span", { class: "quiet" }, "steps a second"),
      button("Back 1", "Backspace", () => this.send({ do: "back", steps: 1 })),
      button("Back 10", "Shift+Backspace", () => this.send({ do: "back", steps: 10 })),
      button("Begin again", "Keeps this take below", () => this.send({ do: "restart" })),
      button("End it here", "Forgets what comes after this step", () => this.send({ do: "trim" })),
      this.pads);
  }

  /** A button for every discrete action, for fingers. */
  showButtons() {
    const { kind, names } = this.controls;
    this.pads.replaceChildren();
    if (kind !== "discrete" || names.length > 8) return;
    names.forEach((name, action) => this.pads.append(h("button", { class: "small", onclick: () => {
      this.send({ do: "act", action });
      this.box.focus();
    } }, name)));
  }

  buildSave() {
    this.name = h("input", { id: "name", value: "", spellcheck: false });
    this.success = h("select", { id: "success" }, h("option", { value: "" }, "as the environment says"),
      h("option", { value: "true" }, "a success"), h("option", { value: "false" }, "no success"));
    this.replace = h("input", { type: "checkbox", id: "replace" });
    this.saveButton = h("button", { class: "main", id: "save" }, "Save");
    this.saved = h("div", { id: "saved" });
    this.save = h("form", { onsubmit: (event) => {
      event.preventDefault();
      this.saveButton.disabled = true;
      this.saved.replaceChildren(h("p", { class: "quiet" }, "Recording it straight through and checking it …"));
      const success = this.success.value === "" ? null : this.success.value === "true";
      this.send({ do: "save", name: this.name.value, success, replace: this.replace.checked });
    } },
    h("label", {}, "File", this.name), h("label", {}, "It is", this.success),
    h("label", { class: "check" }, this.replace, "replace a file of this name"),
    h("div", { class: "row" }, this.saveButton,
      h("button", { type: "button", onclick: (event) => busy(event.target, async () => {
        await post("record/end");
        location.hash = "#home";
      }) }, "End the recording")), this.saved);
  }

  show(facts) {
    const before = this.facts;
    this.facts = { ...before, ...facts };
    const now = this.facts;
    if (facts.message && facts.message !== before.message) say(facts.message);
    this.showSeat(now);
    if (facts.at === undefined) return;
    this.play.textContent = now.pace === null ? "Play" : "Pause";
    if (now.pace !== null && (before.pace ?? null) === null) this.input?.restart();
    const bands = (facts.timeline?.loops ?? now.timeline?.loops ?? []).filter(([, last]) => last <= now.length);
    const marks = facts.timeline?.marks ?? this.strip.marks.filter(([step]) => step <= now.length);
    if (!facts.timeline && now.at === now.length && now.reward !== (now.timeline?.usual ?? 0) && marks.length < 400) {
      if (!marks.some(([step]) => step === now.at)) marks.push([now.at, now.reward]);
    }
    this.strip.set({ at: now.at, length: now.length, marks, bands, stride: now.thumb_stride,
      right: now.at < now.length ? "an action here forgets what comes after" : "" });
    const rows = [["step", `${now.at} of ${now.length}`], ["reward", short(now.reward)], ["return", short(now.total)],
      ["episode", ending(now.ended || (now.at < now.length ? "gone back" : "goes on"), now.success)],
      ["last action", this.actionName(now.action)], ["restored by", this.task?.restorer ?? ""],
      ...Object.entries(this.task?.env_kwargs ?? {}).map(([name, value]) => [name, JSON.stringify(value)])];
    for (const words of now.words ?? []) rows.push(["says", words]);
    this.status.replaceChildren(...rows.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
    this.status.dataset.at = now.at;
    this.status.dataset.ended = now.ended;
    if (facts.timeline) this.showTimeline(now.timeline);
    this.showSaved(now.saved);
  }

  showSeat({ role, windows, free }) {
    const words = {
      lost: "The studio is not reached. What was played is on disk; trying again …",
      watches: free ? "The window that played was closed. You are watching." : "Another window plays this recording. You are watching.",
    }[role];
    this.banner.hidden = !words;
    const shown = `${role} ${free}`;
    if (words && this.banner.dataset.shown !== shown) {
      this.banner.replaceChildren(h("span", {}, words), role === "watches"
        ? h("button", { class: "main", id: "take-over", onclick: () => { this.send({ do: "take over" }); this.box.focus(); } }, "Take over") : "");
    }
    this.banner.dataset.shown = shown;
    this.title.title = windows > 1 ? `${windows} windows` : "";
  }

  actionName(action) {
    if (action === null || action === undefined) return "–";
    if (Array.isArray(action)) return action.flat(3).map((value) => value.toFixed(2)).join(", ");
    return this.controls?.names?.[action] ?? String(action);
  }

  showTimeline({ loops, takes }) {
    this.loops.replaceChildren(...(loops.length ? [h("p", { class: "quiet", style: "margin:.6rem 0 .3rem" }, "The same is seen at both ends:"),
      h("div", { class: "row tight" }, loops.map(([first, last]) => h("button", { class: "small", onclick: () => this.send({ do: "cut", first, last }) },
        `cut ${first} to ${last}`)))] : []));
    const line = (take, i) => h("li", {},
      h("span", {}, take.best ? h("b", { class: "gold", title: "the best" }, "★ ") : "", `${take.length} steps, return ${short(take.total)}, `, ending(take.ended, take.success)),
      h("span", { class: "row tight" },
        h("button", { class: "small", onclick: () => this.send({ do: "open", take: i }) }, "Open"),
        h("button", { class: "small", "aria-label": "Forget this take", onclick: () => this.send({ do: "drop", take: i }) }, "Forget")));
    this.takes.replaceChildren(...(takes.length ? takes.map(line) : [h("li", { class: "quiet" }, "Takes that ended, and those you keep, are listed here.")]),
      h("li", {}, h("button", { class: "small", onclick: () => this.send({ do: "keep" }) }, "Keep this one")));
  }

  showSaved(saved) {
    const key = JSON.stringify(saved) + (this.facts.message ?? "");
    if (key === this.savedKey) return;
    this.savedKey = key;
    this.saveButton.disabled = false;
    if (!saved) {
      this.saved.replaceChildren();
      return;
    }
    this.saved.replaceChildren(
      h("p", { class: saved.exact ? "good" : "bad" }, `${saved.name}: ${saved.length} steps, return ${short(saved.total)}`),
      h("pre", { class: "report" }, saved.report),
      h("div", { class: "row" }, h("a", { class: "button", href: `#look/${encodeURIComponent(saved.name)}` }, "Look at it"),
        h("a", { class: "button", href: `#watch/train:${encodeURIComponent(saved.name)}`, id: "train" }, "Train from here")));
  }

  keysName(kind) {
    return `keys ${this.task.env} ${kind}`;
  }

  remembered(controls) {
    const own = localStorage.getItem(this.keysName(controls.kind));
    if (!own) return controls;
    try {
      return controls.kind === "box"
        ? { ...controls, parts: controls.parts.map((part, i) => ({ ...part, keys: JSON.parse(own)[i] ?? part.keys })) }
        : { ...controls, bindings: JSON.parse(own) };
    } catch {
      return controls;
    }
  }

  remember() {
    const { kind, bindings, parts } = this.controls;
    localStorage.setItem(this.keysName(kind), JSON.stringify(kind === "box" ? parts.map((part) => part.keys) : bindings));
  }

  /** A line for every action with its keys; a key is changed by pressing it and then another. */
  showKeys() {
    const { kind, names, bindings, parts } = this.controls;
    const change = (keys, i) => (event) => {
      const button = event.currentTarget;
      button.textContent = "press a key …";
      button.addEventListener("keydown", (pressed) => {
        pressed.preventDefault();
        pressed.stopPropagation();
        if (!["Escape", "Tab", "Enter", "Backspace"].includes(pressed.key)) keys[i] = keyOf(pressed);
        this.remember();
        this.showKeys();
      }, { once: true });
    };
    const button = (keys, i) => h("button", { class: "small", title: "Change this key", onclick: change(keys, i) }, h("kbd", {}, keyName(keys[i])));
    const buttons = (keys) => keys.map((_, i) => button(keys, i));
    const together = (keys) => h("span", { class: "together" }, keys.flatMap((_, i) => [i ? "+" : "", button(keys, i)]));
    let lines;
    if (kind === "box") {
      lines = parts.map((part, i) => [`part ${i}: ${short(part.low)} to ${short(part.high)}`, buttons(part.keys)]);
      if (parts.length) lines.push(["or drag on the picture", []]);
    } else if (kind === "multi") {
      lines = bindings.map((binding) => [`part ${binding.part} = ${binding.value}`, together(binding.keys)]);
    } else {
      lines = names.map((name, action) => [name, bindings.filter((b) => b.action === action)
        .map((b) => together(b.keys))]);
    }
    const own = localStorage.getItem(this.keysName(kind)) !== null;
    this.keys.replaceChildren(...lines.map(([name, found]) => h("div", {}, h("span", {}, name), h("span", { class: "row tight" }, found))),
      ...(own ? [h("div", {}, h("button", { class: "small", id: "first-keys", onclick: () => {
        localStorage.removeItem(this.keysName(kind));
        this.controls = structuredClone(this.given);
        this.input.controls = this.controls;
        this.showKeys();
      } }, "Back to the first keys"))] : []));
  }
}
