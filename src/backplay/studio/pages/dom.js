// Small helpers: elements, requests, words, packed messages.

/** An element: h("button", {class: "main", onclick: go}, "Go"). */
export function h(name, props = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(props)) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key in node && key !== "list" && key !== "form") node[key] = value;
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(key, value);
  }
  if (props.class) node.className = props.class;
  node.append(...children.flat(9).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

let timer = 0;

/** Says something to the person, for a while. */
export function say(words) {
  const alert = document.getElementById("alert");
  alert.textContent = words;
  alert.hidden = !words;
  clearTimeout(timer);
  timer = setTimeout(() => { alert.hidden = true; }, 9000);
}

async function answer(response) {
  if (response.ok) return response;
  let words = response.statusText;
  try { words = (await response.json()).error ?? words; } catch { /* no JSON: the status will do */ }
  throw new Error(words);
}

/** Asks for data. */
export async function get(path, query = {}) {
  const response = await answer(await fetch(`/api/${path}?${new URLSearchParams(query)}`));
  return response.json();
}

/** Asks for a packed message. */
export async function getPacked(path, query = {}) {
  const response = await answer(await fetch(`/api/${path}?${new URLSearchParams(query)}`));
  return unpack(await response.arrayBuffer());
}

/** Asks for something to be done. */
export async function post(path, body = {}) {
  const response = await answer(await fetch(`/api/${path}`, {
    method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" },
  }));
  return response.json();
}

/** Facts, a picture and small pictures out of one message; pictures are {kind, blob}. */
export function unpack(buffer) {
  const length = new DataView(buffer).getUint32(0);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  let at = 4 + length;
  const next = (kind, size) => {
    const blob = new Blob([new Uint8Array(buffer, at, size)], { type: kind });
    at += size;
    return { kind, blob };
  };
  const picture = head.picture && next(...head.picture);
  const thumbs = head.thumbs.map(([step, kind, size]) => [step, next(kind, size)]);
  return { facts: head.facts, picture, thumbs };
}

/** A number, short. */
export function short(value) {
  if (value === null || value === undefined) return "–";
  if (Number.isInteger(value)) return value.toLocaleString("en");
  return Number(value.toPrecision(4)).toString();
}

const SIGNS = { ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", " ": "space" };

/** A key as people read it. */
export function keyName(key) {
  return SIGNS[key] ?? key;
}

/** How an episode ended, with what it counts for. */
export function ending(ended, success) {
  if (success === true) return h("span", { class: "good" }, "success");
  if (success === false) return h("span", { class: "bad" }, `${ended || "unfinished"}, no success`);
  return h("span", {}, ended || "unfinished");
}

/** Runs something that a button started; the button waits, and errors are said. */
export async function busy(button, work) {
  button.disabled = true;
  try {
    return await work();
  } catch (error) {
    say(error.message);
    return undefined;
  } finally {
    button.disabled = false;
  }
}
