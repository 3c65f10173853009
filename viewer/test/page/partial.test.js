// Tests of pages of traces with little or missing data.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { start_browser, synthesize, until } from './browser.js';

const kTabs = ['messages', 'state', 'matrix', 'histograms', 'late', 'path', 'collectives'];

let chromium;
before(async () => { chromium = await start_browser(); });
after(() => chromium.close());

async function opened(name, data, options) {
  return chromium.open(chromium.write(name, data), options);
}

// Shows every panel and presses some keys, without an error.
async function look_around(page) {
  for (const tab of kTabs) await page.click(`#tab-${tab}`);
  for (const key of ['n', 'ArrowRight', 'ArrowDown', 'Enter', 'k', 'z', '+', 'f', 'End', 'Enter']) await page.keyboard.press(key);
  await page.evaluate(() => new Promise(requestAnimationFrame));
  assert.deepEqual(page.errors, []);
}

function without_rows(data, ...tables) {
  for (const table of tables) data.head.tables[table] = { rows: 0, columns: {} };
  return data;
}

test('an empty trace has a page', async () => {
  const data = synthesize({ messages: 1, ranks: 1 });
  without_rows(data, ...Object.keys(data.head.tables));
  Object.assign(data.head, { ranks: [], duration_ns: 0, notes: ['No rank has written an event.'], stories: { block: 256, blobs: [] } });
  const page = await opened('nothing', data);
  assert.equal(await page.textContent('.notes'), 'No rank has written an event.');
  assert.equal(await page.textContent('#message-count'), 'The trace has no messages.');
  await look_around(page);
  await page.close();
});

test('one rank that sends nothing has a page', async () => {
  const page = await opened('alone', without_rows(synthesize({ messages: 30, ranks: 1, nodes: 1 }), 'messages', 'hops', 'passes', 'entries', 'heap'));
  assert.equal(await page.locator('.rank-label').count(), 1);
  await look_around(page);
  await page.close();
});

test('a program on portals has messages, and no calls', async () => {
  const page = await opened('portals', without_rows(synthesize({ messages: 60 }), 'calls', 'waits', 'collectives'));
  await page.click('#tab-state');
  assert.match(await page.textContent('#state-heading'), /: the trace has no calls$/);
  await look_around(page);
  await page.evaluate(() => window.margay.select(3));
  await until(page, () => document.querySelector('.story-text').textContent.includes('sends'));
  await page.close();
});

