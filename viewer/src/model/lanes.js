// Lanes: the calls or waits of one rank, thread and depth, by time. The bars of a lane do not overlap.
import { first_above } from '../base/bisect.js';

/**
 * @typedef {object} Lane
 * @property {number} rank @property {number} thread @property {number} depth
 * @property {Int32Array} rows rows of the table, by begin
 * @property {Float64Array} begin @property {Float64Array} end ns; a bar that never ended ends with the trace
 * @property {Float64Array} reach the latest end up to here: ascending even where the data is damaged
 * @property {Float64Array} sum sum[i]: ns that the first i bars take together
 */

function lane_of(key, rows, { begin, end }, duration) {
  const count = rows.length;
  for (let i = 1; i < count; i++) {
    if (begin[rows[i]] < begin[rows[i - 1]]) {
      rows.sort((a, b) => begin[a] - begin[b]);
      break;
    }
  }
  const lane = {
    ...key, rows, begin: new Float64Array(count), end: new Float64Array(count), reach: new Float64Array(count),
    sum: new Float64Array(count + 1),
  };
  let reach = -Infinity;
  for (let i = 0; i < count; i++) {
    const from = begin[rows[i]];
    const to = Number.isNaN(end[rows[i]]) ? Math.max(duration, from) : end[rows[i]];
    lane.begin[i] = from;
    lane.end[i] = to;
    reach = Math.max(reach, to);
    lane.reach[i] = reach;
    lane.sum[i + 1] = lane.sum[i] + (to - from);
  }
  return lane;
}

/**
 * @param {object} table `calls` or `waits` of a trace
 * @param {number} duration of the trace, ns
 * @returns {Lane[]} by rank, thread and depth
 */
export function make_lanes(table, duration) {
  const { rows, rank, thread, depth, end } = table;
  // A bar that began before the first recorded event begins with the trace.
  const begin = table.begin.map((time) => (Number.isNaN(time) ? 0 : time));
  const key_of = (row) => (rank[row] * 256 + thread[row]) * 256 + (depth ? depth[row] : 0);
  const counts = new Map();
  let last = -1;
  let entry = null;
  const find = (row) => {
    const key = key_of(row);
    if (key !== last) {
      last = key;
      entry = counts.get(key);
      if (!entry) counts.set(key, entry = { count: 0, rows: null });
    }
    return entry;
  };
  for (let row = 0; row < rows; row++) find(row).count++;
  for (const each of counts.values()) {
    each.rows = new Int32Array(each.count);
    each.count = 0;
  }
  for (let row = 0; row < rows; row++) {
    const each = find(row);
    each.rows[each.count++] = row;
  }
  return [...counts.keys()].sort((a, b) => a - b).map((key) => lane_of(
    { rank: Math.floor(key / 65536), thread: Math.floor(key / 256) % 256, depth: key % 256 }, counts.get(key).rows, { begin, end }, duration));
}

/** Index of the bar of `lane` at `time`, or -1. */
export function index_at(lane, time) {
  const index = first_above(lane.begin, time) - 1;
  return index >= 0 && lane.end[index] >= time ? index : -1;
}

/** Nanoseconds of [from, to] that `lane` covers. */
export function covered(lane, from, to) {
  if (!(to > from)) return 0;
  const upto = (time) => {
    const index = first_above(lane.begin, time);
    if (index === 0) return 0;
    return lane.sum[index - 1] + Math.min(time, lane.end[index - 1]) - lane.begin[index - 1];
  };
  return Math.max(0, upto(to) - upto(from));
}
