// Tests of the page in Chromium, by its elements and their positions: no picture is compared.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { start_browser, synthesize, until } from './browser.js';

let chromium;
let path;
let shared;  // a page that is reset to its initial state for each test
before(async () => {
  chromium = await start_browser();
  path = chromium.write('run', synthesize({ messages: 300, ranks: 6, nodes: 2, seed: 3, notes: ['rank 3: 1200 events were overwritten'] }));
  shared = await chromium.open(path);
});
after(() => chromium.close());

const test_page = (name, body, options) => test(name, async () => {
  const page = options ? await chromium.open(path, options) : shared;
  if (!options) {
    await page.evaluate(() => {
      document.activeElement.blur();
      window.scrollTo(0, 0);
      window.margay.reset();
    });
    await page.mouse.move(0, 0);
  }
  await body(page);
  assert.deepEqual(page.errors, []);
  if (options) await page.close();
});
const state = (page, what) => page.evaluate((name) => window.margay.state()[name], what);
const story = async (page) => {
  await until(page, () => /^\d+>\d+ #/.test(document.querySelector('.story-text').textContent));
  return page.textContent('.story-text');
};
// A click on an element that the timeline has drawn there.
const click_drawn = async (page, { x, y }) => {
  await page.mouse.move(x, y);
  await page.waitForSelector('.tooltip:not([hidden])');
  await page.mouse.click(x, y);
};
const column = (page, name, row) => page.evaluate(([column_name, index]) => window.margay.trace.messages[column_name][index], [name, row]);

test_page('the page has a title, facts, notes, and ranks by node', async (page) => {
  assert.match(await page.title(), /traces\/invented/);
  assert.match(await page.textContent('.summary'), /6 ranks · 2 nodes/);
  assert.deepEqual(await page.locator('.notes li').allTextContents(), ['rank 3: 1200 events were overwritten']);
  assert.deepEqual(await page.locator('.node-label').allTextContents(), ['node 0', 'node 1']);
  const boxes = await Promise.all(['.node-label >> nth=0', '[data-rank="0"]', '.node-label >> nth=1', '[data-rank="3"]'].map((place) => page.locator(place).boundingBox()));
  assert.ok(boxes.every((box, index) => index === 0 || box.y > boxes[index - 1].y));
});

test_page('a click on a message shows its story', async (page) => {
  const wanted = await page.evaluate(() => {
    const { messages } = window.margay.trace;
    return messages.sent.findIndex((sent, row) => row > 100 && messages.send_call[row] >= 0 && messages.source[row] + 1 === messages.destination[row]);
  });
  const { first, last } = await page.evaluate((row) => ({ first: window.margay.trace.messages.first[row], last: window.margay.trace.messages.last[row] }), wanted);
  await page.evaluate(([from, to]) => window.margay.zoom(from, to), [first - 200, Math.min(last, first + 900)]);
  const { x, y } = await page.evaluate((row) => window.margay.positionOf(row), wanted);
  await page.mouse.move(x, y);
  await page.waitForSelector('.tooltip:not([hidden])');
  const name = `${await column(page, 'source', wanted)}>${await column(page, 'destination', wanted)} #${await column(page, 'sequence', wanted)}`;
  assert.ok((await page.textContent('.tooltip')).startsWith(name));
  await page.mouse.click(x, y);
  assert.deepEqual(await state(page, 'selected'), { kind: 'message', row: wanted });
  assert.equal(await page.textContent('.story h2'), `Message ${name}`);
  const text = await story(page);
  assert.ok(text.startsWith(`${name}: `), text);
  assert.match(text, /\n- From the send to the receive's memory/);
  const lines = text.split('\n');
  assert.ok(lines.findIndex((line) => line.startsWith('- ')) < lines.findIndex((line) => / rank \d the message sends /.test(line)), 'the conclusions come first');
  assert.match(text, /Times in the story: microseconds since its first step, which is at [\d.]+ us of the trace\./);
  const step = await page.evaluate(() => [...document.querySelectorAll('.story-text .step')].map(({ style, textContent }) => [parseInt(style.paddingLeft, 10), textContent])[0]);
  assert.ok(step[1].slice(step[0]).startsWith('sends '), 'wrapped lines start below the words');
  assert.match(await page.textContent('.facts'), /sent by.*MPI_Send \(heat\.c:41\)/);
});

test_page('a click on a bar shows the call and its messages', async (page) => {
  const call = await page.evaluate(() => {
    const { calls } = window.margay.trace;
    const row = calls.name.findIndex((name, index) => window.margay.trace.strings[name] === 'MPI_Recv' && index > 50);
    window.margay.zoom(calls.begin[row] - 100, calls.end[row] + 100);
    return { row, ...window.margay.positionAt(calls.rank[row], (3 * calls.begin[row] + calls.end[row]) / 4) };
  });
  await click_drawn(page, call);
  assert.deepEqual(await state(page, 'selected'), { kind: 'call', row: call.row });
  assert.equal(await page.textContent('.story h2'), 'MPI_Recv');
  await page.click('.facts dd button >> nth=0');
  assert.equal((await state(page, 'selected')).kind, 'message');
});

test_page('the wheel zooms around the pointer, a drag moves, Shift with a drag zooms to the range', async (page) => {
  const box = await page.locator('canvas').boundingBox();
  const view = () => page.evaluate(() => [window.margay.state().from, window.margay.state().to]);
  const before_zoom = await view();
  await page.mouse.move(box.x + box.width / 4, box.y + 30);
  await page.mouse.wheel(0, -400);
  await until(page, ([from]) => window.margay.state().from > from, before_zoom);
  const zoomed = await view();
  const at = ([from, to]) => from + (to - from) / 4;
  assert.ok(zoomed[1] - zoomed[0] < 0.8 * (before_zoom[1] - before_zoom[0]));
  assert.ok(Math.abs(at(zoomed) - at(before_zoom)) < 0.01 * (before_zoom[1] - before_zoom[0]));
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 4 - 100, box.y + 30, { steps: 4 });
  await page.mouse.up();
  const dragged = await view();
  assert.ok(Math.abs((dragged[0] - zoomed[0]) - (100 / box.width) * (zoomed[1] - zoomed[0])) < 0.01 * (zoomed[1] - zoomed[0]));
  assert.equal(await state(page, 'selected'), null, 'a drag chooses nothing');
  await page.keyboard.down('Shift');
  await page.mouse.move(box.x + 200, box.y + 30);
  await page.mouse.down();
  await page.mouse.move(box.x + 300, box.y + 40, { steps: 4 });
  await page.mouse.up();
  await page.keyboard.up('Shift');
  const ranged = await view();
  const length = dragged[1] - dragged[0];
  assert.ok(Math.abs(ranged[0] - (dragged[0] + (200 / box.width) * length)) < 0.02 * length);
  assert.ok(Math.abs(ranged[1] - (dragged[0] + (300 / box.width) * length)) < 0.02 * length);
  await page.click('text="Fit"');
  assert.deepEqual(await view(), before_zoom);
});

test_page('filters apply to the list, the timeline, the matrix and the late ranks', async (page) => {
  await page.fill('#filter-from', '2');
  await page.press('#filter-from', 'Enter');
  const wanted = await page.evaluate(() => window.margay.trace.messages.source.reduce((sum, source) => sum + (source === 2), 0));
  assert.equal(await state(page, 'rows'), wanted);
  assert.match(await page.textContent('#message-count'), new RegExp(`^${wanted} messages of`));
  const names = await page.locator('.messages .line').evaluateAll((lines) => lines.map((line) => line.firstChild.textContent));
  assert.ok(names.length > 5 && names.every((name) => name.startsWith('2>')));
  await until(page, (count) => document.querySelector('.arrow-count').textContent.startsWith(`${count} messages in view; `), wanted);
  await page.click('#tab-matrix');
  assert.deepEqual([...new Set(await page.locator('.cell').evaluateAll((cells) => cells.map((cell) => cell.dataset.from)))], ['2']);
  await page.click('#tab-late');
  await page.waitForSelector('[data-late="receiver_waited"] table');
  const late = await page.locator('[data-late="receiver_waited"] table:nth-of-type(2) td:first-child').allTextContents();
  assert.ok(late.length > 0 && late.every((name) => name.startsWith('2>')));
  await page.click('#filter-clear');
  assert.equal(await page.inputValue('#filter-from'), '');
  assert.equal(await state(page, 'rows'), await page.evaluate(() => window.margay.trace.messages.rows));
});

test_page('an invalid filter is reported; a search finds calls', async (page) => {
  await page.fill('#filter-ranks', 'many');
  await page.press('#filter-ranks', 'Enter');
  assert.match(await page.textContent('.errors'), /"many" is not a set of ranks; write it like 0-3,7/);
  await page.click('#filter-clear');
  await page.fill('#filter-text', 'heat.c:44');
  await until(page, () => window.margay.state().rows < window.margay.trace.messages.rows);
  const received = await page.evaluate(() => window.margay.trace.messages.receive_call.reduce((sum, call) => sum + (call >= 0), 0));
  assert.equal(await state(page, 'rows'), received);
});

test_page('the list sorts and scrolls, and a click on a row selects its message', async (page) => {
  await page.click('[data-column="bytes"] button');
  await page.click('[data-column="bytes"] button');
  assert.equal(await page.getAttribute('[data-column="bytes"]', 'aria-sort'), 'descending');
  const shown = () => page.locator('.messages .line').evaluateAll((lines) => lines.map((line) => Number(line.dataset.row)));
  const largest = await page.evaluate(() => Math.max(...window.margay.trace.messages.bytes));
  assert.equal(await column(page, 'bytes', (await shown())[0]), largest);
  await page.focus('.messages .rows-body');
  await page.keyboard.press('End');
  await until(page, () => document.querySelector('.rows-body').scrollTop > 0);
  await page.keyboard.press('Enter');
  const { row } = await state(page, 'selected');
  assert.equal(await column(page, 'bytes', row), await page.evaluate(() => Math.min(...window.margay.trace.messages.bytes)));
  assert.ok((await shown()).includes(row), 'the last line is in sight');
  await page.keyboard.press('n');
  const { row: next } = await state(page, 'selected');
  assert.equal(await page.getAttribute(`#panel-messages .line[data-row="${next}"]`, 'aria-selected'), 'true');
  // In the page, because a scroll event replaces the lines at any time.
  const [head, cell] = await page.evaluate(() => ['[data-column="walked"]', '.messages .line > div:nth-child(11)'].map((place) => document.querySelector(place).getBoundingClientRect().x));
  assert.ok(Math.abs(head - cell) < 2, 'heads stand above their columns');
  const ends = () => page.evaluate(() => {
    const right = (element) => element.getBoundingClientRect().right;
    return [right(document.querySelector('#panel-messages [data-column="receiver_waited"]')), right(document.querySelector('#panel-messages .rows-body'))];
  });
  const [waited, edge] = await ends();
  assert.ok(waited <= edge, 'what is asked for most is in sight without scrolling');
  const cells = await page.evaluate(() => [2, 3].map((index) => document.querySelector('.messages .line').children[index]).map(({ title, textContent }) => ({ title, textContent })));
  assert.match(cells[0].title, /^[\d\u202f]+ bytes?$/);
  assert.equal(cells[1].textContent, cells[1].title.replace(/ from .*/, ''));
  await page.click('#whole-width');
  assert.ok((await page.locator('#panel-messages .rows-body').boundingBox()).width > 1300);
  assert.ok(await page.evaluate(() => { const { scrollWidth, clientWidth } = document.querySelector('#panel-messages .rows-body'); return scrollWidth <= clientWidth; }));
  await page.click('#whole-width');
  await page.setViewportSize({ width: 760, height: 1000 });
  const [heads, rows] = await Promise.all(['#panel-messages .rows-head', '#panel-messages .rows-spacer'].map((place) => page.locator(place).boundingBox()));
  assert.ok(rows.width > 800 && Math.abs(heads.width - rows.width) < 2, 'also where they do not fit');
  await page.setViewportSize({ width: 1400, height: 1000 });
});

for (const [width, height] of [[700, 900], [960, 900], [1001, 700], [1280, 720], [1366, 768]]) {
  test_page(`in a window of ${width} x ${height} pixels a click anywhere shows the story, without scrolling`, async (page) => {
    const seen = async (wanted) => {
      await until(page, (name) => document.querySelector('.story-text').textContent.startsWith(name), wanted);
      const [top, bottom] = await page.evaluate(() => { const box = document.querySelector('.story').getBoundingClientRect(); return [box.top, box.bottom]; });
      assert.ok(top > 0 && Math.min(bottom, height) - top > 250, `${wanted}: the story stands at ${top} to ${bottom} of ${height}`);
    };
    const name = async (row) => `${await column(page, 'source', row)}>${await column(page, 'destination', row)} #${await column(page, 'sequence', row)}: `;
    const { x, y } = await page.evaluate(() => {
      const { first, last } = window.margay.trace.messages;
      window.margay.zoom(first[100] - 200, Math.min(last[100], first[100] + 900));
      return window.margay.positionOf(100);
    });
    await click_drawn(page, { x, y });
    await seen(await name((await state(page, 'selected')).row));
    await page.evaluate(() => window.scrollTo(0, 0));
    await page.click('.story button:has-text("Close")');
    assert.equal(await state(page, 'selected'), null);
    for (const [tab, place] of [['late', '#panel-late td button >> nth=0'], ['messages', '#panel-messages .line >> nth=2']]) {
      await page.click(`#tab-${tab}`);
      // A view that is drawn again between press and release gets no click.
      do await page.click(place); while (await state(page, 'selected') === null);
      await seen(await name((await state(page, 'selected')).row));
      const over = await page.evaluate(() => { const box = document.querySelector('.story').getBoundingClientRect(); return document.elementFromPoint(box.left + 60, box.top + 20).closest('.story') !== null; });
      assert.ok(over, 'nothing stands over it');
      await page.click('.story button:has-text("Close")');
    }
  }, { viewport: { width, height } });
}

test_page('without a selection the views have all the room: every column of the messages is visible', async (page) => {
  const all_in_sight = () => page.evaluate(() => { const { scrollWidth, clientWidth } = document.querySelector('#panel-messages .rows-body'); return scrollWidth <= clientWidth; });
  assert.ok(await all_in_sight());
  const heads = await page.locator('#panel-messages .rows-head button').evaluateAll((buttons) => buttons.filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth).map(({ textContent }) => textContent));
  assert.deepEqual(heads, [], 'no head is cut');
  for (const tab of ['late', 'collectives', 'state']) {
    await page.click(`#tab-${tab}`);
    await page.click('#whole-width');
    assert.ok((await page.locator(`#panel-${tab}`).boundingBox()).width > 1300, tab);
    await page.click('#whole-width');
  }
});

