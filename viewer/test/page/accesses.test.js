// Tests of one-sided accesses on the timeline, in Chromium.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { start_browser, synthesize } from './browser.js';

const common = { window: 'window "halo"', epoch: 'fence', bytes: 64, offset: 128 };
const kAccesses = [
  { ...common, rank: 0, target: 2, what: 'put', way: 'direct', copies: 'direct: rank 0 copies it once, in memory that is mapped there', call: 0, begin: 100, end: 300 },
  { ...common, rank: 0, target: 2, what: 'get', way: 'process', copies: 'rank 0 copies it once, out of rank 2\'s memory (process_vm_readv)', begin: 400, end: 600 },
  { ...common, rank: 1, target: 0, what: 'accumulate', way: 'message', copies: 'by message', begin: 700, end: 900 },
];

let chromium;
let page;
before(async () => {
  chromium = await start_browser();
  page = await chromium.open(chromium.write('accesses', synthesize({ messages: 40, ranks: 3, nodes: 1, seed: 5, accesses: kAccesses })));
  await page.evaluate(() => {  // no message's arrow may cover them
    window.margay.filter({ text: 'nothing is called like this' });
    window.margay.zoom(0, 1000);
  });
});
after(() => chromium.close());

const click = async (row) => {
  const { x, y } = await page.evaluate((access) => window.margay.positionOfAccess(access), row);
  await page.mouse.move(x, y);
  await page.waitForSelector('.tooltip:not([hidden])');
  const tooltip = await page.textContent('.tooltip');
  await page.mouse.click(x, y);
  return tooltip;
};

test('one-sided accesses are in the legend, and counted', async () => {
  assert.match(await page.textContent('.legend'), /put, get, accumulate \(one-sided\)/);
  assert.match(await page.textContent('.arrow-count'), /; 3 one-sided accesses$/);
});

test('a click shows the facts about an access: its origin, its target, and its method', async () => {
  const shown = [];
  for (const row of kAccesses.keys()) {
    const tooltip = await click(row);
    assert.deepEqual(await page.evaluate(() => window.margay.state().selected), { kind: 'access', row });
    shown.push([tooltip.slice(0, 16), await page.textContent('.story h2'), await page.textContent('.facts')]);
  }
  assert.deepEqual(shown.map(([, title]) => title), ['One-sided: put 0>2, 64 bytes', 'One-sided: get 0>2, 64 bytes', 'One-sided: accumulate 1>0, 64 bytes']);
  assert.match(shown[0][2], /targetrank 2, window "halo".*offset128.*epochfence.*waymemory that both have mapped: no message/);
  assert.match(shown[1][2], /waythe other process's memory, by the operating system: no message.*process_vm_readv/);
  assert.match(shown[2][2], /waymessages/);
});

test('the call that made an access names it, and the list of messages refers to it', async () => {
  await page.evaluate(() => window.margay.select_call(0));
  assert.match(await page.textContent('.facts'), /accessesput 0>2, 64 bytes $/);
  await page.click('.facts button:has-text("put 0>2")');
  assert.deepEqual(await page.evaluate(() => window.margay.state().selected), { kind: 'access', row: 0 });
  assert.equal(await page.textContent('#message-count'), 'No message passes the filter. 3 one-sided accesses, on the timeline and with their calls, whatever the filter.');
});

test('a get\'s arrow leads from its target to its origin, in the direction of its data', async () => {
  const ends = await page.evaluate(() => [0, 1].map((row) => window.margay.endsOfAccess(row)));
  assert.ok(ends[0].y0 < ends[0].y1, 'the put leads down, from rank 0 to rank 2');
  assert.ok(ends[1].y0 > ends[1].y1, 'the get leads up, from rank 2 to rank 0');
  assert.ok(ends.every(({ x0, x1 }) => x0 < x1));
});

test('the key z zooms to the selected access', async () => {
  await page.evaluate(() => window.margay.select_access(2));
  await page.keyboard.press('z');
  const { from, to } = await page.evaluate(() => window.margay.state());
  assert.ok(from < 700 && from > 600 && to > 900 && to < 1000, `${from} to ${to}`);
  assert.deepEqual(page.errors, []);
});
