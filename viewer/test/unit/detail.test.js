import assert from 'node:assert/strict';
import { test } from 'node:test';
import { read_trace } from '../../src/data/trace.js';
import { ArrowLevels, pairs_of } from '../../src/model/arrows.js';
import { visit_spans } from '../../src/model/detail.js';
import { covered, index_at, make_lanes } from '../../src/model/lanes.js';
import { synthesize } from '../synthesize.js';
import { all_rows, trace_of } from './trace_of.js';

const calls = [{ rank: 1, begin: 50, end: 60 }, { rank: 0, begin: 30, end: 40 }, { rank: 0, begin: 10, end: 20 }, { rank: 0, begin: 12, end: 15, depth: 1 },
  { rank: 0, begin: 900 }];

function spans(lane, from, to, width) {
  const found = [];
  visit_spans(lane, from, to, width, (x0, x1, index, share, count) => found.push({ x0, x1, index, share, count }));
  return found;
}

async function invented(options) {
  const data = synthesize(options);
  return read_trace(data.head, (number) => data.blobs[number].toString('base64'));
}

test('lanes are by rank and depth, and sorted; a call without an end ends with the trace', () => {
  const lanes = make_lanes(trace_of({ calls }).calls, 1000);
  assert.deepEqual(lanes.map(({ rank, depth, rows }) => [rank, depth, [...rows]]), [[0, 0, [2, 1, 4]], [0, 1, [3]], [1, 0, [0]]]);
  assert.deepEqual([...lanes[0].end], [20, 40, 1000]);
  assert.deepEqual([5, 10, 20, 25, 999].map((time) => index_at(lanes[0], time)), [-1, 0, 0, -1, 2]);
  assert.equal(covered(lanes[0], 0, 1000), 120);
  assert.equal(covered(lanes[0], 15, 35), 10);
  assert.equal(covered(lanes[0], 35, 15), 0);
});

test('calls of a pixel and more are separate bars, cut at the view', () => {
  const [lane] = make_lanes(trace_of({ calls }).calls, 1000);
  assert.deepEqual(spans(lane, 15, 65, 100), [{ x0: 0, x1: 10, index: 0, share: 1, count: 1 }, { x0: 30, x1: 50, index: 1, share: 1, count: 1 }]);
});

test('narrow calls are drawn by the pixel, with the share that they cover; a wide one beside them stays separate', () => {
  const many = Array.from({ length: 100 }, (_, index) => ({ rank: 0, begin: index * 10, end: index * 10 + 5 }));
  many.push({ rank: 0, begin: 996, end: 3000 });
  const [lane] = make_lanes(trace_of({ calls: many }).calls, 3000);
  const found = spans(lane, 0, 3000, 30);  // a pixel is 100 ns
  assert.equal(found.length, 11);
  found.slice(0, 10).forEach(({ x0, share, count }, index) => {
    assert.equal(x0, index);
    assert.equal(count, 10);
    assert.ok(Math.abs(share - 0.5) < 1e-9);
  });
  assert.deepEqual(found[10].index, 100);
});

test('the work depends on the pixels: 200,000 calls are at most two spans for each pixel, and none is lost', () => {
  const table = { rows: 200000, rank: new Uint32Array(200000), thread: new Uint8Array(200000), begin: new Float64Array(200000), end: new Float64Array(200000) };
  for (let row = 0; row < table.rows; row++) {
    table.begin[row] = row * 10;
    table.end[row] = row * 10 + 1 + (row % 7);
  }
  const [lane] = make_lanes(table, 2000000);
  for (const width of [100, 777, 1500]) {
    const found = spans(lane, 0, 2000000, width);
    assert.ok(found.length <= 2 * width + 2, `${found.length} spans`);
    assert.equal(found.reduce((sum, { count }) => sum + count, 0), 200000);
  }
});

test('few messages are all drawn, also those that only cross the view', () => {
  const trace = trace_of({ messages: [{ source: 0, destination: 1, first: 0, last: 500 }, { source: 0, destination: 1, first: 10, last: 20 },
    { source: 1, destination: 0, first: 300, last: 310 }, { source: 1, destination: 0, first: 800, last: NaN }] });
  const levels = new ArrowLevels(trace.messages, all_rows(trace), pairs_of(trace.messages));
  const { rows, begin, end, whole } = levels.visible(250, 400, 1, 100);
  assert.ok(whole);
  assert.ok([0, 2].every((row) => [...rows.slice(begin, end)].includes(row)));
  assert.ok(![...rows.slice(begin, end)].includes(3));
});

test('of many messages at most the requested number is drawn, with every pair of ranks and the longest message', async () => {
  const trace = await invented({ messages: 20000, ranks: 6 });
  const { messages } = trace;
  const pairs = pairs_of(messages);
  const levels = new ArrowLevels(messages, all_rows(trace), pairs);
  const { rows, begin, end, whole, under_way } = levels.visible(0, trace.duration, trace.duration / 1000, 2000);
  assert.equal(whole, false);
  assert.ok(end - begin <= 2000 && end - begin > 100, `${end - begin}`);
  assert.ok(under_way >= 20000);
  const shown = rows.slice(begin, end);
  assert.equal(new Set(Array.from(shown, (row) => pairs.of_message[row])).size, pairs.count);
  const length = (row) => messages.last[row] - messages.first[row];
  const longest = all_rows(trace).reduce((best, row) => (length(row) > length(best) ? row : best));
  assert.ok(shown.includes(longest));
  assert.ok(shown.every((row, index) => index === 0 || row > shown[index - 1]), 'by time, each once');
});

test('at a close zoom all messages are drawn', async () => {
  const trace = await invented({ messages: 20000, ranks: 6 });
  const levels = new ArrowLevels(trace.messages, all_rows(trace), pairs_of(trace.messages));
  const [from, to] = [trace.duration / 2, trace.duration / 2 + 100000];
  const { rows, begin, end, whole } = levels.visible(from, to, 100, 2000);
  assert.ok(whole);
  const crossing = all_rows(trace).filter((row) => trace.messages.first[row] <= to && trace.messages.last[row] >= from);
  const shown = new Set(rows.slice(begin, end));
  assert.ok(crossing.length > 5 && crossing.every((row) => shown.has(row)));
});

test('a call whose begin was overwritten begins with the trace', () => {
  const [lane] = make_lanes(trace_of({ calls: [{ rank: 0, begin: 30, end: 40 }, { rank: 0, end: 20 }] }).calls, 1000);
  assert.deepEqual([[...lane.rows], [...lane.begin]], [[1, 0], [0, 30]]);
});