test_page('in the list a message of a collective call is named by its call', async (page) => {
  const row = await page.evaluate(() => window.margay.trace.messages.collective.findIndex((collective) => collective >= 0));
  await page.evaluate((message) => window.margay.select(message), row);
  const what = await page.textContent(`#panel-messages .line[data-row="${row}"] >> div >> nth=3`);
  assert.equal(what, await page.evaluate((message) => {
    const { collectives, messages, text } = window.margay.trace;
    const collective = messages.collective[message];
    return `${text(collectives.name[collective])} ${collectives.number[collective]}, message ${messages.step[message]}`;
  }, row));
});

test_page('a tooltip disappears when the view changes', async (page) => {
  const over = async () => {
    const { x, y } = await page.evaluate(() => {
      const { first, last } = window.margay.trace.messages;
      window.margay.zoom(first[100] - 200, Math.min(last[100], first[100] + 900));
      return window.margay.positionOf(100);
    });
    await page.mouse.move(x + 1, y + 1);
    await page.mouse.move(x, y);
    await page.waitForSelector('.tooltip:not([hidden])');
  };
  const hidden = () => page.evaluate(() => document.querySelector('.tooltip').hidden);
  await over();
  await page.keyboard.press('f');
  assert.ok(await hidden(), 'after f');
  await over();
  await page.evaluate(() => { const sorting = document.querySelector('#sorting'); sorting.value = 'waiting'; sorting.dispatchEvent(new Event('change')); });
  assert.ok(await hidden(), 'after a sorting');
});

