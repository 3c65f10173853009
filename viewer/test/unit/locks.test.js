// Tests of the ranks for which MPI_Win_lock waited.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lock_waited_for } from '../../src/model/locks.js';
import { trace_of } from './trace_of.js';

const calls = [
  { rank: 2, name: 'MPI_Win_lock', begin: 100, end: 220, wait: 90 }, { rank: 1, name: 'MPI_Win_lock', begin: 10, end: 20, wait: 0 },
  { rank: 3, name: 'MPI_Win_lock', begin: 300, wait: 500 }, { rank: 4, name: 'MPI_Win_lock_all', begin: 90, end: 230, wait: 100 },
  { rank: 2, name: 'MPI_Recv', begin: 400, end: 500, wait: 90 }, { rank: 5, name: 'MPI_Win_lock', begin: 600, end: 700, wait: 20 },
];
const locks = [
  { rank: 0, window: 4, target: 0, from: 5, to: 50 },    // released before
  { rank: 1, window: 4, target: 0, from: 20, to: 200 },
  { rank: 6, window: 4, target: 1, from: 20, to: 200 },  // another target
  { rank: 7, window: 5, target: 0, from: 20, to: 200 },  // another window
  { rank: 2, window: 4, target: 0, from: 210, to: 290 },
  { rank: 4, window: 4, from: 225 },
  { rank: 5, window: 9, target: 3, from: 690 },
];

test('the holder of a lock during a call\u2019s wait is named', () => {
  const trace = trace_of({ calls, locks });
  const named = calls.map((_, row) => lock_waited_for(trace, row));
  assert.deepEqual(named, [
    'the lock of window 4 at rank 0, which rank 1 held meanwhile', '', 'the lock; its window and target are not in the trace',
    'the lock of window 4 at all its ranks, which ranks 1-2,6 held meanwhile', '',
    'the lock of window 9 at rank 3; no rank in the trace held it: it waited for the answer of its target']);
});
