// Collective calls with all their ranks, and the picture of their messages: a tree, a ring, or a circle of ranks.
import { counted } from '../base/format.js';

/** "MPI_Allreduce 3"; the name alone if the call has no number. */
export function call_name(trace, row) {
  const { name, number } = trace.collectives;
  return number[row] < 0 ? trace.text(name[row]) : `${trace.text(name[row])} ${number[row]}`;
}

/** "MPI_Allreduce number 3 on MPI_COMM_WORLD"; "persistent bcast number 0, start 2 on MPI_COMM_WORLD". */
export function collective_name(trace, row) {
  const { collectives } = trace;
  const communicator = trace.text(collectives.communicator[row]);
  const start = Number.isNaN(collectives.start[row]) ? '' : `, start ${collectives.start[row]}`;
  const number = collectives.number[row] < 0 ? '' : ` number ${collectives.number[row]}`;
  return `${trace.text(collectives.name[row])}${number}${start}${communicator ? ` on ${communicator}` : ''}`;
}

const kEntered = new WeakMap();

/**
 * When each row's rank entered it, in ns. The first part of a blocking call is entered with the call, in which the rank prepares it;
 * later parts of such a call, and parts that began in another call, are entered when they begin.
 * @returns {Float64Array} by row of collectives
 */
export function entered_at(trace) {
  if (kEntered.has(trace)) return kEntered.get(trace);
  const { calls, collectives } = trace;
  const entered = Float64Array.from(collectives.begin.subarray(0, collectives.rows));
  const seen = new Set();
  for (let row = 0; row < collectives.rows; row++) {
    const call = collectives.call[row];
    if (call < 0 || seen.has(call)) continue;
    seen.add(call);
    if (trace.text(calls.name[call]) === trace.text(collectives.name[row]) && calls.begin[call] < entered[row]) entered[row] = calls.begin[call];
  }
  kEntered.set(trace, entered);
  return entered;
}

/** The rows of a call whose rank has a part in it: not those for which another rank of their group is the root (MPI_PROC_NULL). */
export function taking_part(trace, rows) {
  return rows.filter((row) => trace.collectives.no_part[row] === 0);
}

/** @returns {Map<number, number[]>} group number to its rows of collectives; each row without a group is a group of its own. */
export function collective_groups(trace) {
  const { collectives } = trace;
  const groups = new Map();
  for (let row = 0; row < collectives.rows; row++) {
    const group = collectives.group[row] >= 0 ? collectives.group[row] : -2 - row;
    const rows = groups.get(group);
    if (rows) rows.push(row);
    else groups.set(group, [row]);
  }
  return groups;
}

/** Why a trace of collective calls has few messages: "No messages: 9 collective calls met in the node's memory."; "" if there are none. */
export function memory_sentence(trace) {
  const { collectives } = trace;
  let met = 0;
  for (const [row] of collective_groups(trace).values()) if (/shared/.test(trace.text(collectives.algorithm[row]))) met++;
  if (met === 0) return '';
  return `No messages: ${counted(met, 'collective call')} met in the node\u2019s memory.`;
}

/** The rows of all ranks of `row`'s call, by rank. */
export function rows_of_call(trace, row) {
  const { collectives } = trace;
  const group = collectives.group[row];
  if (group < 0) return [row];
  const rows = [];
  for (let each = 0; each < collectives.rows; each++) if (collectives.group[each] === group) rows.push(each);
  return rows.sort((a, b) => collectives.rank[a] - collectives.rank[b]);
}

/** When the first rank enters `row`'s call, and when the last one leaves: [from, to] in ns. */
export function span_of_call(trace, row) {
  const { end } = trace.collectives;
  const entered = entered_at(trace);
  let [from, to] = [Infinity, -Infinity];
  for (const each of rows_of_call(trace, row)) {
    from = Math.min(from, entered[each]);
    to = Math.max(to, Number.isNaN(end[each]) ? trace.duration : end[each]);
  }
  return [from, to];
}

/** The messages of a collective call, in the order of step and time: rows of messages. */
export function messages_of_call(trace, rows) {
  const { messages } = trace;
  const wanted = new Set(rows);
  const found = [];
  for (let row = 0; row < messages.rows; row++) if (wanted.has(messages.collective[row])) found.push(row);
  return found.sort((a, b) => messages.step[a] - messages.step[b] || messages.first[a] - messages.first[b]);
}