test_page('names of bars are drawn over the arrows', async (page) => {
  const order = await page.evaluate(() => {
    const { prototype } = CanvasRenderingContext2D;
    const { stroke, fillText } = prototype;
    const done = [];
    prototype.stroke = function note(...words) { if (words.length > 0) done.push('arrows'); return stroke.apply(this, words); };
    prototype.fillText = function note(...words) { done.push('name'); return fillText.apply(this, words); };
    const { calls } = window.margay.trace;
    window.margay.zoom(calls.begin[60] - 500, calls.end[60] + 500);
    window.margay.draw();
    Object.assign(prototype, { stroke, fillText });
    return done;
  });
  assert.ok(order.includes('arrows') && order.includes('name'));
  assert.ok(order.lastIndexOf('arrows') < order.indexOf('name'));
});

test_page('selecting the bottom rank moves no row', async (page) => {
  for (let i = 0; i < 8; i++) await page.keyboard.press('ArrowDown');
  assert.equal(await state(page, 'rank'), 5);
  assert.deepEqual(await page.evaluate(() => { const { scrollTop, scrollHeight, clientHeight } = document.querySelector('.timeline-scroll'); return [scrollTop, scrollHeight - clientHeight]; }), [0, 0]);
});

test_page('labels of the axis do not overlap and stay in the picture, at any zoom', async (page) => {
  const duration_was = await page.evaluate(() => { const { duration } = window.margay.trace; window.margay.trace.duration = 7606983274; return duration; });
  for (const length of [20, 60, 300, 900, 4e4, 1e6, 3e9]) {
    await page.evaluate((ns) => { const { duration } = window.margay.trace; window.margay.zoom(duration - ns, duration); window.margay.draw(); }, length);
    const boxes = await page.evaluate(() => [...document.querySelectorAll('.time-axis .axis text')].filter(({ textContent }) => textContent !== '').map((text) => text.getBoundingClientRect()).map(({ left, right }) => [left, right]));
    const edge = await page.evaluate(() => document.querySelector('.time-axis').getBoundingClientRect().right);
    assert.ok(boxes.length > 1);
    boxes.forEach(([, right], index) => {
      assert.ok(right <= edge + 9, `${length} ns: ${right} of ${edge}`);
      if (index > 0) assert.ok(boxes[index][0] > boxes[index - 1][1] + 2, `${length} ns: labels ${index - 1} and ${index}`);
    });
  }
  await page.evaluate((ns) => { window.margay.trace.duration = ns; }, duration_was);
});

