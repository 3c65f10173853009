// Tests of column widths: beside a story no column of the list is cut; if there is less room, the list scrolls.
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
  test(`${width} pixels: all columns are visible beside or above the story, and the page itself does not scroll sideways`, async () => {
    const page = await opened(width);
    const { body, last, row } = await boxes(page);
    assert.ok(last.right <= body.right, `the last column ends at ${last.right}, the list at ${body.right}`);
    assert.ok(row.right <= body.right, `rows end at ${row.right}`);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth));
    assert.deepEqual(page.errors, []);
    await page.close();
  });
}

// The cells whose text is wider than the cell, and therefore ends in three dots.
const cut_cells = (page, columns) => page.evaluate((names) => {
  const heads = [...document.querySelectorAll('.panel.shown .rows-head > div')].map((head) => head.dataset.column);
  return [...document.querySelectorAll('.panel.shown .line')].flatMap((line) => names.map((name) => line.children[heads.indexOf(name)]))
    .filter((cell) => cell.scrollWidth > cell.clientWidth).map((cell) => cell.textContent);
}, columns);

const late_times = () => synthesize({ messages: 300, ranks: 6, nodes: 2, seed: 3, start: 15e9 });

for (const width of [1024, 1500, 2560]) {
  test(`${width} pixels: times keep their unit, and the columns "sent", "how" and "protocol" are not cut`, async () => {
    const page = await chromium.open(chromium.write(`late_${width}`, late_times()), { viewport: { width, height: 1000 } });
    assert.deepEqual(await cut_cells(page, ['sent', 'how', 'protocol']), []);
    await page.evaluate(() => window.margay.select(100));
    await until(page, () => /#/.test(document.querySelector('.story-text').textContent));
    assert.deepEqual(await cut_cells(page, ['sent', 'how', 'protocol']), []);
    assert.match(await page.evaluate(() => document.querySelector('.line > div:nth-child(2)').textContent), /\d{9} s$/);
    await page.click('#tab-collectives');
    assert.deepEqual(await cut_cells(page, ['begin']), []);
    await page.close();
  });
}

for (const width of [390, 480]) {
  test(`${width} pixels: the axis has two labels or more, which do not overlap`, async () => {
    const page = await chromium.open(path, { viewport: { width, height: 800 } });
    const labels = await page.evaluate(() => [...document.querySelectorAll('.time-axis .tick text')].map((each) => {
      const { left, right } = each.getBoundingClientRect();
      return { text: each.textContent, left, right };
    }).filter(({ text }) => text !== ''));
    assert.ok(labels.length >= 2, JSON.stringify(labels));
    labels.forEach((label, index) => assert.ok(index === 0 || labels[index - 1].right < label.left, JSON.stringify(labels)));
    await page.close();
  });
}

test('800 pixels: the list scrolls, and the names of its messages stay visible', async () => {
  const page = await opened(800);
  const before_it = await boxes(page);
  assert.ok(before_it.last.right > before_it.body.right);
  await page.evaluate(() => { document.querySelector('.rows-body').scrollLeft = 10000; });
  const { body, last, first, cell } = await boxes(page);
  assert.ok(last.right <= body.right + 1);
  for (const { left } of [first, cell]) assert.ok(Math.abs(left - body.left) < 2, `${left} and ${body.left}`);
  await page.close();
});
