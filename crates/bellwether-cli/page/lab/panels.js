// What is beside the diagram: how all is at the cursor, and the same as a table.

import { $, clock, fill, h } from "../common.js";
import { isNone } from "./film.js";

/** So many events stand in the table, around the cursor. */
const ROWS = 60;
/** So many messages under way are listed. */
const LISTED = 40;

/** The nodes after the event, of one run or of two. */
export function nodes(runs, us, frame) {
  // Of two events at one instant, only the run that is stepped through is between them.
  const at = runs.map((run, place) => (place === 0 ? frame : run.film.frameAt(us)));
  const names = runs[0].about.nodes;
  const heads = runs.length > 1 ? runs.map((run) => `run ${run.label.split(":")[0]}`) : ["state"];
  const rows = names.map((name, node) => {
    const words = runs.map(({ film }, place) => film.wordsOf(film.poseAt(node + 1, at[place])));
    const differ = words.length > 1 && words[0] !== words[1];
    return h("tr", {}, h("th", { scope: "row" }, String(name)), ...words.map((one) => h("td", {}, differ ? h("strong", {}, one) : one)));
  });
  const cuts = runs[0].film.cuts(frame);
  const table = h(
    "table",
    {},
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "node"), ...heads.map((head) => h("th", { scope: "col" }, head)))),
    h("tbody", {}, ...rows),
  );
  $("nodes").replaceChildren(table, h("p", { class: "quiet" }, cuts.length ? `cut: ${cuts.join(", ")}` : "all links are whole"));
}

/** Messages under way, each with what can be done to it. */
export function underWay(run, frame, act) {
  const trips = run.film.underWay(frame);
  $("under-way-count").textContent = trips.length ? `(${trips.length})` : "";
  const names = run.about.nodes;
  const item = (trip) => {
    const words = run.film.message(trip, names);
    const button = (what) =>
      h("button", { type: "button", "aria-label": `${what} ${words}`, click: () => act(what, trip) }, what);
    const buttons = run.recorded ? [] : ["drop", "delay", "duplicate"].map(button);
    return h("li", {}, h("span", {}, words), ...buttons);
  };
  const items = trips.slice(0, LISTED).map(item);
  if (trips.length > LISTED) items.push(h("li", {}, `and ${trips.length - LISTED} more`));
  if (!items.length) items.push(h("li", {}, "nothing"));
  $("under-way").replaceChildren(...items);
}

/** Each promise, and whether it holds so far. */
export function promises(run, us) {
  const item = (promise) => {
    const broken = promise.broken && promise.broken.at_us <= us;
    const open = promise.holds === null;
    const words = broken ? "broken" : open ? "nothing to judge in this run" : "holds so far";
    const how = broken ? h("p", {}, `From ${clock(promise.broken.at_us)}: ${promise.broken.what}.`) : null;
    return h(
      "li",
      { class: broken ? "breaks" : open ? "open" : "", title: promise.judged },
      h("strong", {}, promise.name),
      `${words}. `,
      h("q", {}, promise.promise),
      h("span", { class: "quiet" }, ` ${promise.origin}`),
      how,
    );
  };
  const rest = run.about.not_judged.map((promise) =>
    h("li", { class: "open" }, h("strong", {}, promise.name), `not promised here: it needs ${promise.why}. `, h("q", {}, promise.promise)),
  );
  $("promises").replaceChildren(...run.about.promises.map(item), ...rest);
  const met = (one) =>
    h("li", {}, `${one.what}: ${one.met ? "as the file expects" : one.detail}`);
  const expected = run.about.expectations;
  $("expectations").replaceChildren(
    ...(expected.length ? [h("h3", {}, "At the end, the file expects"), h("ul", {}, ...expected.map(met))] : []),
  );
}

/** Messages by kind so far, and what the paper says of them. */
export function counts(run, frame) {
  const { sent, lost } = run.film.counts(frame);
  const rows = [...sent].sort(([, a], [, b]) => b - a).map(([kind, number]) =>
    h("tr", {}, h("th", { scope: "row" }, kind), h("td", {}, String(number)), h("td", {}, String(lost.get(kind) ?? 0))),
  );
  const total = (counted) => [...counted.values()].reduce((sum, number) => sum + number, 0);
  rows.push(h("tr", {}, h("th", { scope: "row" }, "all"), h("td", {}, String(total(sent))), h("td", {}, String(total(lost)))));
  const heads = ["kind", "sent", "lost"].map((head) => h("th", { scope: "col" }, head));
  $("counts").replaceChildren(
    h("p", { class: "quiet" }, `It costs: ${run.about.cost}`),
    h("table", {}, h("thead", {}, h("tr", {}, ...heads)), h("tbody", {}, ...rows)),
  );
}

/** The events around the cursor. */
export function table(run, frame) {
  const { film } = run;
  const from = Math.max(0, Math.min(frame - ROWS / 2, film.length - ROWS));
  const to = Math.min(film.length, from + ROWS);
  const rows = [];
  for (let at = from; at < to; at++) {
    const current = at === frame ? "true" : undefined;
    const { node, what } = film.frame;
    const cells = [String(at + 1), clock(film.frame.at[at]), String(run.about.nodes[node[at] - 1]), film.names[what[at]], film.tell(at, run.about.nodes)];
    rows.push(h("tr", { "aria-current": current }, ...cells.map((cell) => h("td", {}, cell))));
  }
  const body = $("table").tBodies[0];
  body.replaceChildren(...rows);
  $("table").caption.textContent = `Events ${from + 1} to ${to} of ${film.length}. The cursor is at ${frame + 1}.`;
}

/** Each node as it sees itself. */
export function inside(looks, names) {
  const one = ({ node, wakes_us, inside }) =>
    h(
      "details",
      {},
      h("summary", {}, `node ${names[node - 1]}: ${wakes_us === null ? "no deadline" : `next deadline ${clock(wakes_us)}`}`),
      h("pre", { tabindex: "0" }, inside ?? "down"),
    );
  $("inside").lastElementChild.replaceChildren(...looks.map(one));
}

/** The nodes that can be broken. */
export function choices(run) {
  const form = $("break");
  const options = run.about.nodes.map((name, at) => [String(at + 1), `node ${name}`]);
  for (const name of ["node", "from", "to"]) {
    const kept = form.elements[name].value;
    const usual = name === "to" ? options[1]?.[0] : options[0][0];
    fill(form.elements[name], options, options.some(([value]) => value === kept) ? kept : usual);
  }
  for (const element of form.elements) element.disabled = run.recorded;
  $("break-note").textContent = run.recorded
    ? "A recorded run cannot be played again."
    : "The run branches right after the instant of the cursor, with the same seed and the same past.";
}

export const said = (film, frame) => !isNone(film.frame.words[frame]);
