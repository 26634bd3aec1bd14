// Keys, a gamepad, the mouse and buttons on the page become actions.

const RAMP = 0.25; // seconds from rest to the end of a continuous action
const DEAD = 0.15; // of a gamepad's stick
const PAD = { 0: " ", 12: "ArrowUp", 13: "ArrowDown", 14: "ArrowLeft", 15: "ArrowRight" };

/** The name of a key, the same with and without Shift or Caps Lock. */
export function keyOf(event) {
  return event.key.length === 1 ? event.key.toLowerCase() : event.key;
}

/** Listens on the stage; `act(action)` is one step, `hold(action)` what real time does. */
export class Input {
  constructor(stage, controls, { act, hold, command, isLive }) {
    Object.assign(this, { stage, controls, act, hold, command, isLive });
    this.keys = new Set();
    this.pad = new Set();
    this.mouse = null;
    this.values = controls.kind === "box" ? controls.parts.map((part) => part.rest) : [];
    this.sent = "";
    this.stop = new AbortController();
    const on = (target, name, listen) => target.addEventListener(name, listen, { signal: this.stop.signal });
    on(stage, "keydown", (event) => this.down(event));
    on(stage, "keyup", (event) => this.up(keyOf(event)));
    on(stage, "blur", () => { this.keys.clear(); this.mouse = null; this.changed(); });
    on(stage, "pointerdown", (event) => this.point(event, true));
    on(stage, "pointermove", (event) => this.point(event, false));
    on(stage, "pointerup", () => { this.mouse = null; this.changed(); });
    on(stage, "pointercancel", () => { this.mouse = null; this.changed(); });
    this.last = performance.now();
    const turn = (now) => {
      if (this.stop.signal.aborted) return;
      this.frame(now);
      requestAnimationFrame(turn);
    };
    requestAnimationFrame(turn);
  }

  close() {
    this.stop.abort();
  }

  /** Whether a key is part of an action. */
  plays(key) {
    const { kind, bindings, parts } = this.controls;
    return kind === "box" ? parts.some((part) => part.keys.includes(key))
      : bindings.some((binding) => binding.keys.includes(key));
  }

  down(event) {
    const key = keyOf(event);
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (this.command(key, event.shiftKey)) { event.preventDefault(); return; }
    if (!this.plays(key)) return;
    event.preventDefault();
    this.keys.add(key);
    if (this.isLive()) this.changed();
    else this.step();
  }

  up(key) {
    this.keys.delete(key);
    this.changed();
  }

  point(event, begins) {
    if (begins) this.stage.focus();
    if (this.controls.kind !== "box" || (!begins && this.mouse === null)) return;
    if (begins) this.stage.setPointerCapture(event.pointerId);
    const box = this.stage.getBoundingClientRect();
    const share = (value, size) => Math.max(-1, Math.min(1, (2 * value) / size - 1));
    this.mouse = [share(event.clientX - box.left, box.width), -share(event.clientY - box.top, box.height)];
    if (begins && !this.isLive()) this.step();
  }

  /** One step with what is pressed now; continuous parts go all the way. */
  step() {
    const action = this.controls.kind === "box" ? this.targets() : this.match();
    if (action !== null) this.act(action);
  }

  /** The discrete or switched action of the pressed keys; null if they are none. */
  match() {
    const held = new Set([...this.keys, ...this.pad]);
    const found = this.controls.bindings.filter((binding) => binding.keys.every((key) => held.has(key)));
    if (this.controls.kind === "multi") {
      const values = this.controls.sizes.map(() => 0);
      for (const { part, value } of found) values[part] = value;
      return found.length ? values : null;
    }
    found.sort((one, other) => other.keys.length - one.keys.length);
    return found.length ? found[0].action : null;
  }

  /** Where each part of a continuous action is driven. */
  targets() {
    const held = new Set([...this.keys, ...this.pad]);
    return this.controls.parts.map((part, i) => {
      const stick = this.axes?.[i] ?? 0;
      const pushed = this.mouse !== null && i < 2 ? this.mouse[i] : Math.abs(stick) > DEAD ? stick * (i % 2 ? -1 : 1) : 0;
      if (pushed) return pushed > 0 ? part.rest + pushed * (part.high - part.rest) : part.rest + pushed * (part.rest - part.low);
      const [less, more] = part.keys;
      if (held.has(less) === held.has(more)) return part.rest;
      return held.has(more) ? part.high : part.low;
    });
  }

  /** Discrete actions change at once; continuous ones in `frame`. */
  changed() {
    if (this.controls.kind === "box" || !this.isLive()) return;
    this.send(this.match());
  }

  /** Real time has begun: what is pressed counts from now on. */
  restart() {
    this.sent = "";
    this.changed();
  }

  send(action) {
    const text = JSON.stringify(action);
    if (text !== this.sent) {
      this.sent = text;
      this.hold(action);
    }
  }

  frame(now) {
    const seconds = Math.min(0.1, (now - this.last) / 1000);
    this.last = now;
    this.readPad();
    if (this.controls.kind !== "box" || !this.isLive()) return;
    const wanted = this.targets();
    this.values = this.values.map((value, i) => {
      const { low, high } = this.controls.parts[i];
      const most = ((high - low) * seconds) / RAMP;
      return this.mouse !== null && i < 2 ? wanted[i] : value + Math.max(-most, Math.min(most, wanted[i] - value));
    });
    this.send(this.values.map((value) => Number(value.toFixed(5))));
  }

  readPad() {
    const pad = [...(navigator.getGamepads?.() ?? [])].find((one) => one && one.connected);
    if (!pad) return;
    this.axes = pad.axes;
    const now = new Set();
    pad.buttons.forEach((button, i) => { if (button.pressed && PAD[i]) now.add(PAD[i]); });
    if (this.controls.kind !== "box") {
      const [x = 0, y = 0] = pad.axes;
      if (Math.abs(x) > 0.5) now.add(x > 0 ? "ArrowRight" : "ArrowLeft");
      if (Math.abs(y) > 0.5) now.add(y > 0 ? "ArrowDown" : "ArrowUp");
    }
    const fresh = [...now].some((key) => !this.pad.has(key));
    const same = !fresh && now.size === this.pad.size;
    this.pad = now;
    if (same) return;
    if (this.isLive()) this.changed();
    else if (fresh) this.step();
  }
}
