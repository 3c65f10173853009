// The ranks that a call that locks a window waited for.
import { text_of_ranks } from './ranks_text.js';

const kLocks = /^P?MPI_Win_lock(_all)?$/;

/**
 * What the locking call `call` (a row of calls) waited for: "the lock of window 4 at rank 0, which rank 1 held"; "" when
 * it did not wait or locks nothing. If several origins shared a lock, all may be named: the trace does not record which one was
 * decisive.
 */
export function lock_waited_for(trace, call) {
  const { calls, locks } = trace;
  if (!(calls.wait[call] > 0) || !kLocks.test(trace.text(calls.name[call]))) return '';
  const [rank, begin, end] = [calls.rank[call], calls.begin[call], calls.end[call]];
  let own = -1;
  for (let row = 0; row < locks.rows && own < 0; row++) {
    if (locks.rank[row] === rank && locks.from[row] >= begin && !(locks.from[row] > end)) own = row;
  }
  if (own < 0) return 'the lock; its window and target are not in the trace';
  const all = locks.target[own] < 0;
  const holders = new Set();
  for (let row = 0; row < locks.rows; row++) {
    const same = locks.window[row] === locks.window[own] && (all || locks.target[row] < 0 || locks.target[row] === locks.target[own]);
    if (same && locks.rank[row] !== rank && locks.from[row] < locks.from[own] && !(locks.to[row] <= begin)) holders.add(locks.rank[row]);
  }
  const what = `the lock of window ${locks.window[own]} at ${all ? 'all its ranks' : `rank ${locks.target[own]}`}`;
  if (holders.size === 0) return `${what}; no rank in the trace held it: it waited for the answer of ${all ? 'its targets' : 'its target'}`;
  return `${what}, which ${holders.size === 1 ? 'rank' : 'ranks'} ${text_of_ranks(holders)} held meanwhile`;
}
