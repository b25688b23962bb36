// A scenario in a link, and in a file. What follows # in an address stays in the browser.

/** A scenario that is longer is for a file. */
const TEXT_MAX = 64 * 1024;
const PREFIX = "#scenario=";

export async function link(text) {
  if (text.length > TEXT_MAX) throw new Error("This scenario is too long for a link: save it as a file.");
  const packed = await through(new TextEncoder().encode(text), new CompressionStream("deflate-raw"));
  const letters = btoa(String.fromCharCode(...packed)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  return `${location.origin}${location.pathname}${PREFIX}${letters}`;
}

/** The scenario in the address; nothing, if there is none. */
export async function linked() {
  if (!location.hash) return undefined;
  const broken = new Error("The link is broken: there is no scenario in it. Here is an example instead.");
  if (!location.hash.startsWith(PREFIX)) throw broken;
  try {
    const letters = location.hash.slice(PREFIX.length).replaceAll("-", "+").replaceAll("_", "/");
    const packed = Uint8Array.from(atob(letters), (letter) => letter.charCodeAt(0));
    const bytes = await through(packed, new DecompressionStream("deflate-raw"));
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw broken;
  }
}

/** What comes out of a stream, as long as it is not too much: a short link may hold a very long text. */
async function through(bytes, stream) {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  const chunks = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > TEXT_MAX) throw new Error("too long");
    chunks.push(value);
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

export function save(name, text) {
  const url = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  const anchor = document.createElement("a");
  Object.assign(anchor, { href: url, download: name });
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
