// Tests of the view of the difference between two runs, in Chromium.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { start_browser, synthesize } from './browser.js';

const run = (folder, more = {}) => ({ folder, ranks: 3, clock: 'virtual', notes: [], path: [0, 1], ...more });
const kCalls = {
  id: 'calls', title: 'calls of MPI', measures: [{ name: 'calls', unit: 'count' }, { name: 'time', unit: 'ns' }, { name: 'sent bytes', unit: 'bytes' }],
  rows: [{ name: 'MPI_Send', a: [2, 5000, 80], b: [3, 4000, 80] }, { name: 'MPI_New', a: [0, 0, 0], b: [1, 10, 0] }, { name: 'MPI_Recv', a: [1, 2, 3], b: [1, 2, 3] }, { name: 'MPI_Test', a: [2, 0, 0], b: [202, 0, 0] }],
};
const kEqual = { id: 'pairs', title: 'pairs of ranks', measures: [{ name: 'messages', unit: 'count' }], rows: [{ name: '0 > 1', a: [7], b: [7] }] };
const difference = (more = {}) => ({
  version: 1, a: run('traces/a'), b: run('traces/b', { path: [2, 1, 0] }), equal_counts: false, equal_times: false, sections: [kCalls, kEqual], ...more,
});

let chromium;
before(async () => { chromium = await start_browser(); });
after(() => chromium.close());

async function open(name, compared) {
  const data = synthesize({ messages: 40, ranks: 3, nodes: 1, seed: 5 });
  if (compared) data.head.difference = compared;
  return chromium.open(chromium.write(name, data));
}
const lines = (page, place) => page.locator(place).evaluateAll((rows) => rows.map((row) => [...row.children].map(({ textContent }) => textContent)));

test('a page that compares no run has no such view', async () => {
  const page = await open('alone');
  assert.equal(await page.locator('#tab-difference').count(), 0);
  assert.deepEqual(page.errors, []);
});

test('each measure that differs has a line, and equal rows are only counted', async () => {
  const page = await open('compared', difference());
  await page.click('#tab-difference');
  assert.deepEqual(await lines(page, '[data-section="calls"] tbody tr'), [
    ['MPI_Send', 'calls', '2', '3', '+1 (+50 %)'], ['', 'time', '5.00 us', '4.00 us', '\u22121.00 us (\u221220 %)'],
    ['MPI_New', 'calls', '0', '1', '+1'], ['', 'time', '0 ns', '10 ns', '+10 ns'], ['MPI_Test', 'calls', '2', '202', '+200 (x 101)']]);
  assert.match(await page.textContent('[data-section="calls"] caption'), /1 row is equal/);
  assert.equal(await page.locator('[data-section="pairs"]').count(), 0);
  const text = await page.textContent('#panel-difference');
  for (const part of ['traces/a', 'traces/b', '2 \u203a 1 \u203a 0']) assert.ok(text.includes(part), part);
  assert.deepEqual(page.errors, []);
});

test('equal runs have no tables', async () => {
  const page = await open('equal', difference({ b: run('traces/b'), equal_counts: true, equal_times: true, sections: [kEqual] }));
  await page.click('#tab-difference');
  assert.equal(await page.locator('#panel-difference table').count(), 0);
  assert.match(await page.textContent('#panel-difference .verdict'), /equal/);
});

test('a long section is cut, and its caption has the number of rows', async () => {
  const rows = Array.from({ length: 70 }, (_, i) => ({ name: `${i} > 0`, a: [0], b: [i + 1] }));
  const page = await open('long', difference({ sections: [{ ...kEqual, rows }] }));
  await page.click('#tab-difference');
  assert.equal(await page.locator('[data-section="pairs"] tbody tr').count(), 50);
  assert.match(await page.textContent('[data-section="pairs"] caption'), /70/);
});
