// Tests of events of communication libraries on the timeline, in Chromium.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { start_browser, synthesize } from './browser.js';

const kEvents = [
  { rank: 0, time: 200, text: 'counter: asks rank 1 to add 5 to its counter', call: 0 },
  { rank: 1, time: 600, text: 'counter: answers rank 0: its counter was 7' },
];

let chromium;
let page;
before(async () => {
  chromium = await start_browser();
  page = await chromium.open(chromium.write('library', synthesize({ messages: 40, ranks: 3, nodes: 1, seed: 5, rows: { library_events: kEvents } })));
  await page.evaluate(() => {  // no message's arrow may cover them
    window.margay.filter({ text: 'nothing is called like this' });
    window.margay.zoom(0, 1000);
  });
});
after(() => chromium.close());

test('library events are in the legend', async () => {
  assert.match(await page.textContent('.legend'), /event of a library/);
});

test('each library event is named under the pointer', async () => {
  for (const [row, event] of kEvents.entries()) {
    const { x, y } = await page.evaluate((library_event) => window.margay.positionOfLibraryEvent(library_event), row);
    await page.mouse.move(x, y);
    await page.waitForSelector('.tooltip:not([hidden])');
    const tooltip = await page.textContent('.tooltip');
    assert.ok(tooltip.includes(`rank ${event.rank}: ${event.text}`), tooltip);
  }
});

test('the call that recorded a library event names it', async () => {
  await page.evaluate(() => window.margay.select_call(0));
  assert.ok((await page.textContent('.facts')).includes(`library${kEvents[0].text}`));
  assert.deepEqual(page.errors, []);
});
