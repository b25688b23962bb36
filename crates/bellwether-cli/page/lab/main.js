// The laboratory: a scenario, the runs that were made of it, and one moment that all of the page shows.

import * as api from "./api.js";
import { $, clock, fill } from "../common.js";
import { Film, below } from "./film.js";
import { STATES } from "./diagram.js";
import { Pane } from "./view.js";
import * as panels from "./panels.js";
import * as share from "./share.js";
import * as search from "./search.js";
import * as tour from "./tour.js";

/** How long the cursor must rest before what takes work is shown. */
const REST = 150;
/** A file that is longer is not sent. */
const FILE_MAX = 60 * 1024 * 1024;
/** So many runs are kept on the page. */
const RUNS_MAX = 30;

/** `runs` by number; `shown` is the one that the panels are about, `beside` another or nothing. */
const page = { runs: [], shown: undefined, beside: undefined, frame: 0, panes: [], playing: undefined, name: "scenario" };

class Run {
  constructor(about, film, label) {
    Object.assign(this, { about, film, label, recorded: about.text === undefined });
  }

  get broken() {
    return this.about.promises.filter((promise) => promise.broken);
  }

  sentence(frame) {
    const { film } = this;
    if (!film.length) return "Nothing happens in this run.";
    const words = film.tell(frame, this.about.nodes);
    const what = film.names[film.frame.what[frame]];
    const node = this.about.nodes[film.frame.node[frame] - 1];
    return `Event ${frame + 1} of ${film.length}, at ${clock(film.frame.at[frame])}: node ${node}, ${what}${words ? `: ${words}` : ""}`;
  }
}

// What is played.

async function work(words, doing) {
  $("state").textContent = words;
  try {
    const done = await doing();
    $("state").textContent = "";
    return done;
  } catch (error) {
    $("state").textContent = error.message;
    return undefined;
  }
}

async function admit(about, label) {
  const run = new Run(about, new Film(await api.film(about.id)), label);
  page.runs.push(run);
  if (page.runs.length > RUNS_MAX) page.runs.shift();
  return run;
}

/** Plays what is in the editor. A mistake is shown at its line, and the last good run stays. */
async function play(label) {
  const text = $("editor").value;
  mistake(undefined);
  return work("Running …", async () => {
    try {
      const about = await api.play(`${page.name}.toml`, text);
      return await admit(about, label ?? `${page.runs.length + 1}: ${about.name}`);
    } catch (error) {
      mistake(error);
      throw new Error("It was not run: see the scenario.");
    }
  });
}

function mistake(error) {
  $("mistake").hidden = !error;
  $("mistake").textContent = error ? `${error.line ? `Line ${error.line}, column ${error.column}: ` : ""}${error.message}` : "";
  $("editor").setAttribute("aria-invalid", error ? "true" : "false");
  page.wrong = error?.line;
  number();
}

/** The numbers of the lines, beside the editor. */
function number() {
  const lines = $("editor").value.split("\n").length;
  const parts = [];
  for (let line = 1; line <= lines; line++) {
    if (line === page.wrong) {
      const mark = document.createElement("span");
      mark.className = "wrong";
      mark.textContent = String(line);
      parts.push(mark, "\n");
    } else parts.push(`${line}\n`);
  }
  $("lines").replaceChildren(...parts);
  $("lines").scrollTop = $("editor").scrollTop;
}

function write(text) {
  $("editor").value = text;
  $("editor").scrollTop = 0;
  mistake(undefined);
}

// What is shown.

function show(run, beside, us = 0) {
  Object.assign(page, { shown: run, beside });
  const runs = [run, beside].filter(Boolean);
  page.panes = runs.map((one) => new Pane(one, { point: (frame) => go(page.shown.film.frameAt(one.film.frame.at[frame]), one === run ? frame : undefined), key }));
  $("panes").replaceChildren(...page.panes.map((pane) => pane.element));
  for (const pane of page.panes) {
    pane.diagram.toScale = $("scale").checked;
    pane.diagram.steady = $("steady").checked;
    pane.start();
  }
  const options = page.runs.map((one, at) => [String(at), [one.label, ...one.broken.map((promise) => `✗ ${promise.name}`)].join(" ")]);
  fill($("runs"), options, String(page.runs.indexOf(run)));
  fill($("beside"), [["", "nothing"], ...options], beside ? String(page.runs.indexOf(beside)) : "");
  $("scrub").max = String(Math.max(0, run.film.length - 1));
  $("broken").hidden = !run.broken.length;
  panels.choices(run);
  go(Math.max(0, run.film.frameAt(us)));
}