test_page('the cursor steps from event to event; the state of the portals follows', async (page) => {
  await page.click('#tab-state');
  await page.focus('canvas');
  await page.keyboard.press('ArrowDown');
  assert.equal(await state(page, 'rank'), 1);
  for (let i = 0; i < 12; i++) await page.keyboard.press('ArrowRight');
  const time = await state(page, 'time');
  assert.ok(time > 0);
  await until(page, (us) => document.querySelector('#state-heading').textContent.includes(us), (time / 1e3).toFixed(3));
  const expected = await page.evaluate(() => {
    const { trace } = window.margay;
    const { time: now } = window.margay.state();
    let next = -1;
    for (let row = 0; row < trace.messages.rows; row++) {
      if (trace.messages.destination[row] !== 1 || trace.messages.arrived[row] < now) continue;
      if (next < 0 || trace.messages.arrived[row] < trace.messages.arrived[next]) next = row;
    }
    let standing = 0;
    for (let row = 0; row < trace.entries.rows; row++) {
      if (trace.entries.rank[row] === 1 && trace.entries.from[row] <= now && !(trace.entries.to[row] < now)) standing++;
    }
    return { name: `${trace.messages.source[next]}>1 #${trace.messages.sequence[next]}`, standing };
  });
  assert.equal(await page.textContent('#next-message'), expected.name);
  assert.equal(await page.locator('#panel-state table:has-text("Portal 0") tbody tr').count(), expected.standing);
  await page.keyboard.press('ArrowLeft');
  assert.ok(await state(page, 'time') < time);
  await page.keyboard.press('Enter');
  assert.notEqual(await state(page, 'selected'), null);
});

