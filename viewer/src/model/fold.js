// Folding: ranks that form one row of the timeline, because they are on one node or behave equally.

/** The ways to fold, with their names. */
export const kFolds = Object.freeze([['none', 'none'], ['node', 'by node'], ['behaviour', 'by equal behaviour']]);

const kRowsMost = 64;  // ranks that a new page shows unfolded, and rows that it prefers
// Calls whose number depends on time: they count only if they moved a message.
const kPolls = /^P?MPI_(Test|I?probe|Improbe|Request_get_status)/i;

// A mixing step of murmur3. `hash` and `value` are whole numbers of 32 bits.
function mix(hash, value) {
  let mixed = Math.imul(hash ^ value, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  return Math.imul(mixed, 0xc2b2ae35) ^ (mixed >>> 16);
}

// Two hashes for each of `count` things, so that unequal ones have equal hashes practically never.
class Hashes {
  constructor(count) {
    this.a = new Int32Array(count).fill(1);
    this.b = new Int32Array(count).fill(2);
  }

  /** Adds values that follow the earlier ones. */
  append(index, ...values) {
    for (const value of values) {
      this.a[index] = mix(this.a[index], value);
      this.b[index] = mix(this.b[index], ~value);
    }
  }

  /** Adds values that have no order among the earlier ones. */
  include(index, ...values) {
    this.a[index] += values.reduce(mix, 3);
    this.b[index] += values.reduce((hash, value) => mix(hash, ~value), 4);
  }

  is_empty(index) {
    return this.a[index] === 1 && this.b[index] === 2;
  }
}

function words_of(bytes) {
  return Number.isNaN(bytes) ? [-1, -1] : [bytes | 0, Math.floor(bytes / 4294967296)];
}

// Adds messages of the program to the calls that sent them, and to the ranks that received them. Their order in a call is a
// matter of time, and so is the call that completes a receive.
function include_messages(trace, of_call, of_rank) {
  const { messages, index_of_rank, ranks } = trace;
  const { source, destination, send_call, collective, internal, bytes, tag } = messages;
  for (let row = 0; row < messages.rows; row++) {
    if (internal[row] !== 0 || collective[row] >= 0) continue;
    const away = (destination[row] - source[row] + ranks.length) % ranks.length;
    if (send_call[row] >= 0) of_call.include(send_call[row], 5, away, tag[row], ...words_of(bytes[row]));
    of_rank.include(index_of_rank.get(destination[row]), 6, away, tag[row], ...words_of(bytes[row]));
  }
}

function include_accesses(trace, of_call) {
  const { accesses, ranks } = trace;
  for (let row = 0; row < accesses.rows; row++) {
    if (accesses.call[row] < 0) continue;
    const away = (accesses.target[row] - accesses.rank[row] + ranks.length) % ranks.length;
    of_call.include(accesses.call[row], 7, accesses.what[row], away, ...words_of(accesses.bytes[row]));
  }
}

function include_collectives(trace, of_call) {
  const { collectives } = trace;
  for (let row = 0; row < collectives.rows; row++) {
    if (collectives.call[row] >= 0) of_call.include(collectives.call[row], 8, collectives.communicator[row], ...words_of(collectives.bytes[row]));
  }
}

// Ranks behave equally if their calls, in their order, have the same names and amounts and peers at the same distance in
// ranks, modulo the number of ranks. Messages inside of collective calls do not count: an algorithm gives each rank another part.
function behaviour_groups(trace) {
  const { calls, ranks, index_of_rank } = trace;
  const of_call = new Hashes(calls.rows);
  const of_rank = new Hashes(ranks.length);
  ranks.forEach((rank, index) => of_rank.append(index, Number(rank.file), Number(rank.lost > 0), trace.strings.indexOf(rank.end ?? '')));
  include_messages(trace, of_call, of_rank);
  include_accesses(trace, of_call);
  include_collectives(trace, of_call);
  const is_poll = trace.strings.map((text) => kPolls.test(text));
  for (let call = 0; call < calls.rows; call++) {  // by begin
    if (calls.depth[call] > 0 || (is_poll[calls.name[call]] && of_call.is_empty(call))) continue;
    of_rank.append(index_of_rank.get(calls.rank[call]), calls.thread[call], calls.name[call], of_call.a[call], of_call.b[call]);
  }
  return groups_by(ranks, (rank, index) => `${of_rank.a[index]} ${of_rank.b[index]}`);
}

function groups_by(ranks, key_of) {
  const groups = new Map();
  ranks.forEach((rank, index) => {
    const key = key_of(rank, index);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(rank.rank);
  });
  return [...groups.values()];
}

/**
 * @param {string} fold of `kFolds`
 * @returns {{fold: string, groups: number[][], group_of: Map<number, number[]>}} groups: their ranks ascending, by their first ranks
 */
export function folding_of(trace, fold) {
  const groups = fold === 'behaviour' ? behaviour_groups(trace) : fold === 'node' ? groups_by(trace.ranks, ({ node, rank }) => (node < 0 ? `rank ${rank}` : node))
    : trace.ranks.map(({ rank }) => [rank]);
  return { fold, groups, group_of: new Map(groups.flatMap((group) => group.map((rank) => [rank, group]))) };
}

/** The folding of a new page: none for few ranks; otherwise by behaviour, unless only folding by node gives few rows. */
export function first_folding(trace) {
  if (trace.ranks.length <= kRowsMost) return folding_of(trace, 'none');
  const folding = folding_of(trace, 'behaviour');
  if (folding.groups.length <= kRowsMost) return folding;
  const by_node = folding_of(trace, 'node');
  return by_node.groups.length < folding.groups.length ? by_node : folding;
}

/**
 * The rows of the timeline, from the top.
 * @param {number[]} order of the ranks; a group is at the place of its first rank there
 * @param {Set<number[]>} unfolded groups
 * @param {number} selected rank, which its group's row shows
 * @returns {object[]} {rank: which the row shows, members: the ranks that it stands for}, or {heading: group} above the rows of an
 *   unfolded group
 */
export function rows_of(order, { group_of }, unfolded, selected) {
  const rows = [];
  const placed = new Set();
  for (const rank of order) {
    const group = group_of.get(rank);
    if (placed.has(group)) continue;
    placed.add(group);
    if (group.length > 1 && unfolded.has(group)) {
      rows.push({ heading: group });
      for (const member of order) if (group_of.get(member) === group) rows.push({ rank: member, members: [member] });
    } else {
      rows.push({ rank: group_of.get(selected) === group ? selected : group[0], members: group });
    }
  }
  return rows;
}
