// Helpers that create elements.

const kTextual = /^(aria|data)-/;  // attributes whose values are the texts "true" and "false"

/**
 * An element: `h('button', {class: 'small', onclick: f, 'aria-label': 'close'}, 'x', other)`. Attributes that are null, undefined
 * or false are left out; those that begin with "on" are listeners. Children are nodes or texts; null ones are left out.
 */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || (value === false && !kTextual.test(name))) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'value') element.value = value;
    else element.setAttribute(name, value === true && !kTextual.test(name) ? '' : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

/** A table of `rows` (arrays of texts or nodes) with `heads`; columns in `numbers` (indices) are right-aligned. */
export function table(heads, rows, { numbers = [], caption = null, onrow = null } = {}) {
  const kind = (index) => (numbers.includes(index) ? 'number' : null);
  return h('table', {},
    caption === null ? null : h('caption', {}, caption),
    h('thead', {}, h('tr', {}, heads.map((head, index) => h('th', { scope: 'col', class: kind(index) }, head)))),
    h('tbody', {}, rows.map((cells, number) => h('tr', onrow ? { class: 'chosen-by-click', onclick: () => onrow(number) } : {},
      cells.map((cell, index) => h('td', { class: kind(index) }, cell))))));
}

/** A list of names and values. Pairs whose value is null or "" are left out. */
export function facts(pairs) {
  return h('dl', { class: 'facts' }, pairs.filter(([, value]) => value !== null && value !== '')
    .flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]));
}

/** A button that looks like a link. */
export function link_button(text, onclick, attributes = {}) {
  return h('button', { type: 'button', class: 'link', onclick, ...attributes }, text);
}
