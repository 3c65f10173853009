// Tests of the folded rows of many ranks, in Chromium.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { start_browser, synthesize } from './browser.js';

const kRanks = 100;

let chromium;
let page;
before(async () => {
  chromium = await start_browser();
  const late = (rank) => ({ rank, name: 'MPI_Barrier', begin: 1e9, end: 1e9 + 10, depth: 0 });
  page = await chromium.open(chromium.write('many', synthesize({ messages: 2000, ranks: kRanks, nodes: 25, rows: { calls: [late(7), late(40)] } })));
});
after(() => chromium.close());

const state = (what) => page.evaluate((name) => window.margay.state()[name], what);
const labels = () => page.locator('.rank-label span').allTextContents();
const test_page = (name, body) => test(name, async () => {
  await page.evaluate(() => {
    document.activeElement.blur();
    window.margay.reset();
  });
  await body();
  assert.deepEqual(page.errors, []);
});

test_page('many ranks are folded by their behaviour', async () => {
  assert.equal(await page.inputValue('#folding'), 'behaviour');
  assert.deepEqual(await labels(), ['rank 0', 'rank 7']);
  assert.deepEqual(await page.locator('.fold-button').allTextContents(), ['▸ 98', '▸ 2']);
  // Rows have room for the whole group: nothing lies over the timeline, and labels do not overlap.
  const [label, button] = await Promise.all(['.rank-label >> nth=0', '.fold-button >> nth=0'].map((place) => page.locator(place).boundingBox()));
  const text = await page.locator('.rank-label span >> nth=0').boundingBox();
  assert.ok(button.x >= text.x + text.width && button.x + button.width <= label.x + label.width + 1);
});

test_page('a click on a group unfolds it, another one folds it', async () => {
  await page.click('.fold-button[data-group="7"]');
  assert.deepEqual(await labels(), ['rank 0', 'rank 7', 'rank 40']);
  assert.deepEqual(await state('unfolded'), [7]);
  assert.equal(await page.getAttribute('.group-label', 'aria-expanded'), 'true');
  await page.click('.group-label');
  assert.deepEqual(await labels(), ['rank 0', 'rank 7']);
});

test_page('keys fold, unfold, and step over rows', async () => {
  await page.keyboard.press('ArrowDown');
  assert.equal(await state('rank'), 7);
  await page.keyboard.press('o');
  await page.keyboard.press('ArrowDown');
  assert.equal(await state('rank'), 40);
  await page.keyboard.press('o');
  assert.deepEqual(await labels(), ['rank 0', 'rank 40'], 'the group shows its selected rank');
  await page.keyboard.press('g');
  assert.equal(await page.inputValue('#folding'), 'none');
  assert.equal((await labels()).length, kRanks);
  await page.keyboard.press('g');
  assert.equal(await page.inputValue('#folding'), 'node');
  assert.deepEqual(await page.locator('.fold-button >> nth=0').textContent(), '▸ 4');
  assert.equal((await labels()).length, 25);
});

test_page('a selected message of a folded rank is drawn in the row of its group', async () => {
  const row = await page.evaluate(() => {
    const { messages } = window.margay.trace;
    return messages.source.findIndex((source, index) => source === 20 && messages.destination[index] === 21);
  });
  await page.evaluate((index) => window.margay.select(index), row);
  assert.equal(await state('rank'), 21);
  assert.deepEqual(await labels(), ['rank 21', 'rank 7']);
  const position = await page.evaluate((index) => window.margay.positionOf(index), row);
  const box = await page.locator('.rank-label[data-rank="21"]').boundingBox();
  assert.ok(position.y > box.y && position.y < box.y + box.height + 4);
});

test_page('the matrix has a row for each group', async () => {
  await page.evaluate(() => window.margay.show('matrix'));
  assert.equal(await page.locator('.matrix text.from').count(), 2);
  await page.click('.matrix .cell[data-from="7,40"]');
  const filter = await state('filter');
  assert.equal(filter.from, '7,40');
  const { messages } = await page.evaluate(() => ({ messages: window.margay.state().rows }));
  assert.ok(messages > 0);
});
