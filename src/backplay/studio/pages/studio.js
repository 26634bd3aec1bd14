// Which page is shown: the part of the address after #.

import { say } from "./dom.js";

const PAGES = { home: "./home.js", record: "./record.js", look: "./look.js", watch: "./watch.js" };

let leave = () => {};
let turn = 0;

async function show() {
  const mine = ++turn;
  const [name, ...rest] = decodeURIComponent(location.hash.slice(1) || "home").split("/");
  if (name === "main") return;
  const page = name in PAGES ? name : "home";
  const { open } = await import(PAGES[page]);
  if (mine !== turn) return;
  leave();
  leave = () => {};
  for (const link of document.querySelectorAll("nav a")) {
    if (link.hash === `#${page}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const main = document.getElementById("main");
  main.replaceChildren();
  main.dataset.page = page;
  say("");
  try {
    const closed = await open(main, rest.join("/"));
    if (mine === turn) leave = closed ?? (() => {});
    else closed?.();
  } catch (error) {
    main.append(Object.assign(document.createElement("p"), { className: "bad", textContent: error.message }));
  }
}

if (location.search) history.replaceState(null, "", `/${location.hash}`); // the token is in a cookie now
addEventListener("hashchange", show);
show();
