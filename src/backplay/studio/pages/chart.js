// Charts as SVG: lines over a number, several of them, drawn without any library.

const SPACE = "http://www.w3.org/2000/svg";
const WIDE = 480;
const HIGH = 220;
const EDGE = { left: 46, right: 12, top: 10, bottom: 30 };
export const COLOURS = ["#3b76b8", "#c8762b", "#3f8f5f", "#a24b8f", "#7a6bb5", "#a6862b", "#4d9aa8", "#b5515b"];

/** An SVG element. */
export function s(name, props = {}, ...children) {
  const node = document.createElementNS(SPACE, name);
  for (const [key, value] of Object.entries(props)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

/** Round numbers between two values. */
export function ticks(low, high, count = 5) {
  const raw = (high - low) / count || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const unit = [1, 2, 5, 10].find((step) => step * power >= raw) * power;
  const found = [];
  for (let at = Math.ceil(low / unit) * unit; at <= high + unit * 1e-9; at += unit) found.push(at);
  return found;
}

/** A number on an axis. */
export function brief(value) {
  const size = Math.abs(value);
  if (size >= 1e6) return `${Number((value / 1e6).toPrecision(3))}M`;
  if (size >= 1e3) return `${Number((value / 1e3).toPrecision(3))}k`;
  return String(Number(value.toPrecision(3)));
}

/** Where values lie in a picture, with axes drawn. */
export function frame({ x, y, title, under }) {
  const svg = s("svg", { class: "chart", viewBox: `0 0 ${WIDE} ${HIGH}`, role: "img", "aria-label": title });
  const right = WIDE - EDGE.right;
  const bottom = HIGH - EDGE.bottom;
  const px = (value) => EDGE.left + ((value - x[0]) / (x[1] - x[0] || 1)) * (right - EDGE.left);
  const py = (value) => bottom - ((value - y[0]) / (y[1] - y[0] || 1)) * (bottom - EDGE.top);
  for (const value of ticks(...y, 4)) {
    svg.append(s("line", { class: "axis", x1: EDGE.left, x2: right, y1: py(value), y2: py(value) }),
      s("text", { x: EDGE.left - 6, y: py(value) + 4, "text-anchor": "end" }, brief(value)));
  }
  for (const value of ticks(...x, 5)) {
    svg.append(s("text", { x: px(value), y: bottom + 16, "text-anchor": "middle" }, brief(value)));
  }
  svg.append(s("text", { x: right, y: HIGH - 2, "text-anchor": "end" }, under));
  return { svg, px, py, right, bottom };
}

/** A figure of lines: [{name, x, y, colour, shown}]; values that are null are left out. */
export function lines(title, under, series, { low, high } = {}) {
  const all = series.flatMap((one) => one.y.filter((value) => value !== null));
  const xs = series.flatMap((one) => one.x);
  const y = [low ?? least(all), high ?? most(all)];
  if (y[0] === y[1]) { y[0] -= 0.5; y[1] += 0.5; }
  const { svg, px, py } = frame({ x: [least(xs), most(xs)], y, title, under });
  series.forEach((one, i) => {
    const points = one.x.map((value, at) => (one.y[at] === null ? null : `${px(value).toFixed(1)},${py(one.y[at]).toFixed(1)}`)).filter(Boolean);
    const colour = one.colour ?? COLOURS[i % COLOURS.length];
    svg.append(s("polyline", { points: points.join(" "), fill: "none", stroke: colour, "stroke-width": 1.8, "stroke-linejoin": "round" }));
    if (points.length === 1) svg.append(s("circle", { cx: points[0].split(",")[0], cy: points[0].split(",")[1], r: 3, fill: colour }));
  });
  return figure(title, svg);
}

/** A figure with its caption. */
export function figure(title, ...parts) {
  const node = document.createElement("figure");
  const caption = document.createElement("figcaption");
  caption.textContent = title;
  node.append(caption, ...parts);
  return node;
}

function least(values) {
  return values.reduce((a, b) => Math.min(a, b), values.length ? Infinity : 0);
}

function most(values) {
  return values.reduce((a, b) => Math.max(a, b), values.length ? -Infinity : 1);
}
