import assert from 'node:assert/strict';
import { test } from 'node:test';
import { critical_path } from '../../src/model/critical_path.js';
import { read_trace } from '../../src/data/trace.js';
import { synthesize } from '../synthesize.js';
import { trace_of } from './trace_of.js';

const short = ({ stretches }) => stretches.map(({ kind, rank, source, from, to }) => (kind === 'wire' ? [source, rank, from, to] : [rank, from, to]));

// Rank 1 waits in a receive from 100 to 520; rank 0 computes until 500 and then sends.
const late_sender = {
  calls: [{ rank: 0, begin: 0, end: 10 }, { rank: 0, begin: 490, end: 600 }, { rank: 1, begin: 90, end: 540 }, { rank: 1, begin: 800, end: 900 }],
  waits: [{ rank: 1, begin: 100, end: 530 }],
  messages: [{ source: 0, destination: 1, first: 495, sent: 500, arrived: 520, received: 525, last: 525 }],
};

test('an empty trace has an empty path', () => {
  const path = critical_path(trace_of({}));
  assert.deepEqual(path.stretches, []);
  assert.deepEqual(path.totals, { computing: 0, calls: 0, waiting: 0, wire: 0 });
});

test('with one rank the path is the whole run: computing and calls', () => {
  const path = critical_path(trace_of({ calls: [{ rank: 0, begin: 100, end: 200 }, { rank: 0, begin: 600, end: 650 }] }));
  assert.deepEqual(short(path), [[0, 100, 650]]);
  assert.deepEqual(path.totals, { computing: 400, calls: 150, waiting: 0, wire: 0 });
});

test('with a late sender the path goes from the receiver to the sender at the time of its send', () => {
  const path = critical_path(trace_of(late_sender));
  assert.deepEqual(short(path), [[0, 0, 500], [0, 1, 500, 520], [1, 520, 900]]);
  assert.deepEqual(path.totals, { computing: 480 + 260, calls: 10 + 10 + 10 + 100, waiting: 10, wire: 20 });
  assert.deepEqual(path.by_rank.get(1), { computing: 260, calls: 110, waiting: 10, wire: 0 });
  assert.equal(path.by_rank.get(0).wire, 20);
});

test('a message that arrived while its receiver computed is not on the path', () => {
  const path = critical_path(trace_of({ ...late_sender, waits: [] }));
  assert.deepEqual(short(path), [[1, 90, 900]]);
});

test('a message that merely arrived during a wait did not end it', () => {
  const trace = trace_of({ ...late_sender, messages: [...late_sender.messages,
    { source: 2, destination: 1, first: 300, sent: 510, arrived: 524, received: 850, last: 850 }] });
  assert.deepEqual(short(critical_path(trace)), [[0, 0, 500], [0, 1, 500, 520], [1, 520, 900]]);
});

test('a message that a probe waited for ends its wait, whenever it is received', () => {
  const [message] = late_sender.messages;
  const trace = (probed) => trace_of({ ...late_sender, messages: [{ ...message, received: 850, last: 850, probed }] });
  assert.deepEqual(short(critical_path(trace(525))), [[0, 0, 500], [0, 1, 500, 520], [1, 520, 900]]);
  assert.deepEqual(short(critical_path(trace(845))), [[1, 90, 900]]);
});

test('the last of several awaited messages ends a wait', () => {
  const trace = trace_of({ ...late_sender, messages: [...late_sender.messages,
    { source: 2, destination: 1, first: 505, sent: 505, arrived: 524, received: 526, last: 526 }] });
  assert.deepEqual(short(critical_path(trace)), [[2, 505, 505], [2, 1, 505, 524], [1, 524, 900]].slice(1));
});

test('with a late receiver the sender waits for the get, so the path goes to the receiver', () => {
  const trace = trace_of({
    calls: [{ rank: 0, begin: 0, end: 500 }, { rank: 0, begin: 900, end: 1000 }, { rank: 1, begin: 0, end: 20 }, { rank: 1, begin: 400, end: 480 }],
    waits: [{ rank: 0, begin: 50, end: 490 }],
    messages: [{ source: 0, destination: 1, first: 10, sent: 20, arrived: 60, received: 470, last: 480 }],
    hops: [{ message: 0, source: 1, destination: 0, sent: 70, arrived: 80 }, { message: 0, source: 1, destination: 0, sent: 420, arrived: 430 },
      { message: 0, source: 0, destination: 1, sent: 440, arrived: 450 }],
  });
  const path = critical_path(trace);
  assert.deepEqual(short(path), [[1, 0, 420], [1, 0, 420, 430], [0, 430, 1000]]);
  assert.deepEqual(path.stretches.map(({ message, hop }) => [message, hop]), [[-1, -1], [0, 1], [-1, -1]], 'by the second get');
});

