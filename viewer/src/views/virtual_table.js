// A table of many rows, of which only the visible ones are in the document. A click on a head sorts; arrow keys and Enter select.
import { h } from './dom.js';

const kRowHeight = 24;
const kHeadHeight = 40;  // two lines: a label may be wider than its values
const kTallest = 12e6;  // pixels that a browser can scroll; beyond, a pixel of the scrollbar represents several
const kGap = 6;         // between columns, as in the style sheet
const kBeyond = 4;      // rows that are kept above and below the visible ones

/**
 * @typedef {object} Column
 * @property {string} id @property {string} label @property {number} width in CSS pixels
 * @property {boolean} [number] right-aligned
 * @property {(row: number) => string} text @property {(row: number) => string} [title] of the tooltip
 * @property {(row: number) => number} key to sort by
 * @property {string[]} [widest] texts that must fit into its cells: the column is widened for them
 */

// Width of a cell's text; that of a selected row is bold.
function text_width(text, bold) {
  const context = document.createElement('canvas').getContext('2d');
  context.font = `${bold ? '600 ' : ''}13px system-ui, sans-serif`;
  return Math.ceil(context.measureText(text).width) + 2;
}

function width_of({ width, widest = [], number = false }) {
  return widest.reduce((most, text) => Math.max(most, text_width(text, !number)), width);
}

export class VirtualTable {
  #columns;
  #choose;
  #rows = new Int32Array(0);
  #sorted = new Int32Array(0);
  #sorting = { column: null, down: false };
  #active = -1;
  #head;
  #spacer = h('div', { class: 'rows-spacer' });
  #body;
  #chosen = -1;

  /** @param {{label: string, columns: Column[], choose: (row: number) => void}} options */
  constructor({ label, columns, choose }) {
    columns = columns.map((column) => ({ ...column, width: width_of(column) }));
    this.#columns = columns;
    this.#choose = choose;
    const template = columns.map((column) => (column.grow ? `minmax(${column.width}px, 1fr)` : `${column.width}px`)).join(' ');
    this.#head = h('div', { class: 'rows-head', role: 'row', style: `grid-template-columns:${template}` }, columns.map((column) => h(
      'div', { role: 'columnheader', 'aria-sort': 'none', 'data-column': column.id },
      h('button', { type: 'button', class: column.number ? 'number' : null, onclick: () => this.sort_by(column.id) }, column.label))));
    const least = `${columns.reduce((sum, column) => sum + column.width + kGap, -kGap)}px`;
    this.#spacer.style.minWidth = least;
    this.#head.style.minWidth = least;
    this.#body = h('div', { class: 'rows-body', tabindex: 0, role: 'rowgroup', 'aria-label': label }, this.#head, this.#spacer);
    this.element = h('div', { class: 'rows', role: 'table', 'aria-label': label }, this.#body);
    this.template = template;
    this.#body.addEventListener('scroll', () => this.draw());
    this.#body.addEventListener('keydown', (event) => this.#key(event));
    new ResizeObserver(() => this.draw()).observe(this.#body);
  }

  get length() {
    return this.#sorted.length;
  }

  /** The rows in the visible order. */
  get order() {
    return this.#sorted;
  }

  set_rows(rows) {
    this.#rows = rows;
    this.#active = -1;
    this.#sort();
  }

  /** Marks the row that another view selected, and scrolls to it; -1 for none. */
  set_chosen(row) {
    this.#chosen = row;
    const index = row < 0 || this.#body.clientHeight === 0 ? -1 : this.#sorted.indexOf(row);
    if (index >= 0) this.#scroll_to(index);
    this.draw();
  }

  /** Sorts by a column: ascending, then descending, then in the original order. */
  sort_by(id) {
    const { column, down } = this.#sorting;
    if (column !== id) this.#sorting = { column: id, down: false };
    else this.#sorting = down ? { column: null, down: false } : { column: id, down: true };
    this.#sort();
    for (const head of this.#head.children) {
      const mine = head.dataset.column === this.#sorting.column;
      head.setAttribute('aria-sort', !mine ? 'none' : this.#sorting.down ? 'descending' : 'ascending');
    }
  }

  #sort() {
    const column = this.#columns.find(({ id }) => id === this.#sorting.column);
    if (!column) {
      this.#sorted = this.#rows;
    } else {
      const sign = this.#sorting.down ? -1 : 1;
      const keys = new Float64Array(this.#rows.length);
      for (let i = 0; i < keys.length; i++) keys[i] = column.key(this.#rows[i]);
      const order = new Int32Array(keys.length).map((_, index) => index);
      // Unknown values are last in both directions.
      order.sort((a, b) => {
        const [x, y] = [keys[a], keys[b]];
        if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y) || a - b;
        return sign * (x - y) || a - b;
      });
      this.#sorted = order.map((index) => this.#rows[index]);
    }
    this.#body.scrollTop = 0;
    this.#spacer.style.height = `${Math.min(kTallest, this.#sorted.length * kRowHeight)}px`;
    this.draw();
  }

  draw() {
    const height = this.#body.clientHeight - kHeadHeight;
    if (height <= 0) return;
    const count = this.#sorted.length;
    const tall = Math.min(kTallest, count * kRowHeight);
    const in_sight = Math.ceil(height / kRowHeight);
    const share = tall > height ? this.#body.scrollTop / (tall - height) : 0;
    const offset = count * kRowHeight === tall ? this.#body.scrollTop / kRowHeight : share * (count - in_sight);
    const begin = Math.max(0, Math.floor(offset) - kBeyond);
    const end = Math.min(count, Math.floor(offset) + in_sight + kBeyond);
    const top = this.#body.scrollTop - (offset - begin) * kRowHeight;
    const lines = [];
    for (let index = begin; index < end; index++) lines.push(this.#line(index, top + (index - begin) * kRowHeight));
    this.#spacer.replaceChildren(...lines);
  }

  #line(index, top) {
    const row = this.#sorted[index];
    return h('div', {
      role: 'row', class: 'line', 'data-row': row, 'aria-selected': row === this.#chosen, 'data-active': index === this.#active,
      style: `top:${top}px;grid-template-columns:${this.template}`,
      onclick: () => {
        this.#active = index;
        this.#choose(row);
      },
    }, this.#columns.map((column) => h('div', { role: 'cell', class: column.number ? 'number' : null, title: column.title?.(row) ?? (column.grow ? column.text(row) : null) }, column.text(row))));
  }

  #key(event) {
    const page = Math.max(1, Math.floor(this.#body.clientHeight / kRowHeight) - 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (event.key === 'Enter' && this.#active >= 0) this.#choose(this.#sorted[this.#active]);
    else if (event.key in steps && !event.altKey) {
      this.#active = Math.min(this.#sorted.length - 1, Math.max(0, this.#active + steps[event.key]));
      this.#scroll_to(this.#active);
    } else return;
    event.preventDefault();
    event.stopPropagation();
    this.draw();
  }

  #scroll_to(index) {
    const height = this.#body.clientHeight - kHeadHeight;
    const count = this.#sorted.length;
    if (count * kRowHeight > kTallest) {
      this.#body.scrollTop = (index / Math.max(1, count - 1)) * (kTallest - height);
      return;
    }
    const y = index * kRowHeight;
    if (y < this.#body.scrollTop) this.#body.scrollTop = y;
    else if (y + kRowHeight > this.#body.scrollTop + height) this.#body.scrollTop = y + kRowHeight - height;
  }
}
