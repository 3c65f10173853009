// The critical path: the chain of work and messages that determined the program's duration. It is traced backward from the last
// event: within a rank to a wait that another rank ended, then to that rank at the time at which it sent, and so on to a rank's
// beginning. If no message ended a wait in a collective call, the rank that entered it last did. Only a rank's first thread counts.
import { first_above } from '../base/bisect.js';
import { covered, index_at, make_lanes } from './lanes.js';
import { Entries } from './late_entry.js';

/**
 * @typedef {object} Stretch a part of the path; together they have no gap
 * @property {'rank' | 'wire'} kind
 * @property {number} rank the rank that worked; of a wire: the receiver
 * @property {number} source of a wire: the sender; else -1
 * @property {number} message row of a wire's message; else -1
 * @property {number} hop of a wire: row of hops, for an acknowledgment, a get or a reply of its message; else -1
 * @property {number} from @property {number} to ns
 * @property {number} entered of a rank: row of collectives of the late rank for whose entry this one waited; else -1
 * @property {number} computing @property {number} calls @property {number} waiting ns of a rank's stretch, which are together its length
 */

function lanes_by_rank(table, duration) {
  const by_rank = new Map();
  for (const lane of make_lanes(table, duration)) {
    if (lane.depth === 0 && !by_rank.has(lane.rank)) by_rank.set(lane.rank, lane);
  }
  return by_rank;
}

// Arrivals at each rank from others, by time: headers of messages and, as hops, acknowledgments, gets and replies.
function arrivals_by_rank(trace) {
  const { messages, hops } = trace;
  const lists = new Map();
  const add = (destination, source, sent, arrived, message, hop) => {
    if (source === destination || !(sent < arrived)) return;
    let list = lists.get(destination);
    if (!list) lists.set(destination, list = []);
    list.push({ source, sent, arrived, message, hop });
  };
  for (let row = 0; row < messages.rows; row++) {
    add(messages.destination[row], messages.source[row], messages.sent[row], messages.arrived[row], row, -1);
  }
  for (let row = 0; row < hops.rows; row++) {
    add(hops.destination[row], hops.source[row], hops.sent[row], hops.arrived[row], hops.message[row], row);
  }
  for (const [rank, list] of lists) {
    list.sort((a, b) => a.arrived - b.arrived);
    lists.set(rank, { list, times: Float64Array.from(list, (arrival) => arrival.arrived) });
  }
  return lists;
}

// First and last time of each rank, from its calls and messages.
function spans_by_rank(trace) {
  const spans = new Map();
  const note = (rank, time) => {
    if (!Number.isFinite(time)) return;
    const span = spans.get(rank);
    if (!span) spans.set(rank, { first: time, last: time });
    else if (time < span.first) span.first = time;
    else if (time > span.last) span.last = time;
  };
  const { calls, messages, duration } = trace;
  for (let row = 0; row < calls.rows; row++) {
    note(calls.rank[row], calls.begin[row]);
    note(calls.rank[row], Number.isNaN(calls.end[row]) ? duration : calls.end[row]);
  }
  for (let row = 0; row < messages.rows; row++) {
    note(messages.source[row], messages.sent[row]);
    note(messages.destination[row], messages.arrived[row]);
    note(messages.destination[row], messages.received[row]);
  }
  return spans;
}

class Walker {
  constructor(trace) {
    this.messages = trace.messages;
    this.calls = lanes_by_rank(trace.calls, trace.duration);
    this.waits = lanes_by_rank(trace.waits, trace.duration);
    this.arrivals = arrivals_by_rank(trace);
    this.collectives = trace.collectives;
    this.entries = new Entries(trace);
  }

  // The latest arrival in (from, until] that may have ended the wait: a hop of a message's protocol, or a message that is received
  // before the call returns, or found by the waiting probe. Other arrivals are coincidences.
  ended_by(rank, from, until, returned) {
    const { list, times } = this.arrivals.get(rank) ?? { list: [], times: [] };
    const is_within = (time) => time > from && time <= returned;
    for (let i = first_above(times, until) - 1; i >= 0 && times[i] > from; i--) {
      const { hop, message } = list[i];
      if (hop >= 0 || is_within(this.messages.received[message]) || is_within(this.messages.probed[message])) return list[i];
    }
    return null;
  }

