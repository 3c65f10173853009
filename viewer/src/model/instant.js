// The state of a rank's portals at one time, as what comes just then finds it: which entries stand, what lies in the heap, which
// message comes next and where it goes.

const kDescriptor = /^the descriptor of portal (\d+)/;
const kCatchAllName = /^the entry "unexpected/;
const kLastPlaces = 1e15;  // places beyond are of the library's catch-alls

/** Whether a row of entries is what takes the messages that no posted receive takes: a walk ends there, though it was posted first. */
export function is_catch_all(trace, row) {
  return trace.entries.place[row] > kLastPlaces || kCatchAllName.test(trace.text(trace.entries.name[row]));
}

/** What a row of entries wants, in words. */
export function wanted_text(trace, row) {
  // MPI's two catch-alls: a portals program's entries may stand at places as high.
  const takes_the_rest = kCatchAllName.test(trace.text(trace.entries.name[row]));
  return takes_the_rest ? 'what no posted receive takes' : trace.text(trace.entries.wanted[row]);
}

// Entries whose place in the list is known stand by it, at the positions that their times give them together.
function by_place(rows, place) {
  const known = rows.flatMap((row, index) => (Number.isNaN(place[row]) ? [] : [index]));
  const sorted = known.map((index) => rows[index]).sort((a, b) => place[a] - place[b]);
  known.forEach((index, number) => { rows[index] = sorted[number]; });
}

// What is not known when it came was there before the first event that was kept: comparisons with NaN are false.

/**
 * The entries that stand at `time`, by portal; in a portal in the order of the match list as far as the trace tells it: as
 * they were posted, or by their places where those are known, with the catch-alls at the end.
 * @returns {{portal: number, name: string, entries: number[], descriptor: boolean}[]} entries: rows; portals that have none at
 *   that time too; `descriptor`: it has no match list then, but a descriptor of its own
 */
export function standing_entries(trace, rank, time) {
  const { entries } = trace;
  const portals = new Map();
  for (let row = 0; row < entries.rows; row++) {
    if (entries.rank[row] !== rank) continue;
    const number = entries.portal[row];
    let portal = portals.get(number);
    if (!portal) portals.set(number, portal = { portal: number, name: trace.text(entries.portal_name[row]), entries: [], descriptor: false });
    const gone = entries.to[row] < time;  // an entry still stands for the message that takes it
    if (!(entries.from[row] > time) && !gone) portal.entries.push(row);
  }
  add_descriptors(trace, rank, time, portals);
  for (const portal of portals.values()) {
    portal.entries.sort((a, b) => entries.from[a] - entries.from[b] || a - b);
    const [last, others] = [portal.entries.filter((row) => is_catch_all(trace, row)), portal.entries.filter((row) => !is_catch_all(trace, row))];
    by_place(last, entries.place);
    by_place(others, entries.place);
    portal.entries = [...others, ...last];
  }
  return [...portals.values()].sort((a, b) => a.portal - b.portal);
}

// A portal without a match list has a descriptor, as those know that it passed over. It is there at `time` when no entry came to
// stand in the portal between then and the time at which it passed one over.
function add_descriptors(trace, rank, time, portals) {
  const { passes, messages, entries } = trace;
  for (let row = 0; row < passes.rows; row++) {
    if (messages.destination[passes.message[row]] !== rank) continue;
    const named = kDescriptor.exec(trace.text(passes.entry[row]));
    if (!named) continue;
    const number = Number(named[1]);
    if (!portals.has(number)) portals.set(number, { portal: number, name: trace.text(messages.portal_name[passes.message[row]]), entries: [], descriptor: false });
    const portal = portals.get(number);
    if (portal.descriptor || portal.entries.length > 0) continue;
    const [from, to] = [Math.min(time, passes.time[row]), Math.max(time, passes.time[row])];
    let between = false;
    for (let entry = 0; entry < entries.rows && !between; entry++) {
      between = entries.rank[entry] === rank && entries.portal[entry] === number && entries.from[entry] <= to && !(entries.to[entry] < from);
    }
    portal.descriptor = !between;
  }
}

/** What of a message's body lies in the heap: nothing of one whose header alone is kept. @param {number} row of `heap` */
export function kept_bytes({ heap, messages }, row) {
  if (!Number.isNaN(heap.bytes[row])) return heap.bytes[row];
  return heap.message[row] < 0 ? 0 : messages.bytes[heap.message[row]];
}

/** Whether a matched probe has taken it out by `time`: it lies there yet, and no receive but its own finds it. @param {number} row of `heap` */
export function is_claimed({ heap }, row, time) {
  return heap.claimed[row] < time;
}

/** The unexpected messages in the heap of `rank` at `time`: {rows: of `heap`, by age, bytes: of their bodies that the heap keeps, together}. */
export function heap_at(trace, rank, time) {
  const { heap } = trace;
  const rows = [];
  let bytes = 0;
  for (let row = 0; row < heap.rows; row++) {
    if (heap.rank[row] !== rank || heap.from[row] >= time || heap.to[row] < time) continue;
    rows.push(row);
    bytes += kept_bytes(trace, row);
  }
  rows.sort((a, b) => heap.from[a] - heap.from[b] || a - b);
  return { rows, bytes };
}

/** The messages that are held on their wires before `rank` at `time`, as nothing there has room for them: rows, by age. */
export function held_at(trace, rank, time) {
  const { messages } = trace;
  const rows = [];
  for (let row = 0; row < messages.rows; row++) {
    if (messages.held_until[row] >= time && messages.arrived[row] < time && messages.destination[row] === rank) rows.push(row);
  }
  return rows.sort((a, b) => messages.arrived[a] - messages.arrived[b]);
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