/** Puts the cursor on an event of the run that is shown, and on the same moment of the other. */
function go(frame, exact) {
  const { film } = page.shown;
  page.frame = Math.max(0, Math.min(exact ?? frame, film.length - 1));
  const us = film.timeOf(page.frame);
  const [first, second] = page.panes;
  first.at(page.frame);
  second?.at(page.beside.film.frameAt(us), first.diagram.xOf(page.frame));
  for (const pane of page.panes) pane.judge(us);
  $("scrub").value = String(page.frame);
  $("scrub").setAttribute("aria-valuetext", `event ${page.frame + 1}, ${clock(us)}`);
  $("now").textContent = page.shown.sentence(page.frame);
  panels.nodes([page.shown, page.beside].filter(Boolean), us, page.frame);
  clearTimeout(page.resting);
  page.resting = setTimeout(rest, REST);
}

/** What takes more work, once the cursor rests. */
function rest() {
  const run = page.shown;
  const us = run.film.timeOf(page.frame);
  panels.underWay(run, page.frame, breakMessage);
  panels.promises(run, us);
  panels.counts(run, page.frame);
  if ($("table-details").open) panels.table(run, page.frame);
  if ($("inside").open && !run.recorded) {
    api.nodes(run.about.id, Math.round(us)).then(
      (looks) => run === page.shown && panels.inside(looks, run.about.nodes),
      (error) => ($("inside").lastElementChild.textContent = error.message),
    );
  } else if (run.recorded) $("inside").lastElementChild.textContent = "Nobody saw into the nodes of a recorded run.";
}

const step = (by) => go(page.frame + by);

function change(by) {
  const { changes } = page.shown.film;
  const at = below(changes, page.frame);
  const next = by > 0 ? (changes[at] === page.frame ? at + 1 : at) : at - 1;
  if (changes[next] !== undefined) go(changes[next]);
}

function broken() {
  const times = page.shown.broken.map((promise) => promise.broken.at_us);
  if (times.length) go(page.shown.film.frameFrom(Math.min(...times)));
}

function zoom(by) {
  for (const { diagram } of page.panes) {
    if (by) diagram.zoomBy(by);
    else diagram.fit();
    diagram.draw();
  }
}

function toggle() {
  const playing = page.playing === undefined;
  $("play").setAttribute("aria-pressed", String(playing));
  clearInterval(page.playing);
  page.playing = playing ? setInterval(() => (page.frame + 1 < page.shown.film.length ? step(1) : toggle()), 120) : undefined;
}

/** Keys of the diagram. */
function key(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const doing = {
    ArrowRight: () => (event.shiftKey ? change(1) : step(1)),
    ArrowLeft: () => (event.shiftKey ? change(-1) : step(-1)),
    PageDown: () => step(50),
    PageUp: () => step(-50),
    Home: () => go(0),
    End: () => go(page.shown.film.length - 1),
    "+": () => zoom(1.5),
    "=": () => zoom(1.5),
    "-": () => zoom(1 / 1.5),
    0: () => zoom(),
    b: broken,
    " ": toggle,
  }[event.key];
  if (!doing) return;
  event.preventDefault();
  doing();
}

// What is broken.

/** The same run with one thing more in it, beside the one that it branches from. */
async function branch(what) {
  const from = page.shown;
  const us = from.film.timeOf(page.frame);
  const made = await work("Branching …", () => api.branch(from.about.id, what));
  if (!made) return;
  write(made.text);
  const run = await play(`${page.runs.length + 1}: ${made.words}`);
  if (run) show(run, from, us);
}

function breakMessage(what, trip) {
  const by = Math.round(Number($("delay").value) * 1000);
  branch(what === "delay" ? { what, trip, by_us: by } : { what, trip });
}

function breakNode(event) {
  event.preventDefault();
  const what = event.submitter.value;
  const { node, from, to } = event.target.elements;
  const [frame, pair] = [page.frame, { from: Number(from.value), to: Number(to.value) }];
  if (what === "heal") branch({ what, frame });
  else if (["cut", "cut_one_way", "mend"].includes(what)) branch({ what, frame, ...pair });
  else branch({ what, frame, node: Number(node.value) });
}

/** The same schedule with the other variant, in step. */
async function other() {
  const mine = (await play()) ?? undefined;
  if (!mine) return;
  const variant = mine.about.variant === "printed" ? "repaired" : "printed";
  const made = await work("Running …", () => api.variant($("editor").value, variant));
  if (!made) return;
  const about = await work("Running …", () => api.play(`${page.name}.toml`, made.text));
  if (!about) return show(mine);
  show(mine, await admit(about, `${page.runs.length + 1}: ${variant}`));
}

// What is opened.

async function open(text, name) {
  page.name = name;
  write(text);
  const run = await play();
  if (run) show(run);
}

/** Shows another scenario beside the run that is shown. */
async function openBeside(text) {
  const from = page.shown;
  write(text);
  const run = await play(`${page.runs.length + 1}: as the lesson asks`);
  if (run) show(run, from);
}