/**
 * The rounds of a call's messages by their dependencies: a message belongs to the round after that of the last message that its
 * sender had received before; messages that depend on none belong to round 1.
 * @param {number[]} sent rows of messages, of one call
 * @returns {Map<number, number>} row of messages to its round
 */
export function rounds_of(trace, sent) {
  const { messages } = trace;
  const time_of = (row) => (Number.isNaN(messages.sent[row]) ? messages.first[row] : messages.sent[row]);
  const events = [];
  for (const row of sent) {
    const came = Number.isNaN(messages.received[row]) ? messages.arrived[row] : messages.received[row];
    events.push({ row, time: time_of(row), came: false });
    if (came >= time_of(row)) events.push({ row, time: came, came: true });
  }
  events.sort((a, b) => a.time - b.time || b.came - a.came || a.row - b.row);
  const rounds = new Map();
  const deepest = new Map();  // by rank: the highest round of the messages that it has received
  for (const { row, came } of events) {
    if (!came) rounds.set(row, 1 + (deepest.get(messages.source[row]) ?? 0));
    else deepest.set(messages.destination[row], Math.max(deepest.get(messages.destination[row]) ?? 0, rounds.get(row) ?? 0));
  }
  return rounds;
}

/** The row of collectives that a call makes, or -1. */
export function collective_of_call(trace, call) {
  const { calls, collectives, duration } = trace;
  const known = collectives.call.indexOf(call);
  if (known >= 0) return known;
  const end = Number.isNaN(calls.end[call]) ? duration : calls.end[call];
  for (let row = 0; row < collectives.rows; row++) {
    const begin = collectives.begin[row];
    if (collectives.rank[row] === calls.rank[call] && begin >= calls.begin[call] && begin <= end
      && !(collectives.end[row] > end)) return row;
  }
  return -1;
}

function neighbours_of(edges) {
  const neighbours = new Map();
  const add = (a, b) => {
    if (!neighbours.has(a)) neighbours.set(a, new Set());
    neighbours.get(a).add(b);
  };
  for (const { from, to } of edges) {
    if (from === to) continue;
    add(from, to);
    add(to, from);
  }
  return neighbours;
}

function reached(neighbours, start) {
  const order = new Map([[start, 0]]);
  for (const [rank, level] of order) {  // iterating over a Map includes entries that are added meanwhile
    for (const next of [...neighbours.get(rank)].sort((a, b) => a - b)) if (!order.has(next)) order.set(next, level + 1);
  }
  return order;
}

// The root of the tree. The first message of each link counts: in a broadcast it goes away from the root, in a gather towards it.
// So the root is the only rank from which all its links lead, or the only one to which all lead. A chain has both; then the lower
// rank is the root.
function root_of(edges, neighbours) {
  const first = new Map();  // by link, the edge that was used first
  for (const edge of edges) {
    const link = `${Math.min(edge.from, edge.to)} ${Math.max(edge.from, edge.to)}`;
    if (!first.has(link) || edge.rows[0] < first.get(link).rows[0]) first.set(link, edge);
  }
  const sends = new Set([...first.values()].map((edge) => edge.from));
  const receives = new Set([...first.values()].map((edge) => edge.to));
  const ranks = [...neighbours.keys()].sort((a, b) => a - b);
  const alone = [ranks.filter((rank) => !receives.has(rank)), ranks.filter((rank) => !sends.has(rank))].filter((group) => group.length === 1);
  if (alone.length > 0) return Math.min(...alone.map(([rank]) => rank));
  return ranks.reduce((best, rank) => (neighbours.get(rank).size > neighbours.get(best).size ? rank : best));
}

function circle(ranks) {
  return ranks.map((rank, index) => {
    const angle = (2 * Math.PI * index) / ranks.length - Math.PI / 2;
    return { rank, x: 0.5 + 0.42 * Math.cos(angle), y: 0.5 + 0.42 * Math.sin(angle) };
  });
}

