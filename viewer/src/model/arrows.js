// Level of detail of messages: a bounded number of arrows in view. If there are more messages, time is divided into cells, and the
// longest message of each pair of ranks in a cell represents the others that begin in it.
import { first_above, first_at_least } from '../base/bisect.js';

function level_of(messages, rows) {
  const count = rows.length;
  const first = new Float64Array(count);
  const reach = new Float64Array(count);
  let latest = -Infinity;
  for (let i = 0; i < count; i++) {
    first[i] = messages.first[rows[i]];
    const last = messages.last[rows[i]];
    latest = Math.max(latest, last >= first[i] ? last : first[i]);
    reach[i] = latest;
  }
  return { rows, first, reach };
}

/** Numbers the pairs of ranks that exchange messages: the pair's number for each message, and the count of pairs. */
export function pairs_of(messages) {
  const numbers = new Map();
  const of_message = new Int32Array(messages.rows);
  let last_key = -1;
  let last_number = -1;
  for (let row = 0; row < messages.rows; row++) {
    const key = messages.source[row] * 4294967296 + messages.destination[row];
    if (key !== last_key) {
      last_key = key;
      last_number = numbers.get(key);
      if (last_number === undefined) numbers.set(key, last_number = numbers.size);
    }
    of_message[row] = last_number;
  }
  return { of_message, count: numbers.size };
}

function thinned(messages, rows, pairs, cell) {
  const cell_of_pair = new Float64Array(pairs.count).fill(-1);
  const place_of_pair = new Int32Array(pairs.count);
  const kept = new Int32Array(rows.length);
  let count = 0;
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i];
    const pair = pairs.of_message[row];
    const number = Math.floor(messages.first[row] / cell);
    if (cell_of_pair[pair] !== number) {
      cell_of_pair[pair] = number;
      place_of_pair[pair] = count;
      kept[count++] = row;
      continue;
    }
    const place = place_of_pair[pair];
    const old = kept[place];
    if (messages.last[row] - messages.first[row] > messages.last[old] - messages.first[old]) kept[place] = row;
  }
  // Longer messages have replaced earlier ones: sort by time again.
  return kept.slice(0, count).sort();
}

export class ArrowLevels {
  #messages;
  #pairs;
  #levels = new Map();
  #all;

  /**
   * @param {object} messages the trace's table, sorted by `first`
   * @param {Int32Array} rows those to show, ascending
   * @param {object} pairs of `pairs_of`
   */
  constructor(messages, rows, pairs) {
    this.#messages = messages;
    this.#pairs = pairs;
    this.#all = level_of(messages, rows);
  }

  #range(level, from, to) {
    return [first_at_least(level.reach, from), first_above(level.first, to)];
  }

  #level(exponent) {
    if (!this.#levels.has(exponent)) {
      this.#levels.set(exponent,
        level_of(this.#messages, thinned(this.#messages, this.#all.rows, this.#pairs, 2 ** exponent)));
    }
    return this.#levels.get(exponent);
  }

  /**
   * The messages to draw of [from, to].
   * @param {number} pixel ns of a pixel: the length of the shortest cells
   * @param {number} most bound of the number of rows
   * @returns {{rows: Int32Array, begin: number, end: number, whole: boolean, under_way: number}} `rows` from `begin` to `end`
   *   (some may be outside the view), whether these are all, and the number of messages in view
   */
  visible(from, to, pixel, most) {
    const [all_begin, all_end] = this.#range(this.#all, from, to);
    let level = this.#all;
    let [begin, end] = [all_begin, all_end];
    for (let exponent = Math.ceil(Math.log2(pixel)); end - begin > most && exponent < 62; exponent += 2) {
      level = this.#level(exponent);
      [begin, end] = this.#range(level, from, to);
    }
    return { rows: level.rows, begin, end, whole: level === this.#all, under_way: Math.max(0, all_end - all_begin) };
  }
}
