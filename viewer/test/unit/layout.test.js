import assert from 'node:assert/strict';
import { test } from 'node:test';
import { collective_groups, collective_of_call, collective_picture, collective_pictures, rounds_of, rows_of_call } from '../../src/model/collective.js';
import { item_at, moved, place_rows } from '../../src/model/rows.js';
import { trace_of } from './trace_of.js';

const ranks = [0, 1, 2, 3].map((rank) => ({ rank, node: rank % 2 }));

test('ranks of a node are grouped below its heading', () => {
  const rows = place_rows(ranks, () => 1, true);
  assert.deepEqual(rows.items.map((item) => (item.kind === 'node' ? `node ${item.node}` : item.rank)), ['node 0', 0, 2, 'node 1', 1, 3]);
  rows.items.reduce((y, item) => {
    assert.equal(item.y, y);
    return y + item.height;
  }, 0);
  assert.equal(item_at(rows, rows.of_rank.get(2).y + 1).rank, 2);
  assert.equal(item_at(rows, rows.height), null);
});

test('without grouping, or with one node, there is no heading', () => {
  assert.deepEqual(place_rows(ranks, () => 1, false).items.map(({ rank }) => rank), [0, 1, 2, 3]);
  assert.equal(place_rows(ranks.map((rank) => ({ ...rank, node: 0 })), () => 1, true).items.length, 4);
});

test('a rank with threads is higher', () => {
  const rows = place_rows(ranks, (rank) => (rank === 1 ? 3 : 1), false);
  assert.equal(rows.of_rank.get(1).height, 3 * rows.of_rank.get(0).height);
});

test('rows are moved, but not beyond the ends', () => {
  assert.deepEqual(moved([0, 1, 2], 0, 1), [1, 0, 2]);
  assert.deepEqual(moved([0, 1, 2], 2, 1), [0, 1, 2]);
  assert.deepEqual(moved([0, 1, 2], 2, -2), [2, 0, 1]);
});

const sent = (pairs) => pairs.map(([from, to, round], row) => ({ from, to, round, row }));

test('a broadcast is a tree with its root on top', () => {
  const picture = collective_picture([0, 1, 2, 3], sent([[2, 0, 1], [2, 3, 2], [0, 1, 1]]));
  assert.equal(picture.shape, 'tree');
  const y = new Map(picture.nodes.map((node) => [node.rank, node.y]));
  assert.ok(y.get(2) < y.get(0) && y.get(0) < y.get(1) && y.get(0) === y.get(3));
  assert.equal(new Set(picture.nodes.map((node) => `${node.x} ${node.y}`)).size, 4, 'no two ranks at one place');
});

const top_of = (picture) => picture.nodes.reduce((best, node) => (node.y < best.y ? node : best)).rank;

test('a reduction is a tree whose root only receives', () => {
  const picture = collective_picture([0, 1, 2, 3], sent([[1, 2, 1], [0, 1, 1], [3, 2, 1]]));
  assert.equal(picture.shape, 'tree');
  assert.equal(top_of(picture), 2);
});

test('with both directions on one tree, the root is the rank to which the first messages lead', () => {
  const by_time = sent([[0, 1, 1], [2, 3, 1], [3, 1, 1], [1, 3, 1], [1, 0, 2], [3, 2, 2]]);
  const by_step = [3, 0, 1, 2, 4, 5].map((index) => by_time[index]);
  const picture = collective_picture([0, 1, 2, 3], by_step);
  assert.equal(picture.shape, 'tree');
  assert.equal(top_of(picture), 1);
});

test('a ring is drawn in its order, the messages of one edge together', () => {
  const picture = collective_picture([0, 1, 2, 3], sent([[0, 2, 1], [2, 1, 1], [1, 3, 1], [3, 0, 1], [0, 2, 2]]));
  assert.equal(picture.shape, 'ring');
  assert.deepEqual(picture.nodes.map(({ rank }) => rank), [0, 2, 1, 3]);
  assert.deepEqual(picture.edges[0], { from: 0, to: 2, rounds: [1, 2], rows: [0, 4] });
});