test('a program\u2019s match list is shown in its order, with adopted entries separate, and so is its heap', async () => {
  const entry = (form, name, more) => ({ rank: 0, portal: 4, portal_name: 'portal 4 (desk)', form, name: `the entry "${name}"`, from: 0, since: 0, wanted: `bits ${name}`, ...more });
  const rows = {
    entries: [entry(1, 'last', { place: 3, heap: 1 }), entry(1, 'first', { place: 1, from: 500, since: 500 }), entry(2, 'spare', {}), entry(1, 'middle', { place: 2, inactive: 1 }),
      { rank: 0, portal: 5, portal_name: 'portal 5 (own)', form: 3, from: 0, since: 0 }],
    heaps: [{ rank: 0, number: 1, bytes: 65536 }],
    heap: [{ rank: 0, heap: 1, from: 400, to: 700, bytes: 28 }, { rank: 0, heap: 1, from: 450, to: 700, claimed: 600, bytes: 8 }],
  };
  const page = await opened('desk', synthesize({ messages: 60, rows }));
  await page.click('#tab-state');
  await page.selectOption('#state-rank', '0');
  const at = async (time) => {
    await page.evaluate((when) => window.margay.setTime(when), time);
    await until(page, (text) => document.querySelector('#state-heading').textContent.includes(text), `at 0.${time} us`);
    return page.evaluate(shown);
  };
  const shown = () => {
    const cells = (table) => [...table.querySelectorAll('tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent).slice(0, 4));
    const tables = [...document.querySelectorAll('#panel-state table')].filter((table) => /desk/.test(table.caption?.textContent));
    return { tables: tables.map((table) => [table.caption.textContent, ...cells(table)]), heap: [...document.querySelectorAll('#panel-state h3')].map(({ textContent }) => textContent)
      .find((text) => text.startsWith('Heap')), use: document.querySelector('#heap-use').textContent, notes: document.querySelector('#panel-state').textContent };
  };
  const [early, late] = [await at(550), await at(650)];
  assert.deepEqual(early.tables, [
    ['Portal 4 (desk): 3 entries in the order of the list', ['1', 'the entry "first"', 'bits first', '0.500 us'],
      ['2', 'the entry "middle" (inactive)', 'bits middle', '0.000 us'], ['3', 'the entry "last"', 'bits last', '0.000 us']],
    ['Portal 4 (desk): 1 adopted entry outside the list, reached only by links', ['', 'the entry "spare"', 'bits spare', '0.000 us']]]);
  assert.deepEqual([early.heap, late.heap], ['Heap 1 (the entry "last"): 2 messages on the queue', 'Heap 1 (the entry "last"): 1 message on the queue, and 1 removed from it but not released']);
  assert.match(early.use, /^Heap: 36 bytes of bodies in 64 KiB\.$/);
  assert.match(early.notes, /Portal 5 \(own\): no match list, but a descriptor/);
  await page.close();
});

test('lost events and a missing file have notes, marks at the ranks, and arrows', async () => {
  const data = synthesize({ messages: 60, ranks: 4 });
  data.head.ranks[1].lost = 1200;
  data.head.ranks.splice(3, 1);
  data.head.notes.push('rank 1: 1200 events were overwritten');
  delete data.head.tables.messages.columns.received;
  delete data.head.tables.waits.columns.end;
  const page = await opened('lost', data);
  assert.match(await page.textContent('.notes'), /Rank 0 still waited when the recording ended, since [\d.]+ us/);
  assert.match(await page.textContent('[data-rank="1"]'), /1200 events lost/);
  assert.match(await page.textContent('[data-rank="3"]'), /no file/);
  await look_around(page);
  await page.close();
});

test('messages that never arrived are dashed stumps that can be selected', async () => {
  const data = synthesize({ messages: 60, ranks: 4 });
  for (const column of ['arrived', 'received', 'completed']) delete data.head.tables.messages.columns[column];
  const page = await opened('never', data);
  await page.evaluate(() => window.margay.zoom(window.margay.trace.messages.sent[5] - 2000, window.margay.trace.messages.sent[5] + 2000));
  const { x, y } = await page.evaluate(() => window.margay.positionOf(5));
  await page.mouse.click(x, y);
  assert.equal(await page.evaluate(() => window.margay.state().selected.row), 5);
  assert.match(await page.textContent('.facts'), /arrived\s*–/);
  assert.equal(await page.evaluate(() => window.margay.drawnAs(5)), 'lost');
  await page.evaluate(() => window.margay.select(6));
  assert.deepEqual(await page.evaluate(() => { const { time, rank } = window.margay.state(); const { sent, source } = window.margay.trace.messages; return [time - sent[6], rank - source[6]]; }), [0, 0],
    'the cursor is at the event that there is');
  await look_around(page);
  await page.close();
});

test('a dropped message is drawn as lost, and one for which a rank waited as late', async () => {
  const data = synthesize({ messages: 200, ranks: 4 });
  const how = data.head.strings.indexOf('unexpected');
  data.head.strings[how] = 'dropped';
  const page = await opened('dropped', data);
  const sorts = await page.evaluate((dropped) => {
    const { messages } = window.margay.trace;
    const rows = Array.from({ length: messages.rows }, (_, row) => row);
    const of = (wanted) => [...new Set(rows.filter(wanted).map((row) => window.margay.drawnAs(row)))];
    const late = (row) => messages.receiver_waited[row] > 0 || messages.sender_waited[row] > 0;
    return [of((row) => messages.how[row] === dropped), of((row) => messages.how[row] !== dropped && late(row)),
      of((row) => messages.how[row] !== dropped && !late(row))];
  }, how);
  assert.deepEqual(sorts, [['lost'], ['late'], ['sent']]);
  await page.close();
});

test('a collective through shared memory is described as without messages', async () => {
  const data = synthesize({ messages: 100, ranks: 4 });
  data.head.strings[data.head.strings.indexOf('tree')] = 'shared';
  delete data.head.tables.messages.columns.collective;
  const page = await opened('shared', data);
  await page.click('#tab-collectives');
  await page.click('#panel-collectives .line >> nth=0');
  assert.equal(await page.textContent('#no-messages'), 'Through the node\u2019s memory, no message.');
  await page.close();
});

test('for collective calls through memory the page shows the late ranks, the path, and why there is no message', async () => {
  const data = without_rows(synthesize({ messages: 100, ranks: 4 }), 'messages', 'hops', 'passes', 'heap');
  data.head.strings[data.head.strings.indexOf('tree')] = 'shared';
  const page = await opened('memory', data);
  assert.match(await page.textContent('#message-count'), /^No messages: \d+ collective calls met in the node\u2019s memory\.$/);
  await page.click('#tab-late');
  await page.waitForSelector('[data-late="collectives"] table');
  assert.match(await page.textContent('[data-late="collectives"] td'), /^MPI_Allreduce \(heat\.c:52\)$/);
  await page.click('[data-late="collectives"] table:nth-of-type(2) td button >> nth=0');
  assert.equal(await page.evaluate(() => window.margay.state().selected.kind), 'collective');
  await page.click('#tab-path');
  assert.match(await page.textContent('#panel-path table >> nth=1'), /after rank \d was the last to begin MPI_Allreduce number/);
  await look_around(page);
  await page.close();
});

test('the library\u2019s own messages are hidden by default', async () => {
  const data = synthesize({ messages: 60 });
  data.head.tables.messages.columns.internal = { ...data.head.tables.messages.columns.portal, type: 'u8' };  // all values are zero: portal 0
  const page = await opened('internal', data);
  await page.evaluate(() => { window.margay.trace.messages.internal.fill(1, 0, 20); window.margay.filter({}); });
  const all = await page.evaluate(() => window.margay.trace.messages.rows);
  assert.equal(await page.evaluate(() => window.margay.state().rows), all - 20);
  await page.keyboard.press('i');
  assert.equal(await page.evaluate(() => window.margay.state().rows), all);
  assert.ok(await page.isChecked('#filter-internal'));
  await page.close();
});

test('texts in names do not become elements', async () => {
  const data = synthesize({ messages: 30 });
  const evil = '</script><img src=x onerror="document.title=1"><b>';
  data.head.strings[data.head.strings.indexOf('MPI_COMM_WORLD')] = evil;
  data.head.title = evil;
  const page = await opened('evil', data);
  assert.equal(await page.textContent('h1'), evil);
  assert.equal(await page.locator('img').count(), 0);
  await look_around(page);
  await page.close();
});

test('damaged data, a page without data, and data of another version are reported', async () => {
  const damaged = synthesize({ messages: 30 });
  damaged.blobs[3] = damaged.blobs[3].subarray(0, 12);
  const cases = [['damaged', damaged, /table calls, column site: the data in this page is damaged/]];
  const missing = synthesize({ messages: 30 });
  missing.blobs.length = 20;
  cases.push(['missing', missing, /Part \d+ of this page's data is missing/]);
  const version = synthesize({ messages: 30 });
  version.head.format = 9;
  cases.push(['version', version, /has format 9/]);
  for (const [name, data, sentence] of cases) {
    const page = await opened(name, data, { ready: 'failed' });
    assert.match(await page.textContent('[role=alert]'), sentence);
    await page.close();
  }
});

test('with many rows the timeline scrolls, the cursor keys scroll to a rank, and the matrix has blocks', async () => {
  const page = await opened('many', synthesize({ messages: 3000, ranks: 150, nodes: 5 }));
  await page.evaluate(() => window.margay.fold('none'));
  for (let i = 0; i < 120; i++) await page.keyboard.press('ArrowDown');
  assert.ok(await page.evaluate(() => document.querySelector('.timeline-scroll').scrollTop > 500));
  const [label, frame] = await Promise.all(['[data-rank="120"]', '.timeline-scroll'].map((place) => page.locator(place).boundingBox()));
  assert.ok(label.y >= frame.y - 1 && label.y + label.height <= frame.y + frame.height + 1);
  await page.click('#tab-matrix');
  assert.ok(await page.locator('.cell[data-from="0-2"]').count() > 0);
  await look_around(page);
  await page.close();
});

test('a broadcast by bucket is a tree and then a ring, in which neighbours are adjacent', async () => {
  const page = await opened('bucket', synthesize({ messages: 30, ranks: 6, bucket: true }));
  await page.click('#tab-collectives');
  await page.click('#panel-collectives .line:has-text("MPI_Bcast")');
  assert.deepEqual(await page.locator('.diagram').evaluateAll((all) => all.map(({ dataset }) => dataset.shape)), ['tree', 'ring']);
  assert.deepEqual(await page.locator('.diagram').evaluateAll((all) => all.map((each) => each.querySelectorAll('.edge').length)), [5, 5]);
  const places = await page.locator('.diagram[data-shape=ring] .node').evaluateAll((nodes) => Object.fromEntries(nodes.map((node) => (
    [node.textContent, /translate\(([\d.]+),([\d.]+)\)/.exec(node.getAttribute('transform')).slice(1).map(Number)]))));
  const far = ([x, y], [u, v]) => Math.hypot(x - u, y - v);
  for (let rank = 0; rank < 6; rank++) {
    const [next, across] = [(rank + 1) % 6, (rank + 3) % 6];
    assert.ok(far(places[rank], places[next]) < far(places[rank], places[across]), `${rank} and ${next}`);
  }
  const all = await page.locator('.diagram .edge').count();
  await page.fill('.collective input[type=range]', '1');
  const dimmed = await page.locator('.diagram .edge.dimmed').count();
  assert.ok(dimmed > 0 && dimmed < all, `${dimmed} of ${all}: the slider is of both pictures`);
  assert.deepEqual(page.errors, []);
  await page.close();
});

test('with several threads in a rank the page does not claim that no rank waited', async () => {
  const data = synthesize({ messages: 60, ranks: 4 });
  data.head.ranks[0].threads = 2;
  without_rows(data, 'messages', 'hops', 'passes', 'heap', 'entries');
  const page = await opened('threads', data);
  await page.click('#tab-late');
  const text = await page.textContent('#panel-late');
  assert.match(text, /Not known for ranks 0: several threads call MPI\./);
  assert.ok(!/No rank waited for a/.test(text), text);
  await page.close();
});

test('the heap is shown with its contents and its size', async () => {
  const data = synthesize({ messages: 200, ranks: 4 });
  for (const rank of data.head.ranks) rank.heap = 16;
  const page = await opened('heap', data);
  await page.click('#tab-state');
  const [rank, row] = await page.evaluate(() => {
    const { heap } = window.margay.trace;
    const found = heap.bytes.findIndex((bytes) => bytes > 16);
    window.margay.setTime(heap.from[found] + 1);
    return [heap.rank[found], found];
  });
  assert.ok(row >= 0);
  await page.selectOption('#state-rank', String(rank));
  await until(page, () => /Heap: [\d.]+ (bytes|KiB) of bodies in 16 bytes\. A second heap is open/.test(document.querySelector('#heap-use').textContent));
  await page.close();
});
