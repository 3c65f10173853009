// The state of a rank's portals at a time, as a message that arrives then finds it: the entries in the lists, the messages in the
// heap, the next message and its walk.

const kDescriptor = /^the descriptor of portal (\d+)/;
const kCatchAllName = /^the entry "unexpected/;
const kLastPlaces = 1e15;  // places beyond belong to the library's catch-alls

/** The form of a row of entries: in MPI's lists; or, of a program on portals, in the list's chain, adopted, or its portal's own descriptor. */
export const kForm = { mpi: 0, chained: 1, adopted: 2, portal: 3 };

/** Whether a row of entries is a catch-all, which takes messages that no posted receive takes: walks end there, though it was posted first. */
export function is_catch_all(trace, row) {
  return trace.entries.form[row] === kForm.mpi && (trace.entries.place[row] > kLastPlaces || kCatchAllName.test(trace.text(trace.entries.name[row])));
}

/** The messages that a row of entries accepts, as text. */
export function wanted_text(trace, row) {
  const takes_the_rest = trace.entries.form[row] === kForm.mpi && kCatchAllName.test(trace.text(trace.entries.name[row]));
  return takes_the_rest ? 'what no posted receive takes' : trace.text(trace.entries.wanted[row]);
}

// Sorts the entries whose place in the list is known by it, among the positions that these entries have by time.
function by_place(rows, place) {
  const known = rows.flatMap((row, index) => (Number.isNaN(place[row]) ? [] : [index]));
  const sorted = known.map((index) => rows[index]).sort((a, b) => place[a] - place[b]);
  known.forEach((index, number) => { rows[index] = sorted[number]; });
}

// Whether an entry is in the list at `time`. MPI's receive still is for the message that takes it; no message removes a program's entry.
function stands(entries, row, time) {
  if (entries.from[row] > time) return false;
  return entries.form[row] === kForm.mpi ? !(entries.to[row] < time) : !(entries.to[row] <= time);
}

// An entry whose beginning is unknown (NaN) was there before the first recorded event: comparisons with NaN are false.

/**
 * The entries at `time`, by portal, each portal's in the order of its match list: for a program on portals as recorded; for MPI as
 * posted, or by their places if these are known, with the catch-alls at the end.
 * @returns {{portal: number, name: string, entries: number[], adopted: number[], descriptor: boolean}[]} entries: rows; adopted:
 *   entries outside the list, reached only by links; portals without entries at that time are included; `descriptor`: the portal
 *   then has no match list, but a descriptor of its own
 */
export function standing_entries(trace, rank, time) {
  const { entries } = trace;
  const portals = new Map();
  for (let row = 0; row < entries.rows; row++) {
    if (entries.rank[row] !== rank) continue;
    const number = entries.portal[row];
    let portal = portals.get(number);
    if (!portal) portals.set(number, portal = { portal: number, name: trace.text(entries.portal_name[row]), entries: [], adopted: [], descriptor: false });
    if (!stands(entries, row, time)) continue;
    if (entries.form[row] === kForm.portal) portal.descriptor = true;
    else (entries.form[row] === kForm.adopted ? portal.adopted : portal.entries).push(row);
  }
  add_descriptors(trace, rank, time, portals);
  for (const portal of portals.values()) portal.adopted.sort((a, b) => entries.since[a] - entries.since[b] || a - b);
  for (const portal of portals.values()) {
    portal.entries.sort((a, b) => entries.from[a] - entries.from[b] || a - b);
    const [last, others] = [portal.entries.filter((row) => is_catch_all(trace, row)), portal.entries.filter((row) => !is_catch_all(trace, row))];
    by_place(last, entries.place);
    by_place(others, entries.place);
    portal.entries = [...others, ...last];
  }
  return [...portals.values()].sort((a, b) => a.portal - b.portal);
}

// A portal without a match list has a descriptor, which the passes of messages that it rejected name. It is there at `time` if no
// entry was in the portal between `time` and such a pass.
function add_descriptors(trace, rank, time, portals) {
  const { passes, messages, entries } = trace;
  for (let row = 0; row < entries.rows; row++) if (entries.rank[row] === rank && entries.form[row] !== kForm.mpi) return;  // its portals' descriptors are recorded
  for (let row = 0; row < passes.rows; row++) {
    if (messages.destination[passes.message[row]] !== rank) continue;
    const named = kDescriptor.exec(trace.text(passes.entry[row]));
    if (!named) continue;
    const number = Number(named[1]);
    if (!portals.has(number)) portals.set(number, { portal: number, name: trace.text(messages.portal_name[passes.message[row]]), entries: [], adopted: [], descriptor: false });
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

/** Bytes of a message's body in the heap: 0 if only its header is kept. @param {number} row of `heap` */
export function kept_bytes({ heap, messages }, row) {
  if (!Number.isNaN(heap.bytes[row])) return heap.bytes[row];
  return heap.message[row] < 0 ? 0 : messages.bytes[heap.message[row]];
}

/** Whether a message is off the queue by `time`, but still in the heap: with MPI, by a matched probe, for its receive. @param {number} row of `heap` */
export function is_claimed({ heap }, row, time) {
  return heap.claimed[row] < time;
}

/** The heaps of `rank`: [{number, bytes, entries: names of those that put messages there}]; MPI's has number 0; bytes are 0 if unknown. */
export function heaps_of(trace, rank) {
  const { heaps, entries } = trace;
  const found = [];
  for (let row = 0; row < heaps.rows; row++) {
    if (heaps.rank[row] !== rank) continue;
    const names = new Set();
    for (let entry = 0; entry < entries.rows; entry++) {
      if (entries.rank[entry] === rank && entries.heap[entry] === heaps.number[row]) names.add(trace.text(entries.name[entry]));
    }
    found.push({ number: heaps.number[row], bytes: heaps.bytes[row], entries: [...names] });
  }
  return found.length > 0 ? found : [{ number: 0, bytes: trace.ranks[trace.index_of_rank.get(rank)]?.heap ?? 0, entries: [] }];
}

/** The messages in a heap of `rank` at `time`: {rows: of `heap`, by age, bytes: sum of the bodies that the heap keeps}. */
export function heap_at(trace, rank, time, number = 0) {
  const { heap } = trace;
  const rows = [];
  let bytes = 0;
  for (let row = 0; row < heap.rows; row++) {
    if (heap.rank[row] !== rank || heap.heap[row] !== number || heap.from[row] >= time || heap.to[row] < time) continue;
    rows.push(row);
    bytes += kept_bytes(trace, row);
  }
  rows.sort((a, b) => heap.from[a] - heap.from[b] || a - b);
  return { rows, bytes };
}

/** The messages that are held on their wires to `rank` at `time`, for lack of room: rows, by age. */
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

/**
 * What arrives next at `rank`, at `time` or later, of the messages that pass `mask`: a message itself, or an acknowledgment, a get
 * or a reply of one.
 * @returns {{message: number, hop: number, arrived: number} | null} rows; hop: -1 for the message itself
 */
export function next_arrival(trace, mask, rank, time) {
  const { messages, hops } = trace;
  const message = next_message(trace, mask, rank, time);
  let next = message < 0 ? null : { message, hop: -1, arrived: messages.arrived[message] };
  for (let hop = 0; hop < hops.rows; hop++) {
    const arrived = hops.arrived[hop];
    if (hops.destination[hop] !== rank || !(arrived >= time) || (next && arrived >= next.arrived) || mask[hops.message[hop]] === 0) continue;
    next = { message: hops.message[hop], hop, arrived };
  }
  return next;
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
