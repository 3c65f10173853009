// Tests of events of communication libraries.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { events_by_rank, events_of_call, rows_between, times_in_view } from '../../src/model/library_events.js';
import { times_of_rank } from '../../src/model/events.js';
import { trace_of } from './trace_of.js';

const library_events = [
  { rank: 0, time: 10, text: 'counter: asks rank 1', call: 0 }, { rank: 1, time: 12, text: 'counter: answers rank 0', call: 1 },
  { rank: 0, time: 14, text: 'counter: asks rank 1', call: 0 }, { rank: 0, time: 40, text: 'counter: asks rank 1' },
];

test('events are found by rank, time and call', () => {
  const trace = trace_of({ library_events });
  const of_rank = events_by_rank(trace);
  assert.deepEqual([...of_rank.keys()], [0, 1]);
  assert.deepEqual(rows_between(of_rank.get(0), 10, 14), [0, 2]);
  assert.deepEqual(rows_between(of_rank.get(0), 15, 39), []);
  assert.deepEqual(events_of_call(trace, 0), [0, 2]);
  assert.deepEqual([...times_of_rank(trace, 0)], [10, 14, 40]);
});

test('one event of each pixel is drawn', () => {
  const of_rank = events_by_rank(trace_of({ library_events }));
  assert.deepEqual(times_in_view(of_rank.get(0), 0, 100, 5), [10, 40]);
  assert.deepEqual(times_in_view(of_rank.get(0), 0, 100, 1), [10, 14, 40]);
  assert.deepEqual(times_in_view(of_rank.get(0), 11, 39, 1), [14]);
});