test_page('a long unexpected message: its walk lists the entries passed over, with the reasons', async (page) => {
  const row = await page.evaluate(() => window.margay.trace.passes.message[0]);
  await page.evaluate((message) => { window.margay.select(message); window.margay.show('state'); }, row);
  await until(page, () => document.querySelector('.walk .taker')?.textContent.startsWith('taken by'));
  const walk = await page.locator('.walk li').allTextContents();
  assert.equal(walk[0], 'the entry "unexpected short": no match, it accepts any message that is short; its link leads to the next entry');
  assert.equal(walk.at(-1), 'taken by the entry "unexpected long" (unexpected, pulled)');
});

test_page('a click on the matrix filters by the pair', async (page) => {
  await page.keyboard.press('3');
  const written = await page.locator('.cell').evaluateAll((cells) => cells.map((cell) => [cell.querySelector('rect').getAttribute('fill'), cell.querySelector('text').getAttribute('fill')]));
  assert.ok(new Set(written.map(([, ink]) => ink)).size === 2, 'dark numbers on light cells, light ones on dark cells');
  await page.click('.cell[data-from="4"][data-to="5"]');
  assert.equal(await page.inputValue('#filter-from'), '4');
  assert.equal(await page.inputValue('#filter-to'), '5');
  const pair = await page.evaluate(() => window.margay.trace.messages.source.reduce((sum, source, row) => sum + (source === 4 && window.margay.trace.messages.destination[row] === 5), 0));
  assert.equal(await state(page, 'rows'), pair);
});

