// Home: what to record, what there is, what was left.

import { busy, ending, get, h, post, say, short } from "./dom.js";

const IDEAS = ["FrozenLake-v1", "MountainCar-v0", "MountainCarContinuous-v0", "CartPole-v1", "LunarLander-v3",
  "MiniGrid-DoorKey-8x8-v0", "ALE/Freeway-v5", "ALE/MontezumaRevenge-v5", "HalfCheetah-v5", "Backplay/Maze-v0"];

export async function open(main) {
  const home = await get("home");
  main.append(h("h1", {}, "Record, mend, watch"),
    h("p", { class: "quiet" }, "Everything here is read from and written to ", h("code", {}, home.folder), "."));
  if (home.recording) main.append(running(home.recording));
  if (home.left.length) main.append(left(home.left));
  main.append(h("div", { class: "grid" }, begin(), pommerman()), demos(home.demos), runs(home.runs));
}

function running(recording) {
  return h("div", { class: "banner" },
    h("span", {}, `A recording of ${recording.env} is open, ${recording.steps} steps.`),
    h("a", { class: "button", href: "#record" }, "Go to it"));
}

function left(found) {
  const line = (one) => h("li", {},
    h("span", {}, `${one.env}, seed ${one.seed}: ${one.steps} steps`,
      one.takes ? ` and ${one.takes} takes` : "", `, begun ${new Date(one.began * 1000).toLocaleString()}`),
    h("span", { class: "row tight" },
      h("button", { class: "small main", onclick: (event) => start(event.target, { left: one.name }) }, "Resume"),
      h("button", { class: "small", onclick: (event) => busy(event.target, async () => {
        await post("left/remove", { left: one.name });
        event.target.closest("li").remove();
      }) }, "Forget")));
  return h("section", { class: "card", id: "left" }, h("h2", {}, "Not saved yet"),
    h("p", { class: "quiet" }, "These recordings were interrupted. Nothing of them is lost."),
    h("ul", { class: "plain" }, found.map(line)));
}

async function start(button, asked) {
  await busy(button, async () => {
    await post("record", asked);
    location.hash = "#record";
  });
}

function begin() {
  const env = h("input", { id: "env", name: "env", required: true, placeholder: "FrozenLake-v1", autocomplete: "off" });
  env.setAttribute("list", "ideas");
  const kwargs = h("input", { id: "kwargs", name: "kwargs", placeholder: "{\"is_slippery\": false}", spellcheck: false });
  const seed = h("input", { id: "seed", name: "seed", type: "number", min: 0, value: 0 });
  const button = h("button", { class: "main" }, "Record");
  const form = h("form", { onsubmit: (event) => {
    event.preventDefault();
    let asked = {};
    try {
      asked = kwargs.value.trim() ? JSON.parse(kwargs.value) : {};
    } catch {
      say("The arguments are no JSON object, such as {\"is_slippery\": false}.");
      return;
    }
    start(button, { env: env.value, env_kwargs: asked, seed: Number(seed.value) });
  } },
  h("label", {}, "Environment", env), h("datalist", { id: "ideas" }, IDEAS.map((id) => h("option", { value: id }))),
  h("label", {}, "Its arguments, if any", kwargs), h("label", {}, "Seed", seed), h("div", {}, button));
  return h("section", { class: "card" }, h("h2", {}, "Record a demonstration"), form);
}

function pommerman() {
  const opponents = h("select", { id: "opponents" }, ["fsmts", "simple", "random"].map((name) => h("option", {}, name)));
  const seat = h("select", { id: "seat" }, ["red, top left", "blue, bottom left", "green, bottom right", "yellow, top right"].map((words, number) => h("option", { value: number }, words)));
  const seed = h("input", { type: "number", min: 0, value: 0 });
  const button = h("button", { class: "main" }, "Play");
  return h("section", { class: "card" }, h("h2", {}, "Play Pommerman"),
    h("p", { class: "quiet" }, "A free for all against three agents. A game you win is a demonstration."),
    h("form", { onsubmit: (event) => {
      event.preventDefault();
      start(button, { env: "Backplay/PommermanFFA-v0", seed: Number(seed.value),
        env_kwargs: { opponents: opponents.value, seat: Number(seat.value) } });
    } },
    h("label", {}, "Against", opponents), h("label", {}, "Your seat", seat), h("label", {}, "Seed", seed),
    h("div", {}, button)));
}

function demos(found) {
  const line = (demo) => h("tr", {},
    h("td", {}, demo.error ? demo.name : h("a", { href: `#look/${encodeURIComponent(demo.name)}` }, demo.name)),
    demo.error ? h("td", { colSpan: 4, class: "bad" }, demo.error)
      : [h("td", {}, demo.env ?? "–"), h("td", { class: "number" }, short(demo.length)),
        h("td", { class: "number" }, short(demo.total)), h("td", {}, ending("not said", demo.success))]);
  const file = h("input", { type: "file", accept: ".npz", id: "upload", onchange: () => busy(file, async () => {
    const [chosen] = file.files;
    if (!chosen) return;
    const response = await fetch(`/api/upload?${new URLSearchParams({ name: chosen.name })}`, { method: "POST", body: chosen });
    const told = await response.json().catch(() => ({ error: response.statusText }));
    if (told.error) throw new Error(told.error);
    location.hash = `#look/${encodeURIComponent(told.name)}`;
  }) });
  return h("section", { class: "card" }, h("h2", {}, "Demonstrations"),
    found.length ? h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, h("th", {}, "file"), h("th", {}, "environment"),
      h("th", { class: "number" }, "steps"), h("th", { class: "number" }, "return"), h("th", {}, "success"))),
    h("tbody", {}, found.map(line)))) : h("p", { class: "quiet" }, "None in this folder yet."),
    h("label", {}, "Bring one in", file));
}

function runs(found) {
  const boxes = found.map((run) => h("input", { type: "checkbox", value: run.name, "aria-label": run.name }));
  const line = (run, i) => h("tr", {}, h("td", { style: "width:1.5rem" }, boxes[i]),
    h("td", {}, h("a", { href: `#watch/${encodeURIComponent(run.name)}` }, run.name)),
    h("td", { class: run.error ? "bad" : "" }, run.error ?? (run.finished ? "finished" : "unfinished")));
  const together = () => {
    const names = boxes.filter((box) => box.checked).map((box) => box.value);
    if (names.length) location.hash = `#watch/${encodeURIComponent(names.join("\n"))}`;
  };
  return h("section", { class: "card" }, h("h2", {}, "Runs"),
    found.length ? [h("div", { class: "scroll" }, h("table", {}, h("tbody", {}, found.map(line)))),
      h("div", { class: "row", style: "margin-top:.6rem" }, h("button", { onclick: together }, "Watch the chosen ones together"))]
      : h("p", { class: "quiet" }, "None in this folder yet. Record a demonstration and press “Train from here”."));
}