test('a scatter and its ring are two pictures; two phases of one tree are one', () => {
  const scatter = [[2, 0, 1], [2, 1, 1], [2, 3, 1]];
  const ring = [[0, 1, 2], [1, 2, 2], [2, 3, 2], [3, 0, 2]];
  const phase_of = ({ round }) => round - 1;
  const pictures = collective_pictures([0, 1, 2, 3], sent([...scatter, ...ring]), phase_of);
  assert.deepEqual(pictures.map(({ shape }) => shape), ['tree', 'ring']);
  assert.deepEqual(pictures.map(({ edges }) => edges.length), [3, 4]);
  const open_ring = collective_pictures([0, 1, 2, 3], sent([...scatter, [2, 3, 2], [3, 0, 2], [0, 1, 2]]), phase_of)[1];
  assert.deepEqual([open_ring.shape, ...open_ring.nodes.map(({ rank }) => rank)], ['ring', 2, 3, 0, 1]);
  const up_and_down = sent([[1, 0, 1], [2, 0, 1], [0, 1, 2], [0, 2, 2]]);
  assert.deepEqual(collective_pictures([0, 1, 2], up_and_down, phase_of).map(({ shape }) => shape), ['tree']);
});

test('all-to-all is a circle; a call without messages has no picture', () => {
  const all = [];
  for (let from = 0; from < 4; from++) for (let to = 0; to < 4; to++) if (from !== to) all.push([from, to, to]);
  assert.equal(collective_picture([0, 1, 2, 3], sent(all)).shape, 'circle');
  assert.equal(collective_picture([0, 1], []).shape, 'none');
});

test('a part of the messages (events were lost) still gives a picture with all ranks', () => {
  const picture = collective_picture([0, 1, 2, 3], sent([[0, 1, 1]]));
  assert.equal(picture.shape, 'circle');
  assert.equal(picture.nodes.length, 4);
});

test('rounds depend on the messages that a sender had received, not on the number that it sent', () => {
  // A barrier: 1 and 4 to 0, then 0 to both; 3 to 4 first.
  const messages = [[3, 4, 10, 20], [1, 0, 12, 22], [4, 0, 25, 35], [0, 4, 40, 50], [0, 1, 42, 52], [4, 3, 55, 65]]
    .map(([source, destination, sent, received]) => ({ source, destination, sent, received, arrived: received - 3, step: 1 }));
  const trace = trace_of({ messages });
  assert.deepEqual([...rounds_of(trace, [0, 1, 2, 3, 4, 5])].map(([, round]) => round), [1, 1, 2, 3, 3, 4]);
  messages[0].received = NaN;
  assert.equal(rounds_of(trace_of({ messages }), [0, 1, 2, 3, 4, 5]).get(2), 2, 'where it is not known when it was received, its arrival counts');
  messages[0].received = 30;
  assert.equal(rounds_of(trace_of({ messages }), [0, 1, 2, 3, 4, 5]).get(2), 1, 'what arrived, but was received only later, was not waited for');
});

test('rows of one call are found by its group; those without a group are separate', () => {
  const trace = trace_of({ collectives: [{ rank: 1, group: 3 }, { rank: 0, group: 3 }, { rank: 0, group: -1 }, { rank: 1, group: -1 }] });
  assert.deepEqual(rows_of_call(trace, 0), [1, 0]);
  assert.deepEqual(rows_of_call(trace, 2), [2]);
  assert.deepEqual([...collective_groups(trace).values()], [[0, 1], [2], [3]]);
});

test('a call\u2019s collective is found by rank and time', () => {
  const trace = trace_of({ calls: [{ rank: 0, begin: 10, end: 50 }, { rank: 0, begin: 60, end: 90 }, { rank: 1, begin: 10 }],
    collectives: [{ rank: 1, begin: 12, end: 40 }, { rank: 0, begin: 12, end: 49 }, { rank: 0, begin: 55, end: 58 }] });
  assert.deepEqual([0, 1, 2].map((call) => collective_of_call(trace, call)), [1, -1, 0]);
});
