import assert from 'node:assert/strict';
import { test } from 'node:test';
import { first_folding, folding_of, rows_of } from '../../src/model/fold.js';
import { items_between, place_rows } from '../../src/model/rows.js';
import { communication_matrix } from '../../src/model/matrix.js';
import { group_name } from '../../src/model/ranks_text.js';
import { all_rows, trace_of } from './trace_of.js';

// Each rank sends to its right neighbour in a ring, and then reduces. `change` may change the rows of a rank.
function ring(size, change = () => {}) {
  const tables = { calls: [], messages: [], collectives: [] };
  for (let rank = 0; rank < size; rank++) {
    const base = tables.calls.length;
    const calls = [{ rank, name: 'MPI_Isend', begin: 1, end: 2, depth: 0 }, { rank, name: 'MPI_Recv', begin: 3, end: 5, depth: 0 },
      { rank, name: 'MPI_Allreduce', begin: 6, end: 9, depth: 0 }];
    const messages = [{ source: rank, destination: (rank + 1) % size, bytes: 80, tag: 1, send_call: base, sent: 1, first: 1, last: 4 },
      { source: rank, destination: rank ^ 1, bytes: 8, tag: -1, send_call: base + 2, collective: tables.collectives.length, sent: 7, first: 7, last: 8 }];
    const collectives = [{ rank, name: 'MPI_Allreduce', communicator: 'MPI_COMM_WORLD', bytes: 8, begin: 6, end: 9, group: 0, call: base + 2 }];
    change(rank, { calls, messages, collectives });
    tables.calls.push(...calls);
    tables.messages.push(...messages);
    tables.collectives.push(...collectives);
  }
  return trace_of(tables, { ranks: Array.from({ length: size }, (_, rank) => ({ rank, node: Math.floor(rank / 4), file: true, lost: 0 })) });
}

const groups = (trace, fold = 'behaviour') => folding_of(trace, fold).groups;

test('ranks of a ring behave equally, whatever their parts of a collective call are', () => {
  assert.deepEqual(groups(ring(8)), [[0, 1, 2, 3, 4, 5, 6, 7]]);
});

test('a rank that differs in a call, an amount, a peer or a tag has another row', () => {
  const changes = {
    'a further call': ({ calls }) => calls.push({ rank: 3, name: 'MPI_Barrier', begin: 10, end: 11, depth: 0 }),
    'another call': ({ calls }) => { calls[0].name = 'MPI_Send'; },
    'another amount of a collective call': ({ collectives }) => { collectives[0].bytes = 16; },
  };
  for (const [what, change] of Object.entries(changes)) {
    assert.deepEqual(groups(ring(8, (rank, rows) => { if (rank === 3) change(rows); })), [[0, 1, 2, 4, 5, 6, 7], [3]], what);
  }
  // A message has two ends: those of rank 3 are 3 and 4, and with another peer 6.
  const message = (change) => groups(ring(8, (rank, rows) => { if (rank === 3) change(rows.messages[0]); })).map((group) => group.length).sort();
  assert.deepEqual(message((one) => { one.bytes = 81; }), [1, 1, 6]);
  assert.deepEqual(message((one) => { one.tag = 2; }), [1, 1, 6]);
  assert.deepEqual(message((one) => { one.destination = 6; }), [1, 1, 1, 5]);
});

test('times, nested calls and polls without a message do not count', () => {
  const trace = ring(8, (rank, { calls }) => {
    if (rank !== 3) return;
    calls[2].end = 20;
    calls.push({ rank, name: 'MPI_Send', begin: 7, end: 8, depth: 1 }, { rank, name: 'MPI_Test', begin: 21, end: 22, depth: 0 });
  });
  assert.deepEqual(groups(trace), [[0, 1, 2, 3, 4, 5, 6, 7]]);
});

test('the order in which one call moves messages does not count', () => {
  const pair = (first, second) => ({ calls: [{ rank: 0, name: 'MPI_Startall', begin: 1, end: 2, depth: 0 }],
    messages: [first, second].map((bytes) => ({ source: 0, destination: 1, bytes, tag: 1, send_call: 0 })) });
  const with_ranks = (tables) => trace_of(tables, { ranks: [0, 1].map((rank) => ({ rank, node: 0, file: true, lost: 0 })) });
  const join = (one, other) => with_ranks({ calls: [...one.calls, ...other.calls.map((call) => ({ ...call, rank: 1 }))],
    messages: [...one.messages, ...other.messages.map((message) => ({ ...message, source: 1, destination: 0, send_call: 1 }))] });
  assert.equal(groups(join(pair(1, 2), pair(2, 1))).length, 1);
  assert.equal(groups(join(pair(1, 2), pair(2, 2))).length, 2);
});

test('a new page folds many ranks: by behaviour, or by node if that gives few rows only', () => {
  assert.equal(first_folding(ring(64)).fold, 'none');
  assert.equal(first_folding(ring(68)).fold, 'behaviour');
  const all_differ = (rank, { calls }) => { for (let i = 0; i < rank; i++) calls.push({ rank, name: 'MPI_Barrier', begin: 10 + i, end: 11 + i, depth: 0 }); };
  const folding = first_folding(ring(68, all_differ));
  assert.equal(folding.fold, 'node');
  assert.deepEqual(folding.groups[1], [4, 5, 6, 7]);
});

test('a group is a row, which shows its selected rank; unfolded it is a heading and the rows of its ranks', () => {
  const trace = ring(8);
  const folding = folding_of(trace, 'node');
  const order = [0, 1, 2, 3, 4, 5, 6, 7];
  const text = (row) => (row.heading ? `[${row.heading}]` : `${row.rank}:${row.members}`);
  assert.deepEqual(rows_of(order, folding, new Set(), 0).map(text), ['0:0,1,2,3', '4:4,5,6,7']);
  assert.deepEqual(rows_of(order, folding, new Set(), 6).map(text), ['0:0,1,2,3', '6:4,5,6,7']);
  const unfolded = new Set([folding.groups[0]]);
  assert.deepEqual(rows_of([7, 1, 0, 2, 3, 4, 5, 6], folding, unfolded, 0).map(text), ['4:4,5,6,7', '[0,1,2,3]', '1:1', '0:0', '2:2', '3:3']);
});

test('each rank of a group has the position of its row', () => {
  const folding = folding_of(ring(8), 'node');
  const rows = place_rows(rows_of([0, 1, 2, 3, 4, 5, 6, 7], folding, new Set([folding.groups[1]]), 0), () => 1, false);
  assert.deepEqual(rows.items.map(({ kind }) => kind), ['rank', 'group', 'rank', 'rank', 'rank', 'rank']);
  assert.equal(rows.of_rank.get(2), rows.items[0]);
  assert.equal(rows.of_rank.get(5), rows.items[3]);
  const [second, third] = [rows.items[1], rows.items[2]];
  assert.deepEqual(items_between(rows, second.y, third.y), [second, third]);
  assert.deepEqual(items_between(rows, rows.height, rows.height + 9), []);
});

test('the matrix adds the messages of groups', () => {
  const trace = ring(8);
  const matrix = communication_matrix(trace, groups(trace, 'node'), all_rows(trace));
  assert.deepEqual([...matrix.messages], [7, 1, 1, 7]);
});

test('a long list of ranks is named by its first rank and their number', () => {
  assert.equal(group_name([3, 4, 5], 7), '3-5');
  assert.equal(group_name([3, 5, 7, 9], 6), '3… ×4');
});
