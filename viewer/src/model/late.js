// Late senders and receivers: messages by the time that the other rank waited for them, and the same by call site.
import { text_of_ranks } from './ranks_text.js';

/**
 * @param {'receiver_waited' | 'sender_waited'} column the first for late senders, the second for late receivers
 * @param {Int32Array} rows messages that count
 * @returns {{rows: Int32Array, total: number}} the messages that another rank waited for, the costliest first; total in ns
 */
export function by_cost(trace, rows, column) {
  const cost = trace.messages[column];
  const kept = rows.filter((row) => cost[row] > 0).sort((a, b) => cost[b] - cost[a]);
  let total = 0;
  for (let i = 0; i < kept.length; i++) total += cost[kept[i]];
  return { rows: kept, total };
}

/** A sentence that names the ranks for whose waits the cause is unknown; "" if there are none. */
export function not_known(trace) {
  const threads = new Set(trace.ranks.filter((each) => each.threads > 1).map(({ rank }) => rank));
  return threads.size === 0 ? '' : `Not known for ranks ${text_of_ranks(threads)}: several threads call MPI.`;
}

/** The call of the late rank: of the sender for `receiver_waited`, else of the receiver; row of calls or -1. */
export function late_call(trace, message, column) {
  return trace.messages[column === 'receiver_waited' ? 'send_call' : 'receive_call'][message];
}

/** "MPI_Send (heat.c:41)". */
export function call_text(trace, call) {
  if (call < 0) return 'call not known';
  const site = trace.text(trace.calls.site[call]);
  const name = trace.text(trace.calls.name[call]);
  return site === '' ? name : `${name} (${site})`;
}

/** Sums of `by_cost` for each call site of the late rank: [{site, cost, messages, worst: row}], the costliest first. */
export function by_site(trace, rows, column) {
  const sites = new Map();
  for (const row of rows) {
    const site = call_text(trace, late_call(trace, row, column));
    const cost = trace.messages[column][row];
    const sum = sites.get(site);
    if (sum) {
      sum.cost += cost;
      sum.messages++;
    } else {
      sites.set(site, { site, cost, messages: 1, worst: row });  // rows are sorted, the costliest first
    }
  }
  return [...sites.values()].sort((a, b) => b.cost - a.cost);
}
