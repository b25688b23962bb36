// Elements, made of names and text: nothing that a file says is ever taken for HTML.

export const $ = (id) => document.getElementById(id);

/** An element with these attributes and children. Functions are listeners. */
export function h(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(key, value);
    else if (value !== undefined && value !== false) element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== undefined && child !== null));
  return element;
}

/** Options of a select, as pairs of a value and a text. */
export function fill(select, options, chosen) {
  select.replaceChildren(...options.map(([value, text]) => h("option", { value }, text)));
  if (chosen !== undefined) select.value = chosen;
}

/** A time in microseconds. */
export function clock(us) {
  return `${(us / 1e6).toLocaleString("en", { maximumFractionDigits: 6, useGrouping: false })} s`;
}
