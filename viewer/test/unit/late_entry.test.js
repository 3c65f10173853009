// Tests of late ranks in collective calls.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { entered_at, memory_sentence, span_of_call, taking_part } from '../../src/model/collective.js';
import { collective_passes, kNoFilter } from '../../src/model/filter.js';
import { Entries, late_by_site } from '../../src/model/late_entry.js';
import { trace_of } from './trace_of.js';

const call = (rank, name, begin, end) => ({ rank, name, site: `a.c:${rank}`, begin, end });
const part = (rank, name, group, begin, end) => ({ rank, name, group, begin, end, algorithm: 'shared', number: group, communicator: 'MPI_COMM_WORLD' });

test('the cost of the last rank to enter is the time that the others waited until then', () => {
  const trace = trace_of({
    calls: [call(0, 'MPI_Allgather', 0, 600), call(1, 'MPI_Allgather', 100, 600), call(2, 'MPI_Allgather', 500, 600)],
    waits: [{ rank: 0, begin: 20, end: 550 }, { rank: 1, begin: 150, end: 560 }, { rank: 2, begin: 520, end: 590 }],
    collectives: [part(0, 'MPI_Allgather', 0, 10, 590), part(1, 'MPI_Allgather', 0, 110, 590), part(2, 'MPI_Allgather', 0, 510, 590)],
  });
  const late = new Entries(trace).late();
  assert.deepEqual(late, [{ row: 2, call: 2, cost: 490 + 360, waited: 2 }]);
  assert.deepEqual(late_by_site(late, (row) => trace.text(trace.calls.site[row])), [{ site: 'a.c:2', cost: 850, calls: 1, worst: 2 }]);
  assert.deepEqual(new Entries(trace).late((row) => row !== 2), []);
});

test('a rank that left before the last one entered waited only for ranks that entered before it left', () => {
  const trace = trace_of({
    calls: [call(0, 'MPI_Bcast', 200, 210), call(1, 'MPI_Bcast', 0, 230), call(2, 'MPI_Bcast', 800, 810)],
    waits: [{ rank: 1, begin: 20, end: 220 }],
    collectives: [part(0, 'MPI_Bcast', 0, 205, 208), part(1, 'MPI_Bcast', 0, 10, 225), part(2, 'MPI_Bcast', 0, 805, 808)],
  });
  assert.deepEqual(new Entries(trace).late().map(({ row, cost }) => [row, cost]), [[0, 185]]);
});

test('a rank without a part in the call makes no rank wait, and waits for none', () => {
  const trace = trace_of({
    calls: [call(0, 'MPI_Bcast', 300, 310), call(1, 'MPI_Bcast', 0, 900), call(2, 'MPI_Bcast', 500, 510)],
    waits: [{ rank: 1, begin: 20, end: 890 }, { rank: 2, begin: 502, end: 505 }],
    collectives: [part(0, 'MPI_Bcast', 0, 302, 308), part(1, 'MPI_Bcast', 0, 10, 895), { ...part(2, 'MPI_Bcast', 0, 501, 508), no_part: 1 }],
  });
  const entries = new Entries(trace);
  assert.deepEqual(entries.late().map(({ row, cost, waited }) => [row, cost, waited]), [[0, 282, 1]]);
  assert.equal(entries.waited_for(1, 20, 890), 0);
  assert.deepEqual(taking_part(trace, [0, 1, 2]), [0, 1]);
});

test('a rank enters with its call, in which it prepares its part; its later parts begin within', () => {
  const trace = trace_of({
    calls: [call(0, 'MPI_Reduce', 100, 900), call(1, 'MPI_Reduce', 300, 900), call(0, 'MPI_Start', 910, 911), call(1, 'MPI_Start', 920, 921)],
    waits: [{ rank: 1, begin: 360, end: 790 }],
    collectives: [{ ...part(1, 'MPI_Reduce', 0, 350, 890), call: 1 }, { ...part(0, 'MPI_Reduce', 0, 800, 890), call: 0 },
      { ...part(1, 'MPI_Reduce', 1, 892, 895), call: 1 }, { ...part(0, 'MPI_Reduce', 1, 893, 895), call: 0 },
      { ...part(0, 'persistent bcast', 2, 910.5, 912), call: 2 }],
  });
  assert.deepEqual([...entered_at(trace)], [300, 100, 892, 893, 910.5]);
  assert.deepEqual(new Entries(trace).late(), []);
  assert.equal(new Entries(trace).waited_for(1, 360, 805), 1);
  assert.deepEqual(span_of_call(trace, 0), [100, 890]);
});

test('waits in other calls do not belong to a nonblocking call', () => {
  const trace = trace_of({
    calls: [call(0, 'MPI_Ibarrier', 0, 10), call(0, 'MPI_Recv', 20, 120), call(0, 'MPI_Wait', 150, 420), call(1, 'MPI_Ibarrier', 400, 410)],
    waits: [{ rank: 0, begin: 30, end: 110 }, { rank: 0, begin: 160, end: 415 }],
    collectives: [part(0, 'MPI_Ibarrier', 0, 5, 416), part(1, 'MPI_Ibarrier', 0, 402, 409)],
  });
  assert.deepEqual(new Entries(trace).late(), [{ row: 1, call: 3, cost: 242, waited: 1 }]);
});

test('a filter applies to collective calls, and a sentence explains missing messages', () => {
  const trace = trace_of({ collectives: [part(0, 'MPI_Bcast', 0, 5, 8), part(3, 'MPI_Bcast', 0, 5, 8), part(3, 'MPI_Reduce', 1, 15, 18),
    { ...part(3, 'MPI_Scan', 2, 25, 28), algorithm: 'tree' }] });
  const passes = (filter, row, members) => collective_passes(trace, { ...kNoFilter, ...filter }, row, members);
  assert.ok(passes({}, 0));
  assert.ok(passes({ text: 'bcast' }, 0) && !passes({ text: 'bcast' }, 2));
  assert.ok(passes({ text: 'rank 3' }, 0, [0, 1]) && !passes({ text: 'rank 3' }, 0, [0]));
  assert.ok(!passes({ ranks: '5' }, 0) && !passes({ communicator: 'other' }, 0));
  assert.equal(memory_sentence(trace), 'No messages: 2 collective calls met in the node\u2019s memory.');
  assert.equal(memory_sentence(trace_of({})), '');
});
