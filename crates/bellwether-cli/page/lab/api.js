// Asks the laboratory that served this page. Everything that happens is computed there.

/** Why the laboratory does not do as asked; `line` if it is about a line of the scenario. */
export class Refused extends Error {
  constructor({ error, line, column }) {
    super(error);
    Object.assign(this, { line, column });
  }
}

async function ask(path, options) {
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new Refused({ error: "The laboratory does not answer. Is `bellwether lab` still running?" });
  }
  if (response.ok) return response;
  let why = { error: `The laboratory answers ${response.status}.` };
  try {
    why = await response.json();
  } catch {
    // The status has to do.
  }
  throw new Refused(why);
}

const json = async (path, options) => (await ask(path, options)).json();
const post = (path, body) =>
  json(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });

export const examples = () => json("/v1/lab/examples");
export const example = (place) => json(`/v1/lab/examples/${place}`);
export const tour = () => json("/v1/lab/tour");
export const protocols = () => json("/v1/lab/protocols");
export const play = (name, text) => post("/v1/lab/runs", { name, text });
export const traces = (files) => post("/v1/lab/traces", { files });
export const branch = (run, what) => post(`/v1/lab/runs/${run}/branch`, what);
export const variant = (text, variant) => post("/v1/lab/variant", { text, variant });
export const nodes = (run, us) => json(`/v1/lab/runs/${run}/nodes?t_us=${us}`);
export const film = async (run) => (await ask(`/v1/lab/runs/${run}/film`)).arrayBuffer();
export const search = (wanted) => post("/v1/lab/searches", wanted);
export const searching = (id) => json(`/v1/lab/searches/${id}`);
export const stop = (id) => json(`/v1/lab/searches/${id}`, { method: "DELETE" });
