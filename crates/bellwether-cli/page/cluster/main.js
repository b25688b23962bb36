// The cluster as one of its members sees it, kept up to date. It says how old it is when the agent says nothing.

import { $, fill, h } from "../common.js";

/** How often the agent is asked for what it does not tell by itself. */
const TICK = 2000;
/** What is older than this is called old. */
const OLD = 6000;
/** So many changes are shown. */
const CHANGES_MAX = 200;
const NAMES_MAX = 500;

const page = { heard: 0, changes: [], status: undefined, members: [], sent: undefined, stream: undefined };

async function get(path) {
  const response = await fetch(path, { signal: AbortSignal.timeout(OLD) });
  if (!response.ok) throw new Error((await response.json().catch(() => ({}))).error ?? `the agent answers ${response.status}`);
  return response;
}

const json = async (path) => (await get(path)).json();

// What comes.

/** The stream of changes. A browser opens it again by itself, unless the agent refused it. */
function watch() {
  page.stream?.close();
  const stream = (page.stream = new EventSource("/v1/watch"));
  stream.addEventListener("status", (event) => {
    take(JSON.parse(event.data));
    json("/v1/history").then(({ changes }) => remember(changes), () => undefined);
  });
  stream.addEventListener("change", (event) => {
    remember([...page.changes, JSON.parse(event.data)]);
    look();
  });
}

/** Asks for what changes without a change of leader. */
async function look() {
  try {
    const [status, { members }] = await Promise.all([json("/v1/status"), json("/v1/members")]);
    page.members = members;
    take(status);
    if (status.exclusive) await names();
    await counters();
  } catch (error) {
    page.trouble = error.name === "TypeError" || error.name === "TimeoutError" ? "the agent does not answer" : error.message;
  }
  age();
}

function take(status) {
  Object.assign(page, { status, heard: Date.now(), trouble: undefined });
  if (page.stream?.readyState === EventSource.CLOSED) watch();
  show();
  age();
}

function remember(changes) {
  const known = new Map(changes.map((change) => [`${change.incarnation}.${change.no}`, change]));
  page.changes = [...known.values()].slice(-CHANGES_MAX);
  showChanges();
}

// What is shown.

/** Whether what is shown is still true is the first thing to know. */
function age() {
  const seconds = Math.round((Date.now() - page.heard) / 1000);
  const old = Date.now() - page.heard > OLD;
  document.body.classList.toggle("old", old);
  if (!page.heard) $("state").textContent = page.trouble ? `No answer yet: ${page.trouble}.` : "Asking …";
  else if (old) $("state").textContent = `This is ${seconds} s old: ${page.trouble ?? "nothing is heard"}. It is asked again and again.`;
  else $("state").textContent = `Live, as member ${page.status.node} sees it.`;
}

function show() {
  const { status } = page;
  $("title").textContent = `cluster ${status.cluster}`;
  document.title = `${status.leader === null ? "no leader" : `${status.leader} leads`} · ${status.cluster}`;
  $("who").textContent = status.leader === null ? "Nobody leads" : `★ Member ${status.leader}`;
  const facts = {
    [status.token === null ? "epoch" : "token"]: status.token ?? status.epoch ?? "none",
    since: time(status.since ?? ""),
    "valid for": status.valid_ms === null ? "" : `${status.valid_ms} ms, as this member is certain`,
    "this member": `${status.node}, ${status.standing}, up since ${time(status.up_since)}`,
    election: `${status.view.status}, names ${status.view.leader ?? "nobody"}`,
    algorithm: `${status.protocol}, ${status.mode}`,
    guarantee: status.guarantee,
    reached: status.reach ? `${status.reach.members} of ${status.reach.of} members, ${status.reach.needed} needed` : "",
    voters: status.exclusive ? `${status.exclusive.reachable} reachable, ${status.exclusive.needed} needed` : "",
    certificate: status.certificate ? `good until ${time(status.certificate.until)}` : "",
  };
  const shown = Object.entries(facts).filter(([, value]) => value !== "");
  $("facts").replaceChildren(...shown.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, String(value))]));
  const warnings = [
    status.barred && [status.barred.text, ...status.barred.refusals].join("; "),
    status.certificate?.warning,
    status.disk?.slow && "The disk of this member is slow.",
  ].filter(Boolean);
  $("warnings").replaceChildren(...warnings.map((text) => h("li", { class: "trouble" }, text)));
  showMembers();
}

function showMembers() {
  const { status, members } = page;
  $("seen-by").textContent = `As member ${status.node} sees them`;
  const row = (member) => {
    const link = member.is_self ? "this one" : [member.link, member.reason].filter(Boolean).join(": ");
    const heard = member.heard_us === null ? "" : ago(member.heard_us);
    const name = `${member.is_leader ? "★ " : ""}${member.id ?? "unknown"}`;
    const votes = member.voter === null ? "" : member.witness ? "yes, never leads" : member.voter ? "yes" : "no";
    const kind = member.is_self ? "" : member.link === "connected" ? "connected" : "away";
    return h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, member.address), h("td", { class: kind }, link), h("td", {}, heard), h("td", {}, votes));
  };
  $("members").replaceChildren(...members.map(row));
  ring(members.filter((member) => member.id !== null));
  const others = members.filter((member) => member.id !== null && !member.is_self).map(({ id }) => [String(id), `member ${id}`]);
  const chosen = $("to").value;
  if (others.length !== $("to").options.length) fill($("to"), others, others.some(([id]) => id === chosen) ? chosen : undefined);
}