test('a rank that is woken after the wait, in the same call, still follows the message', () => {
  const trace = trace_of({ ...late_sender, waits: [{ rank: 1, begin: 100, end: 515 }] });
  assert.deepEqual(short(critical_path(trace)), [[0, 0, 500], [0, 1, 500, 520], [1, 520, 900]]);
});

test('clocks that run backward do not make a circle', () => {
  const trace = trace_of({ ...late_sender, messages: [{ source: 0, destination: 1, first: 495, sent: 560, arrived: 520, received: 525 }] });
  assert.deepEqual(short(critical_path(trace)), [[1, 90, 900]]);
});

// Ranks 0 and 1 wait in a collective call through memory, which rank 2 enters at 500; then only rank 0 continues.
const shared_call = {
  calls: [{ rank: 0, name: 'MPI_Barrier', begin: 90, end: 520 }, { rank: 1, name: 'MPI_Barrier', begin: 190, end: 515 },
    { rank: 2, name: 'MPI_Barrier', begin: 495, end: 505 }, { rank: 2, name: 'MPI_Comm_rank', begin: 10, end: 20 }, { rank: 0, name: 'MPI_Comm_rank', begin: 890, end: 900 }],
  waits: [{ rank: 0, begin: 100, end: 515 }, { rank: 1, begin: 200, end: 510 }],
  collectives: [{ rank: 0, name: 'MPI_Barrier', group: 0, begin: 95, end: 518 }, { rank: 1, name: 'MPI_Barrier', group: 0, begin: 195, end: 512 },
    { rank: 2, name: 'MPI_Barrier', group: 0, begin: 500, end: 503 }],
};

test('from a wait in a collective call that no message ended the path goes to the rank that entered last', () => {
  const path = critical_path(trace_of(shared_call));
  assert.deepEqual(short(path), [[2, 10, 500], [0, 500, 900]]);
  assert.deepEqual(path.stretches.map(({ entered }) => entered), [-1, 2]);
  assert.equal(path.totals.waiting, 15);
});

test('if a message ended the wait in a collective call, the path follows the message', () => {
  const path = critical_path(trace_of({ ...shared_call, messages: [{ source: 1, destination: 0, first: 300, sent: 300, arrived: 400, received: 410, last: 410 }] }));
  assert.deepEqual(short(path).slice(-2), [[1, 0, 300, 400], [0, 400, 900]]);
});

test('ranks that enter at the same time do not make a circle', () => {
  const collectives = shared_call.collectives.map((row) => ({ ...row, begin: 95 }));
  assert.deepEqual(short(critical_path(trace_of({ ...shared_call, collectives }))), [[0, 90, 900]]);
});

test('two ranks that entered each other\u2019s calls at one time do not make a circle either', () => {
  const part = (rank, group, begin) => ({ rank, group, begin, end: 700 });
  const path = critical_path(trace_of({ calls: [{ rank: 1, begin: 80, end: 700 }, { rank: 2, begin: 80, end: 650 }],
    waits: [{ rank: 1, begin: 100, end: 600 }, { rank: 2, begin: 100, end: 600 }], collectives: [part(1, 0, 90), part(2, 0, 500), part(2, 1, 90), part(1, 1, 500)] }));
  assert.deepEqual(short(path), [[2, 80, 500], [1, 500, 700]]);
});

test('the path of a synthetic run has no gap, goes from rank to rank along messages, and its sums are its length', async () => {
  const data = synthesize({ messages: 3000, ranks: 7, seed: 5 });
  const trace = await read_trace(data.head, (number) => data.blobs[number].toString('base64'));
  const { stretches, totals } = critical_path(trace);
  assert.ok(stretches.length > 50);
  stretches.forEach((stretch, index) => {
    const next = stretches[index + 1];
    assert.ok(stretch.to > stretch.from);
    if (next) {
      assert.equal(next.from, stretch.to);
      assert.equal(next.kind === 'wire' ? next.source : next.rank, stretch.rank);
    }
  });
  const length = stretches.at(-1).to - stretches[0].from;
  const sum = totals.computing + totals.calls + totals.waiting + totals.wire;
  assert.ok(Math.abs(sum - length) < 1, `${sum} of ${length}`);
});