async function choose() {
  const chosen = await work("Opening …", () => api.example(Number($("example").value)));
  $("shows").textContent = page.examples[Number($("example").value)]?.shows ?? "";
  if (chosen) await open(chosen.text, chosen.name.replace(/^.*\//, "").replace(/\.toml$/, ""));
}

async function openFiles() {
  const files = [...$("open").files];
  $("open").value = "";
  if (!files.length) return;
  const size = files.reduce((sum, file) => sum + file.size, 0);
  if (size > FILE_MAX) {
    $("state").textContent = `These files have ${Math.round(size / 1048576)} MiB, expected at most ${FILE_MAX / 1048576}.`;
    return;
  }
  if (files.every((file) => file.name.endsWith(".toml"))) return open(await files[0].text(), files[0].name.replace(/\.toml$/, ""));
  await work("Reading traces …", async () => {
    const texts = await Promise.all(files.map(async (file) => ({ name: file.name, text: await file.text() })));
    const about = await api.traces(texts);
    show(await admit(about, `${page.runs.length + 1}: ${about.name}`));
  });
}

async function copy() {
  await work("", async () => {
    const link = await share.link($("editor").value);
    history.replaceState(null, "", link);
    await navigator.clipboard.writeText(link).catch(() => undefined);
  });
  $("state").textContent ||= "The link is in the address, and copied.";
}

function legend() {
  const key = Object.entries(STATES).map(([state, [colour, width, dashes]]) => {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
    const set = { x1: 0, x2: 26, y1: 6, y2: 6, stroke: `var(${colour})`, "stroke-width": width, "stroke-dasharray": dashes.join(" ") };
    for (const [name, value] of Object.entries(set)) line.setAttribute(name, value);
    svg.setAttribute("aria-hidden", "true");
    svg.append(line);
    const item = document.createElement("li");
    item.append(svg, state);
    return item;
  });
  $("legend").replaceChildren(...key);
}

function listen() {
  const on = (id, event, doing) => $(id).addEventListener(event, doing);
  const run = async () => {
    const played = await play();
    if (played) show(played);
  };
  on("run", "click", run);
  on("editor", "keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) run();
  });
  on("editor", "input", number);
  on("editor", "scroll", () => ($("lines").scrollTop = $("editor").scrollTop));
  on("other", "click", other);
  on("save", "click", () => share.save(`${page.name}.toml`, $("editor").value));
  on("share", "click", copy);
  on("open", "change", openFiles);
  on("example", "change", choose);
  on("runs", "change", () => {
    const chosen = page.runs[Number($("runs").value)];
    if (!chosen.recorded) write(chosen.about.text);
    show(chosen, page.beside === chosen ? undefined : page.beside, page.shown.film.timeOf(page.frame));
  });
  on("beside", "change", () => {
    const chosen = $("beside").value === "" ? undefined : page.runs[Number($("beside").value)];
    show(page.shown, chosen, page.shown.film.timeOf(page.frame));
  });
  on("scrub", "input", () => go(Number($("scrub").value)));
  on("first", "click", () => go(0));
  on("back", "click", () => step(-1));
  on("forth", "click", () => step(1));
  on("change", "click", () => change(1));
  on("broken", "click", broken);
  on("play", "click", toggle);
  on("wider", "click", () => zoom(1.5));
  on("narrower", "click", () => zoom(1 / 1.5));
  on("fit", "click", () => zoom());
  for (const id of ["scale", "steady"]) on(id, "change", () => show(page.shown, page.beside, page.shown.film.timeOf(page.frame)));
  on("break", "submit", breakNode);
  on("table-details", "toggle", rest);
  on("inside", "toggle", rest);
  addEventListener("resize", () => page.panes.forEach((pane) => pane.diagram.draw()));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => page.panes.forEach((pane) => pane.diagram.draw()));
}

async function start() {
  legend();
  page.examples = await api.examples();
  fill($("example"), page.examples.map(({ name }, at) => [String(at), name]));
  listen();
  search.prepare((found) => open(found.text, `found-${found.property.toLowerCase()}`)).catch(() => undefined);
  tour.prepare({ open, beside: openBeside }).catch(() => undefined);
  let trouble;
  const text = await share.linked().catch((error) => void (trouble = error.message));
  if (text === undefined) await choose();
  else {
    page.name = "linked";
    $("shows").textContent = "From a link.";
    write(text);
    const run = await play();
    // Something is to be seen while the mistake is mended.
    if (run) show(run);
    else trouble = "The scenario in the link has a mistake: see the editor.";
  }
  if (trouble) $("state").textContent = trouble;
}

start().catch((error) => ($("state").textContent = error.message));