test_page('histograms count every message once', async (page) => {
  await page.keyboard.press('4');
  const titles = await page.locator('figure:first-of-type .bar title').allTextContents();
  const counts = titles.map((title) => Number(/: (\d+)$/.exec(title.replaceAll('\u202f', ''))[1]));
  assert.equal(counts.reduce((sum, count) => sum + count, 0), await state(page, 'rows'));
});

test_page('bounds of histograms are between their bars, and do not overlap', async (page) => {
  await page.setViewportSize({ width: 700, height: 1000 });
  await page.keyboard.press('4');
  const figures = await page.evaluate(() => [...document.querySelectorAll('svg.histogram')].map((svg) => {
    const boxes = (place) => [...svg.querySelectorAll(place)].map((each) => { const { left, right } = each.getBoundingClientRect(); return { left, right, text: each.textContent }; });
    return { bars: boxes('.bar rect'), ticks: boxes('.bound line'), texts: boxes('.bound text'), titles: [...svg.querySelectorAll('.bar title')].map(({ textContent }) => textContent) };
  }));
  await page.setViewportSize({ width: 1400, height: 1000 });
  assert.ok(figures.length > 1);
  for (const { bars, ticks, texts, titles } of figures) {
    assert.equal(ticks.length, bars.length + 1);
    bars.forEach(({ left, right }, index) => assert.ok(ticks[index].left <= left + 0.5 && ticks[index + 1].left >= right - 0.5, titles[index]));
    texts.slice(1).forEach(({ left, text }, index) => assert.ok(left > texts[index].right + 3, `${texts[index].text} and ${text}`));
    assert.ok(titles[0].replace(' bytes', '').startsWith(`from ${texts[0].text}`), `${titles[0]}: ${texts[0].text}`);
  }
});

test_page('the critical path has sums and is on the timeline', async (page) => {
  await page.keyboard.press('k');
  const { computing, calls, waiting, wire } = (await state(page, 'path')).totals;
  assert.ok(computing > 0 && wire > 0);
  const drawn = () => page.evaluate(() => window.margay.pathDrawn());
  assert.equal(await drawn(), true);
  assert.match(await page.textContent('#panel-path table caption'), /^Where the .* go$/);
  const shares = (await page.locator('#panel-path table >> nth=0 >> tr:nth-child(2) td').allTextContents()).slice(1, 5).map(parseFloat);
  assert.ok(Math.abs(shares[0] - (100 * computing) / (computing + calls + waiting + wire)) < 1);
  assert.match(await page.textContent('.path'), /a little slower without cost, up to its slack/);
  assert.match(await page.textContent('#panel-path th:nth-child(5)'), /^sent until seen$/);
  await page.keyboard.press('1');
  assert.equal(await drawn(), false, 'it is gone with its tab');
  await page.keyboard.press('k');
  await page.check('.path input[type=checkbox]');
  await page.keyboard.press('1');
  assert.equal(await drawn(), true, 'it stays when that was asked for');
});

