// Where a story stands beside the list of messages, no column of the list is cut; where there is less room, the list scrolls.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { start_browser, synthesize, until } from './browser.js';

let chromium;
let path;
before(async () => {
  chromium = await start_browser();
  path = chromium.write('columns', synthesize({ messages: 300, ranks: 6, nodes: 2, seed: 3 }));
});
after(() => chromium.close());

const opened = async (width) => {
  const page = await chromium.open(path, { viewport: { width, height: 1000 } });
  await page.evaluate(() => window.margay.select(100));
  await until(page, () => /#/.test(document.querySelector('.story-text').textContent));
  return page;
};
const boxes = (page) => page.evaluate(() => {
  const box = (name) => { const { left, right } = document.querySelector(name).getBoundingClientRect(); return { left, right }; };
  return { body: box('.rows-body'), last: box('.rows-head > div:last-child'), first: box('.rows-head > div:first-child'), cell: box('.line > div:first-child'), row: box('.line') };
});

for (const width of [1024, 1280, 1400, 1920]) {
  test(`${width} pixels: all columns are in sight beside or above the story, and the page itself does not scroll sideways`, async () => {
    const page = await opened(width);
    const { body, last, row } = await boxes(page);
    assert.ok(last.right <= body.right, `the last column ends at ${last.right}, the list at ${body.right}`);
    assert.ok(row.right <= body.right, `rows end at ${row.right}`);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth));
    assert.deepEqual(page.errors, []);
    await page.close();
  });
}

test('800 pixels: the list scrolls, and the names of its messages stay', async () => {
  const page = await opened(800);
  const before_it = await boxes(page);
  assert.ok(before_it.last.right > before_it.body.right);
  await page.evaluate(() => { document.querySelector('.rows-body').scrollLeft = 10000; });
  const { body, last, first, cell } = await boxes(page);
  assert.ok(last.right <= body.right + 1);
  for (const { left } of [first, cell]) assert.ok(Math.abs(left - body.left) < 2, `${left} and ${body.left}`);
  await page.close();
});
