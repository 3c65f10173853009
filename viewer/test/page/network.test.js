// Tests of the view of a simulated run's network, in Chromium.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { start_browser, synthesize, until } from './browser.js';

const kRanks = 100;
const kWait = { messages: 3, bytes: 5000, busy_ns: 20000, blocked_ns: 7000 };

// A mesh of 10 x 10: the link from switch 3 to switch 4 is busy and awaited in bucket 2, the one from 14 to 24 in bucket 0.
function mesh() {
  const from = [];
  const to = [];
  for (let y = 0; y < 10; y++) {
    for (let x = 0; x < 10; x++) {
      const here = 10 * y + x;
      for (const [other, is_there] of [[here + 1, x < 9], [here - 1, x > 0], [here + 10, y < 9], [here - 10, y > 0]]) {
        if (!is_there) continue;
        from.push(here);
        to.push(other);
      }
    }
  }
  const channel = (source, target) => from.findIndex((each, index) => each === source && to[index] === target);
  const [awaited, free] = [channel(3, 4), channel(14, 24)];
  const of = (value) => from.map((_, index) => (index === awaited ? value : index === free ? 1 : 0));
  return {
    format: 1, machine: 'test', nodes: kRanks, begin_ns: 1e9, bucket_ns: 32768,
    networks: [{ name: 'mesh', topology: 'mesh', shape: [10, 10], dimensions: 2, switches: 100, nodes_per_switch: 1 }],
    channels: { network: from.map(() => 0), kind: from.map(() => 0), from, to, messages: of(kWait.messages), most_at_once: of(2) },
    loads: { channel: [awaited, free], bucket: [2, 0], bytes: [kWait.bytes, 100], busy_ns: [kWait.busy_ns, 500], blocked_ns: [kWait.blocked_ns, 0] },
  };
}

let chromium;
let page;
before(async () => {
  chromium = await start_browser();
  page = await chromium.open(chromium.write('network', synthesize({ messages: 2000, ranks: kRanks, nodes: 25, network: mesh() })));
});
after(() => chromium.close());

const test_page = (name, body) => test(name, async () => {
  await page.evaluate(() => {
    document.activeElement.blur();
    window.margay.reset();
    window.margay.show('network');
  });
  await page.waitForSelector('.network-panel table');
  await body();
  assert.deepEqual(page.errors, []);
});

test_page('the network has its busiest links, and where messages waited', async () => {
  assert.match(await page.textContent('.network-panel'), /mesh of 10 × 10, 100 switches/);
  assert.match(await page.textContent('.network-panel'), /2 links and 0 ports carried messages.*waited 7\.00 us.*at most 2 pairs at a time on \(3,0\) → \(4,0\)/);
  const cells = await page.locator('.network-panel tbody tr >> nth=0 >> td').allTextContents();
  assert.deepEqual([cells[0], ...cells.slice(2)], ['(3,0) → (4,0)', '5000 bytes', '7.00 us', '3', '2']);
});

test_page('the slider moves the cursor, and the network shows that time', async () => {
  await page.focus('#network-time');
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowRight');
  await until(page, () => /No message was on the links/.test(document.querySelector('.network-panel').textContent));
  assert.equal(await page.evaluate(() => window.margay.state().time), 1.5 * 32768);
  await page.keyboard.press('ArrowRight');
  await until(page, () => document.querySelectorAll('.network-panel tbody tr').length === 1);
  assert.match(await page.textContent('.network-panel tbody tr'), /\(3,0\) → \(4,0\)61 %/);
  await page.evaluate(() => window.margay.setTime(100));
  await until(page, () => /\(4,1\) → \(4,2\)/.test(document.querySelector('.network-panel tbody')?.textContent));
});

test_page('the picture describes the switch or link under the pointer', async () => {
  await page.locator('canvas.network').scrollIntoViewIfNeeded();
  const box = await page.locator('canvas.network').boundingBox();
  const room = box.width / 11;
  await page.mouse.move(box.x + 4 * room, box.y + room);
  await until(page, () => document.querySelector('.network-under').textContent === 'switch (3,0); node 3: ranks 12-15');
  // Between two switches; the link to the right is below the middle.
  await page.mouse.move(box.x + 4.5 * room, box.y + 1.1 * room);
  await until(page, () => /^\(3,0\) → \(4,0\): /.test(document.querySelector('.network-under').textContent));
});

test('a page without a network has no view of it', async () => {
  const plain = await chromium.open(chromium.write('plain', synthesize({ messages: 50 })));
  assert.equal(await plain.locator('#tab-network').count(), 0);
  assert.equal(await plain.inputValue('#folding'), 'none');
  await plain.close();
});

test('a damaged network is reported in its view, and the others remain', async () => {
  const data = synthesize({ messages: 50, network: mesh() });
  data.blobs[data.head.network.blob] = Buffer.from('no gzip');
  const damaged = await chromium.open(chromium.write('damaged', data));
  await damaged.evaluate(() => window.margay.show('network'));
  await damaged.waitForSelector('.network-panel [role=alert]');
  assert.match(await damaged.textContent('.network-panel [role=alert]'), /the network: the data in this page is damaged/);
  await damaged.close();
});
