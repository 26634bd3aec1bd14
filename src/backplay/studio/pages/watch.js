// Watch: run directories, live or later.

import { get, h } from "./dom.js";

export async function open(main) {
  const { runs } = await get("home");
  main.append(h("h1", {}, "Watch"), h("p", { class: "quiet" }, `${runs.length} runs in this folder.`));
}