function svg(name, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** Members in a circle. Lines are the links of this one: it knows no others. */
function ring(members) {
  const at = members.map((_, place) => {
    const angle = (2 * Math.PI * place) / members.length - Math.PI / 2;
    return [members.length > 1 ? 88 * Math.cos(angle) : 0, members.length > 1 ? 82 * Math.sin(angle) : 0];
  });
  const self = members.findIndex((member) => member.is_self);
  const links = members.flatMap((member, place) => {
    if (self < 0 || place === self) return [];
    const [[x1, y1], [x2, y2]] = [at[self], at[place]];
    return [svg("line", { x1, y1, x2, y2, class: member.link === "connected" ? "" : "away" })];
  });
  const nodes = members.map((member, place) => {
    const [x, y] = at[place];
    const kind = [member.is_leader && "leads", member.is_self && "self"].filter(Boolean).join(" ");
    const word = member.is_self ? page.status.standing : member.link;
    return svg(
      "g",
      { class: kind },
      svg("circle", { cx: x, cy: y, r: 17 }),
      svg("text", { x, y: y + 5 }, `${member.is_leader ? "★" : ""}${member.id}`),
      svg("text", { x, y: y < 0 ? y - 24 : y + 31, class: "small" }, word),
    );
  });
  $("ring").replaceChildren(...links, ...nodes);
}

function showChanges() {
  const row = (change) =>
    h(
      "tr",
      {},
      h("td", {}, time(change.at)),
      h("td", {}, change.leader === null ? "nobody" : `★ ${change.leader}`),
      h("td", {}, String(change.epoch)),
      h("td", {}, change.cause.text),
    );
  $("changes").replaceChildren(...page.changes.toReversed().map(row));
}

async function names() {
  $("names").hidden = false;
  const found = [];
  let next = "";
  do {
    const some = await json(`/v1/elections${next && `?after=${encodeURIComponent(next)}`}`);
    found.push(...some.elections);
    next = some.next ?? "";
  } while (next && found.length < NAMES_MAX);
  Object.assign(page, { names: found, more: Boolean(next) });
  showNames();
}

function showNames() {
  const wanted = $("wanted").value.toLowerCase();
  const fits = (page.names ?? []).filter(({ name, value }) => `${name} ${value}`.toLowerCase().includes(wanted));
  const row = (one) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, one.name),
      h("td", {}, one.holder ? `member ${one.holder.node}` : "nobody"),
      h("td", {}, String(one.token)),
      h("td", {}, String(one.waiting)),
      h("td", {}, one.value),
    );
  $("names-state").textContent = `${fits.length} of ${page.names?.length ?? 0}${page.more ? " that were asked for; there are more" : ""}`;
  $("elections").replaceChildren(...fits.map(row));
}

/** Sums of the agent's metrics, by name, and how fast messages go. */
async function counters() {
  const text = await (await get("/metrics")).text();
  const sums = new Map();
  for (const line of text.split("\n")) {
    const found = /^(bellwether_\w+_total)(?:\{[^}]*\})? (\d+)/.exec(line);
    if (found) sums.set(found[1], (sums.get(found[1]) ?? 0) + Number(found[2]));
  }
  const rows = [...sums].map(([name, value]) => h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, value.toLocaleString("en"))));
  $("counters").replaceChildren(...rows);
  const messages = [...sums].filter(([name]) => /frames_(sent|received)_total/.test(name)).reduce((sum, [, value]) => sum + value, 0);
  const now = performance.now();
  if (page.sent) {
    const rate = (messages - page.sent.messages) / ((now - page.sent.now) / 1000);
    $("rate").textContent = rate >= 0 ? `${rate.toFixed(1)} messages per second, sent and received` : "";
  }
  page.sent = { messages, now };
}

/** As people write it. */
const time = (at) => at.replace("T", " ").replace(/\.\d+Z$/, " UTC");

function ago(us) {
  const seconds = us / 1e6;
  return seconds < 2 ? "just now" : `${Math.round(seconds)} s ago`;
}

// What is asked for.

/** Asks first, and then does it with the token. */
function change(question, path, body) {
  $("question").textContent = question;
  $("ask").showModal();
  $("yes").onclick = async () => {
    $("ask").close();
    $("answer").textContent = "Asked …";
    try {
      const response = await fetch(path, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${$("token").value}` },
        body: JSON.stringify(body),
      });
      const answer = await response.json();
      $("answer").textContent = response.ok ? `Done. ${answer.leader === null ? "Nobody leads now." : `Member ${answer.leader} leads now.`}` : answer.error;
    } catch {
      $("answer").textContent = "The agent does not answer.";
    }
    look();
  };
}

$("no").addEventListener("click", () => $("ask").close());
$("wanted").addEventListener("input", showNames);
$("resign").addEventListener("click", () => change(`Shall member ${page.status?.node} give leadership back and stand aside?`, "/v1/resign", {}));
$("stand").addEventListener("click", () => change(`Shall member ${page.status?.node} stand again?`, "/v1/resign", { end: true }));
$("transfer").addEventListener("click", () => change(`Shall member ${page.status?.node} hand leadership over to member ${$("to").value}?`, "/v1/transfer", { to: Number($("to").value) }));

watch();
look();
setInterval(() => document.hidden || look(), TICK);
setInterval(age, 1000);
addEventListener("visibilitychange", () => document.hidden || look());