function tree(neighbours, root) {
  const levels = reached(neighbours, root);
  const depth = Math.max(1, ...levels.values());
  const children = (rank) => [...neighbours.get(rank)].filter((each) => levels.get(each) === levels.get(rank) + 1)
    .sort((a, b) => a - b);
  const places = [];
  let leaves = 0;
  const place = (rank) => {  // a leaf takes the next column, a parent the middle of its children
    const columns = children(rank).map(place);
    const column = columns.length === 0 ? leaves++ : (columns[0] + columns.at(-1)) / 2;
    places.push({ rank, column, level: levels.get(rank) });
    return column;
  };
  place(root);
  return places.map(({ rank, column, level }) => (
    { rank, x: 0.06 + (0.88 * (column + 0.5)) / leaves, y: 0.1 + (0.8 * level) / depth })).sort((a, b) => a.rank - b.rank);
}

function ring_order(neighbours) {
  const start = Math.min(...neighbours.keys());
  const order = [start];
  const seen = new Set(order);
  for (let next = start; next !== undefined;) {
    next = [...neighbours.get(next)].sort((a, b) => a - b).find((rank) => !seen.has(rank));
    if (next === undefined) break;
    seen.add(next);
    order.push(next);
  }
  return order;
}

/**
 * The pictures of a collective's messages: one, or one for each of its two phases if both together are neither a tree nor a ring,
 * such as a scatter and the ring that follows it. That ring may lack the arrow to its first rank, which has all data.
 * @param {(message: object) => number} phase_of the phase of one of `sent`, 0 or 1
 * @returns {object[]} as `collective_picture` makes them
 */
export function collective_pictures(ranks, sent, phase_of) {
  const whole = collective_picture(ranks, sent);
  const phases = [0, 1].map((phase) => sent.filter((message) => phase_of(message) === phase));
  if (whole.shape !== 'circle' || phases.some((messages) => messages.length === 0)) return [whole];
  return phases.map((messages) => {
    const picture = collective_picture(ranks, messages);
    const order = way_through(ranks, picture.edges);
    return order.length > 2 ? { ...picture, shape: 'ring', nodes: circle(order) } : picture;
  });
}

// The ranks in the order in which edges lead from one to the next, through all of them; [] if no order does.
function way_through(ranks, edges) {
  const next = new Map(edges.map(({ from, to }) => [from, to]));
  const reached_ones = new Set(edges.map(({ to }) => to));
  const starts = ranks.filter((rank) => !reached_ones.has(rank));
  if (next.size !== edges.length || edges.length !== ranks.length - 1 || starts.length !== 1) return [];
  const order = [starts[0]];
  while (next.has(order.at(-1))) order.push(next.get(order.at(-1)));
  return order.length === ranks.length ? order : [];
}

/**
 * The picture of a collective's messages.
 * @param {number[]} ranks that take part
 * @param {{from: number, to: number, round: number, row: number}[]} sent its messages; rows are by time
 * @returns {{shape: 'none' | 'tree' | 'ring' | 'circle', nodes: {rank, x, y}[], edges: {from, to, rounds: number[], rows: number[]}[]}}
 *   x and y from 0 to 1; an edge for all messages from one rank to another
 */
export function collective_picture(ranks, sent) {
  const edges = new Map();
  for (const { from, to, round, row } of sent) {
    const key = `${from}>${to}`;
    if (!edges.has(key)) edges.set(key, { from, to, rounds: [], rows: [] });
    edges.get(key).rounds.push(round);
    edges.get(key).rows.push(row);
  }
  const list = [...edges.values()];
  for (const edge of list) edge.rows.sort((a, b) => a - b);
  if (list.length === 0) return { shape: 'none', nodes: circle(ranks), edges: [] };
  const neighbours = neighbours_of(list);
  const all = [...new Set([...ranks, ...neighbours.keys()])].sort((a, b) => a - b);
  const links = [...neighbours.values()].reduce((sum, set) => sum + set.size, 0) / 2;
  const connected = neighbours.size === all.length && reached(neighbours, all[0]).size === all.length;
  if (connected && links === all.length - 1) {
    return { shape: 'tree', nodes: tree(neighbours, root_of(list, neighbours)), edges: list };
  }
  if (connected && all.length > 2 && [...neighbours.values()].every((set) => set.size === 2)) {
    return { shape: 'ring', nodes: circle(ring_order(neighbours)), edges: list };
  }
  return { shape: 'circle', nodes: circle(all), edges: list };
}