  /** The event that ended the last wait of `rank` before `time`: an arrival, or the entry of another rank into a collective; or null. */
  last_hold_up(rank, time) {
    const waits = this.waits.get(rank);
    if (!waits) return null;
    const calls = this.calls.get(rank);
    for (let i = first_above(waits.begin, time) - 1; i >= 0; i--) {
      const from = waits.begin[i];
      const end = Math.min(waits.end[i], time);
      const call = calls ? index_at(calls, from) : -1;
      // A woken rank may poll only after the wait, but still within the same call.
      const returned = call >= 0 ? Math.max(end, Math.min(calls.end[call], time)) : end;
      const until = i + 1 < waits.begin.length ? Math.max(end, Math.min(returned, waits.begin[i + 1])) : returned;
      const arrival = this.ended_by(rank, from, until, returned);
      if (arrival) return arrival;
      const late = this.entries.waited_for(rank, from, end);
      if (late >= 0 && this.collectives.begin[late] < time) {
        const entry = this.collectives.begin[late];
        return { source: this.collectives.rank[late], sent: entry, arrived: entry, message: -1, hop: -1, entered: late };
      }
    }
    return null;
  }

  stretch(rank, from, to, entered = -1) {
    const waiting = this.waits.has(rank) ? covered(this.waits.get(rank), from, to) : 0;
    const in_calls = this.calls.has(rank) ? covered(this.calls.get(rank), from, to) : 0;
    const calls = Math.max(0, in_calls - waiting);
    return { kind: 'rank', rank, source: -1, message: -1, hop: -1, entered, from, to, waiting, calls, computing: Math.max(0, to - from - calls - waiting) };
  }
}

/**
 * @param {object} trace its tables calls, waits, messages and hops may be empty
 * @returns {{stretches: Stretch[], totals: {computing, calls, waiting, wire}, by_rank: Map<number, object>}} stretches by time;
 *   sums in ns, by rank as {computing, calls, waiting, wire: of the messages that it sent}
 */
export function critical_path(trace) {
  const spans = spans_by_rank(trace);
  let rank = -1;
  for (const [each, span] of spans) if (rank < 0 || span.last > spans.get(rank).last) rank = each;
  const stretches = [];
  if (rank >= 0) {
    const walker = new Walker(trace);
    let time = spans.get(rank).last;
    for (;;) {
      const arrival = walker.last_hold_up(rank, time);
      const begin = arrival ? arrival.arrived : Math.min(spans.get(rank).first, time);
      if (begin < time) stretches.push(walker.stretch(rank, begin, time, arrival?.entered));
      if (!arrival) break;
      if (arrival.sent < arrival.arrived) {
        stretches.push({
          kind: 'wire', rank, source: arrival.source, message: arrival.message, hop: arrival.hop, entered: -1, from: arrival.sent, to: arrival.arrived,
          computing: 0, calls: 0, waiting: 0,
        });
      }
      rank = arrival.source;
      time = arrival.sent;
      if (!spans.has(rank)) break;
    }
  }
  return { stretches: stretches.reverse(), ...sums(stretches) };
}

function sums(stretches) {
  const nothing = () => ({ computing: 0, calls: 0, waiting: 0, wire: 0 });
  const totals = nothing();
  const by_rank = new Map();
  for (const stretch of stretches) {
    const who = stretch.kind === 'wire' ? stretch.source : stretch.rank;
    if (!by_rank.has(who)) by_rank.set(who, nothing());
    for (const sum of [totals, by_rank.get(who)]) {
      sum.computing += stretch.computing;
      sum.calls += stretch.calls;
      sum.waiting += stretch.waiting;
      if (stretch.kind === 'wire') sum.wire += stretch.to - stretch.from;
    }
  }
  return { totals, by_rank };
}
