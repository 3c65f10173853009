// Ranks that entered a collective call late, and how long the others waited; also for calls without messages, in shared memory.
import { category_of, kCategories } from './categories.js';
import { first_above } from '../base/bisect.js';
import { collective_groups, entered_at, taking_part } from './collective.js';
import { make_lanes } from './lanes.js';

const kThreads = 256;

/** The entries into all collective calls of a trace, indexed by rank. */
export class Entries {
  /** @param {object} trace its tables calls, waits, collectives */
  constructor(trace) {
    this.trace = trace;
    const { collectives } = trace;
    this.members = new Map();  // row of collectives to the rows of its call
    this.groups = [...collective_groups(trace).values()].map((rows) => taking_part(trace, rows)).filter((rows) => rows.length > 1);
    for (const rows of this.groups) for (const row of rows) this.members.set(row, rows);
    this.rows_of_rank = new Map();
    for (const row of this.members.keys()) {
      const rank = collectives.rank[row];
      if (!this.rows_of_rank.has(rank)) this.rows_of_rank.set(rank, []);
      this.rows_of_rank.get(rank).push(row);
    }
    for (const rows of this.rows_of_rank.values()) rows.sort((a, b) => collectives.begin[a] - collectives.begin[b]);
    const by_thread = (table) => new Map(make_lanes(table, trace.duration).filter(({ depth }) => depth === 0)
      .map((lane) => [lane.rank * kThreads + lane.thread, lane]));
    this.calls = by_thread(trace.calls);
    this.waits = by_thread(trace.waits);
  }

  #end(row) {
    const end = this.trace.collectives.end[row];
    return Number.isNaN(end) ? this.trace.duration : end;
  }

  // The other rank of `row`'s call that is last in (from, until] by `times`, as a row; -1 if there is none.
  #last_of_others(row, times, from, until) {
    let last = -1;
    for (const other of this.members.get(row) ?? []) {
      if (other !== row && times[other] > from && times[other] <= until && (last < 0 || times[other] > times[last])) last = other;
    }
    return last;
  }

  /**
   * The late rank, as a row of collectives, for whose beginning `rank` waited over [from, until]; -1 if for none. The late rank may
   * have entered its call earlier, to prepare its part.
   */
  waited_for(rank, from, until) {
    const { begin } = this.trace.collectives;
    const rows = this.rows_of_rank.get(rank) ?? [];
    let low = 0;
    let high = rows.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (begin[rows[middle]] <= from) low = middle + 1;
      else high = middle;
    }
    for (let i = low - 1; i >= 0 && i >= low - 16; i--) {  // several overlap only if calls do not block
      if (this.#end(rows[i]) < from) continue;
      const late = this.#last_of_others(rows[i], begin, from, until);
      if (late >= 0) return late;
    }
    return -1;
  }

  /** The program's call to which a row of collectives belongs, and the waits of its thread: {call: row of calls or -1, waits: lane or null}. */
  call_of(row) {
    const { collectives, text, calls } = this.trace;
    const rank = collectives.rank[row];
    const known = collectives.call[row];  // unknown if several threads of the rank call MPI
    if (known >= 0 && calls.depth[known] === 0) return { call: known, waits: this.waits.get(rank * kThreads + calls.thread[known]) ?? null };
    let found = { call: -1, waits: this.waits.get(rank * kThreads) ?? null };
    for (let thread = 0; thread < kThreads; thread++) {
      const lane = this.calls.get(rank * kThreads + thread);
      if (!lane) break;
      const index = first_above(lane.begin, collectives.begin[row]) - 1;
      if (index < 0 || lane.end[index] < collectives.begin[row]) continue;
      const call = lane.rows[index];
      const here = { call, waits: this.waits.get(rank * kThreads + thread) ?? null };
      if (text(calls.name[call]) === text(collectives.name[row])) return here;
      if (found.call < 0) found = here;
    }
    return found;
  }

  // How long a rank waited from its entry until `until`, within its call or while it completed a nonblocking one.
  #waited(row, until) {
    const { trace } = this;
    const { call, waits } = this.call_of(row);
    if (!waits) return 0;
    const from = entered_at(trace)[row];
    const lane = call < 0 ? null : this.calls.get(trace.calls.rank[call] * kThreads + trace.calls.thread[call]);
    let sum = 0;
    for (let i = Math.max(0, first_above(waits.begin, from) - 1); i < waits.begin.length && waits.begin[i] < until; i++) {
      const length = Math.min(waits.end[i], until) - Math.max(waits.begin[i], from);
      if (!(length > 0)) continue;
      const around = lane ? lane.rows[Math.max(0, first_above(lane.begin, waits.begin[i]) - 1)] : call;
      if (around === call || kCategories[category_of(trace.text(trace.calls.name[around]))].id === 'complete') sum += length;
    }
    return sum;
  }

  /**
   * For each call, how long its ranks waited until the last of the others had entered. A rank that left before another entered
   * did not wait for it; the root of a broadcast, for example, need not.
   * @param {(row: number) => boolean} wanted whether a late rank's row of collectives counts
   * @returns {{row: number, call: number, cost: number, waited: number}[]} late ranks, the costliest first; `waited`: how many waited
   */
  late(wanted = () => true) {
    const entered = entered_at(this.trace);
    const late = [];
    for (const rows of this.groups) {
      const costs = new Map();
      for (const row of rows) {
        const last = this.#last_of_others(row, entered, entered[row], this.#end(row));
        if (last < 0) continue;
        const cost = this.#waited(row, entered[last]);
        if (!(cost > 0)) continue;
        const sum = costs.get(last) ?? { row: last, call: -1, cost: 0, waited: 0 };
        costs.set(last, { ...sum, cost: sum.cost + cost, waited: sum.waited + 1 });
      }
      for (const sum of costs.values()) if (wanted(sum.row)) late.push({ ...sum, call: this.call_of(sum.row).call });
    }
    return late.sort((a, b) => b.cost - a.cost || a.row - b.row);
  }
}

/** `late` by call site of the late rank: [{site, cost, calls, worst: row of collectives}], the costliest first. */
export function late_by_site(late, site_of) {
  const sites = new Map();
  for (const { row, call, cost } of late) {
    const site = site_of(call);
    const sum = sites.get(site) ?? { site, cost: 0, calls: 0, worst: row };
    sites.set(site, { ...sum, cost: sum.cost + cost, calls: sum.calls + 1 });
  }
  return [...sites.values()].sort((a, b) => b.cost - a.cost);
}
