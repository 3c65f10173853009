// The state of a rank's portals at one time, as what comes just then finds it: which entries stand, what lies in the heap, which
// message comes next and where it goes.

// A walk ends at the entries for unexpected messages, though they were posted first.
function stands_last(name) {
  return /^the entry "unexpected/.test(name) || /catch-all/.test(name);
}

// What is not known when it came was there before the first event that was kept: comparisons with NaN are false.

/**
 * The entries that stand at `time`, by portal; in a portal in the order of the match list as far as the trace tells it: as
 * they were posted, with the catch-alls at the end.
 * @returns {{portal: number, name: string, entries: number[]}[]} entries: rows; portals that have none at that time too
 */
export function standing_entries(trace, rank, time) {
  const { entries } = trace;
  const portals = new Map();
  for (let row = 0; row < entries.rows; row++) {
    if (entries.rank[row] !== rank) continue;
    const number = entries.portal[row];
    let portal = portals.get(number);
    if (!portal) portals.set(number, portal = { portal: number, name: trace.text(entries.portal_name[row]), entries: [] });
    const gone = entries.to[row] < time;  // an entry still stands for the message that takes it
    if (!(entries.from[row] > time) && !gone) portal.entries.push(row);
  }
  const last = (row) => (stands_last(trace.text(entries.name[row])) ? 1 : 0);
  for (const portal of portals.values()) {
    portal.entries.sort((a, b) => last(a) - last(b) || entries.from[a] - entries.from[b] || a - b);
  }
  return [...portals.values()].sort((a, b) => a.portal - b.portal);
}

/** The unexpected messages in the heap of `rank` at `time`: {rows: of `heap`, by age, bytes: of their messages together}. */
export function heap_at(trace, rank, time) {
  const { heap, messages } = trace;
  const rows = [];
  let bytes = 0;
  for (let row = 0; row < heap.rows; row++) {
    if (heap.rank[row] !== rank || heap.from[row] >= time || heap.to[row] < time) continue;
    rows.push(row);
    const message = heap.message[row];
    if (message >= 0) bytes += messages.bytes[message];
  }
  rows.sort((a, b) => heap.from[a] - heap.from[b] || a - b);
  return { rows, bytes };
}

/** The message among those that pass `mask` that arrives next at `rank`, at `time` or later: its row, or -1. */
export function next_message(trace, mask, rank, time) {
  const { messages } = trace;
  let best = -1;
  let best_time = Infinity;
  for (let row = 0; row < messages.rows; row++) {
    const arrived = messages.arrived[row];
    if (arrived < time || !(arrived < best_time) || messages.destination[row] !== rank || mask[row] === 0) continue;
    best = row;
    best_time = arrived;
  }
  return best;
}

/** The entries that passed over a message, in the order of its walk: rows of `passes`. */
export function passes_of(trace, message) {
  const { passes } = trace;
  const rows = [];
  for (let row = 0; row < passes.rows; row++) if (passes.message[row] === message) rows.push(row);
  return rows.sort((a, b) => passes.step[a] - passes.step[b] || passes.time[a] - passes.time[b]);
}

/** The entry that took a message: row of `entries`, or -1. */
export function entry_of(trace, message) {
  return trace.entries.message.indexOf(message);
}

/** Rows of `hops` of a message, by time. */
export function hops_of(trace, message) {
  const { hops } = trace;
  const rows = [];
  for (let row = 0; row < hops.rows; row++) if (hops.message[row] === message) rows.push(row);
  return rows.sort((a, b) => hops.sent[a] - hops.sent[b]);
}
