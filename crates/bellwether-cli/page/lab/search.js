// A search for a broken promise. What it finds opens as a run.

import * as api from "./api.js";
import { $, fill } from "../common.js";

export async function prepare(open) {
  const form = $("search-form");
  const all = await api.protocols();
  fill(form.elements.protocol, all.map(({ name }) => [name, name]), "async-bully");
  let current;

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const { protocol, variant, nodes, runs, seed, agent } = form.elements;
    const wanted = { protocol: protocol.value, variant: variant.value, runs: Number(runs.value), seed: Number(seed.value), agent: agent.checked };
    if (nodes.value) wanted.nodes = Number(nodes.value);
    try {
      const began = await api.search(wanted);
      current = began.id;
      busy(true);
      await follow(current);
    } catch (error) {
      busy(false);
      $("search-state").textContent = error.message;
    }
  });

  $("search-stop").addEventListener("click", () => api.stop(current).catch((error) => ($("search-state").textContent = error.message)));

  async function follow(id) {
    for (;;) {
      // The laboratory takes its time with the answer.
      const seen = await api.searching(id);
      $("search-progress").value = seen.played / seen.runs;
      $("search-state").textContent = words(seen);
      if (seen.state === "over" || seen.state === "stopped") {
        busy(false);
        if (seen.found) await open(seen.found);
        return;
      }
    }
  }
}

function busy(is) {
  $("search-progress").hidden = $("search-stop").hidden = !is;
}

function words({ state, played, runs, events, found, judged }) {
  const sofar = `${played} of ${runs} runs, ${events} events`;
  if (state === "searching") return `Searching: ${sofar}.`;
  if (state === "shrinking") return `Found after ${sofar}. Making it small …`;
  if (found) return `${found.property} is broken, with seed ${found.seed}. The shortest run that was found is open.`;
  if (state === "stopped") return `Stopped after ${sofar}. Nothing was broken by then.`;
  return judged.length ? `Nothing is broken in ${sofar}. Judged: ${judged.join(", ")}.` : `Nothing was judged in ${sofar}.`;
}