test_page('a collective is a tree; a round highlights its arrows; a message of it shows its story', async (page) => {
  await page.keyboard.press('7');
  await page.click('#panel-collectives .line >> nth=0');
  assert.equal((await state(page, 'selected')).kind, 'collective');
  assert.equal(await page.getAttribute('.diagram', 'data-shape'), 'tree');
  assert.equal(await page.locator('.diagram .node').count(), 6);
  assert.equal(await page.locator('.diagram .edge').count(), 10);
  const rounds = await page.locator('.diagram .edge').evaluateAll((edges) => edges.map((edge) => edge.dataset.rounds));
  await page.fill('.collective input[type=range]', '1');
  assert.equal(await page.locator('.diagram .edge:not(.dimmed)').count(), rounds.filter((round) => round === '1').length);
  await page.click('.collective tbody tr >> nth=0');
  assert.match(await story(page), /^\d>\d #\d+: /);
});

test_page('the keys work: help, next and previous message, zoom, copy, theme, rows', async (page) => {
  await page.keyboard.press('?');
  assert.ok(await page.locator('dialog.help').isVisible());
  await page.keyboard.press('Escape');
  assert.ok(!(await page.locator('dialog.help').isVisible()));
  await page.keyboard.press('n');
  const { row } = await state(page, 'selected');
  await page.keyboard.press('n');
  assert.equal((await state(page, 'selected')).row, row + 1);
  await page.keyboard.press('p');
  assert.equal((await state(page, 'selected')).row, row);
  const text = await story(page);
  await page.keyboard.press('c');
  await until(page, () => document.querySelector('.story .buttons').textContent.match(/Copied|Selected/));
  if ((await page.textContent('.story .buttons')).includes('Selected')) assert.equal((await page.evaluate(() => getSelection().toString())).trim(), text.trim());
  await page.keyboard.press('z');
  const [from, to] = [await state(page, 'from'), await state(page, 'to')];
  assert.ok(from < await column(page, 'first', row) && to > await column(page, 'last', row));
  await page.keyboard.press('-');
  assert.ok((await state(page, 'to')) - (await state(page, 'from')) > to - from);
  const length = async () => (await state(page, 'to')) - (await state(page, 'from'));
  await page.evaluate(() => window.margay.zoom(0, window.margay.trace.duration / 4));
  const kept = await length();
  for (let i = 0; i < 40; i++) await page.keyboard.press('Shift+ArrowRight');
  const end = await page.evaluate(() => window.margay.trace.duration * 1.02);
  assert.ok(Math.abs((await state(page, 'to')) - end) < 1e-6 * end, 'the view ends with the trace');
  assert.ok(Math.abs((await length()) - kept) < 1e-6 * kept);
  await page.keyboard.press('f');
  await page.keyboard.press('Escape');
  assert.equal(await state(page, 'selected'), null);
  const order = await state(page, 'order');
  await page.evaluate(() => window.margay.setTime(0));
  const rank = await state(page, 'rank');
  await page.keyboard.press(rank === order.at(-1) ? 'Alt+ArrowUp' : 'Alt+ArrowDown');
  assert.notDeepEqual(await state(page, 'order'), order);
  await page.keyboard.press('/');
  await page.keyboard.type('n?');
  assert.equal(await page.inputValue('#filter-text'), 'n?', 'keys typed into a field stay there');
});

test_page('every control is reached with Tab', async (page) => {
  const reached = new Set();
  for (let i = 0; i < 60; i++) {
    await page.keyboard.press('Tab');
    reached.add(await page.evaluate(() => { const at = document.activeElement; return at.id || at.className || at.tagName; }));
  }
  for (const id of ['theme', 'help', 'filter-text', 'filter-internal', 'sorting', 'CANVAS', 'tab-messages', 'rows-body']) {
    assert.ok(reached.has(id), `${id} of ${[...reached].join(' ')}`);
  }
});

const contrast = (page) => page.evaluate(() => {
  const canvas = document.createElement('canvas').getContext('2d');
  const channel = (part) => (part / 255 <= 0.03928 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4);
  const luminance = (name) => {
    canvas.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`);
    canvas.fillRect(0, 0, 1, 1);
    const [red, green, blue] = canvas.getImageData(0, 0, 1, 1).data;
    return 0.2126 * channel(red) + 0.7152 * channel(green) + 0.0722 * channel(blue);
  };
  const ratio = (a, b) => (Math.max(luminance(a), luminance(b)) + 0.05) / (Math.min(luminance(a), luminance(b)) + 0.05);
  const pairs = [['ink', 'paper'], ['ink', 'ground'], ['faint', 'paper'], ['faint', 'ground'], ['faint', 'stripe'], ['ink', 'stripe'], ['ink', 'button'], ['link', 'paper'],
    ['link', 'stripe'], ['accent', 'paper'], ['note-ink', 'note'], ...['send', 'receive', 'complete', 'collective', 'window', 'other'].map((id) => ['on-bar', `call-${id}`])];
  return pairs.map(([a, b]) => ({ pair: `${a} on ${b}`, ratio: ratio(a, b) })).filter(({ ratio: found }) => found < 4.5);
});

test('the theme is the system\u2019s, then the button\u2019s, light or dark, both with contrast', async () => {
  for (const colorScheme of ['light', 'dark']) {
    const page = await chromium.open(path, { colorScheme });
    const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
    const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    assert.equal(await theme(), colorScheme);
    assert.deepEqual(await contrast(page), []);
    const old = await ground();
    await page.click('#theme');
    assert.equal(await theme(), colorScheme === 'dark' ? 'light' : 'dark');
    assert.notEqual(await ground(), old);
    await page.close();
  }
});

test_page('on paper the page is light, without controls, with the timeline and every panel', async (page) => {
  await page.evaluate(() => window.margay.select(40));
  await story(page);
  await page.emulateMedia({ media: 'print' });
  await until(page, () => document.documentElement.dataset.theme === 'light');
  for (const hidden of ['.filters', '.tabs', '#theme', '.story .buttons']) assert.ok(!(await page.locator(hidden).isVisible()), hidden);
  for (const shown of ['canvas', '.story-text', '#panel-matrix svg', '#panel-histograms svg >> nth=0', '#panel-late table >> nth=0', '#panel-path table >> nth=0', '#panel-state h3 >> nth=0']) {
    assert.ok(await page.locator(shown).isVisible(), shown);
  }
  const [right, paper] = await page.evaluate(() => {
    document.body.style.width = '600px';
    const ends = ['canvas', '.time-axis'].map((place) => document.querySelector(place).getBoundingClientRect().right);
    document.body.style.width = '';
    return [Math.max(...ends), document.body.getBoundingClientRect().left + 600];
  });
  assert.ok(right <= paper + 1 && right > paper - 30, `the timeline ends at ${right}, the paper at ${paper}`);
  assert.equal(await page.locator('#panel-messages .only-printed tbody tr').count(), 40);
  const cells = await page.evaluate(() => {
    document.body.style.width = '718px';
    const [head, ...lines] = document.querySelectorAll('#panel-messages .only-printed tr');
    const at = [...head.children].findIndex(({ textContent }) => textContent === 'what');
    const all = lines.map(({ children }) => ({ text: children[at].textContent, height: children[at].getBoundingClientRect().height }));
    document.body.style.width = '';
    return all;
  });
  for (const { text, height } of cells) assert.ok(height < 45, `"${text}" takes ${height} pixels of paper`);
  assert.ok((await page.pdf({ format: 'A4' })).length > 10000);
}, { colorScheme: 'dark' });

test_page('a click on a collective call shows its tree', async (page) => {
  const place = await page.evaluate(() => {
    const { calls, strings } = window.margay.trace;
    const row = calls.name.findIndex((name) => strings[name] === 'MPI_Allreduce');
    window.margay.zoom(calls.begin[row] - 1000, calls.end[row] + 1000);
    return window.margay.positionAt(calls.rank[row], calls.begin[row] + 60);
  });
  await click_drawn(page, place);
  assert.equal(await page.textContent('.story h2'), 'MPI_Allreduce');
  assert.equal(await page.textContent('.story h3'), 'MPI_Allreduce number 1 on MPI_COMM_WORLD');
  assert.equal(await page.getAttribute('.diagram', 'data-shape'), 'tree');
});
