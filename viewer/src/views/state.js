// A rank's portals at the cursor's time: what stands in its match lists, what lies in the heap, what comes next and where it goes.
import { bytes_text, counted, instant_text, time_text } from '../base/format.js';
import { entry_of, heap_at, held_at, is_claimed, kept_bytes, next_message, passes_of, standing_entries, wanted_text } from '../model/instant.js';
import { h, link_button, table } from './dom.js';
import { message_name, portal_text } from './words.js';

const kListed = 200;
const kNoLink = 3;
const kLinks = ['the next entry', 'an entry of a list below', 'nowhere: the message is dropped'];

function portal_part({ trace }, portal) {
  const { entries } = trace;
  const name = portal_text(portal.portal, portal.name).replace(/^p/, 'P');
  if (portal.descriptor) return h('p', { class: 'note' }, `${name}: no match list, but a descriptor, which takes what fits it.`);
  if (portal.entries.length === 0) return h('p', { class: 'note' }, `${name}: no entry stands now.`);
  const rows = portal.entries.slice(0, kListed).map((row, index) => [
    String(index + 1), trace.text(entries.name[row]), wanted_text(trace, row), instant_text(entries.from[row]),
    Number.isNaN(entries.to[row]) ? 'to the end' : instant_text(entries.to[row])]);
  return table(['', 'entry', 'wants', 'stands since', 'until'], rows, { numbers: [0, 3, 4],
    caption: `${name}: ${counted(portal.entries.length, 'entry', 'entries')} in the order of the list${rows.length < portal.entries.length ? `, the first ${kListed}` : ''}` });
}

// The last line of a walk.
function taker_line({ trace }, row) {
  const { messages, entries } = trace;
  const how = trace.text(messages.how[row]);
  const taker = entry_of(trace, row);
  if (taker >= 0) {
    const wanted = wanted_text(trace, taker);
    return h('li', { class: 'taker' }, `taken by ${trace.text(entries.name[taker])}${wanted ? `, which wants ${wanted}` : ''}`);
  }
  const name = trace.text(messages.taker[row]);
  if (name !== '') return h('li', { class: 'taker' }, `taken by ${name}${how ? ` (${how})` : ''}`);
  return h('li', { class: 'taker' }, `${how || 'what became of it is not in the trace'}`
    + `${messages.walked[row] > 0 ? `, after ${counted(messages.walked[row], 'entry', 'entries')}` : ''}`);
}

function next_part({ trace, store, actions }) {
  const { rank, time, mask } = store.state;
  const row = next_message(trace, mask, rank, time);
  if (row < 0) return [h('h3', {}, 'What comes next'), h('p', { class: 'note' }, 'No message comes to this rank any more.')];
  const { messages, passes } = trace;
  const rows = passes_of(trace, row);
  const walk = rows.map((pass) => h('li', {}, `${trace.text(passes.entry[pass])}: ${trace.text(passes.reason[pass]) || 'passed over'}; `
    + (passes.link[pass] === kNoLink ? 'the walk ends here' : `its link leads to ${kLinks[passes.link[pass]] ?? 'the next entry'}`)));
  walk.push(taker_line({ trace }, row));
  const left_out = messages.walked[row] - rows.length - 1;  // the last that it looked at took it
  return [
    h('h3', {}, 'What comes next'),
    h('p', {}, link_button(message_name(trace, row), () => actions.select_message(row), { id: 'next-message' }),
      `, ${messages.arrived[row] > time ? `in ${time_text(messages.arrived[row] - time)}` : 'now'}: ${trace.text(messages.what[row]) || bytes_text(messages.bytes[row])}`),
    h('ol', { class: 'walk' }, walk),
    rows.length > 0 && left_out > 0 ? h('p', { class: 'note' }, `Not recorded one by one: ${counted(left_out, 'more entry', 'more entries')}.`) : null,
  ];
}

function heap_part({ trace, store, actions }) {
  const { rank, time, mask } = store.state;
  const { heap, messages } = trace;
  const { rows, bytes } = heap_at(trace, rank, time);
  const held = held_at(trace, rank, time);
  const shown = rows.filter((row) => heap.message[row] < 0 || mask[heap.message[row]] === 1);
  const hidden = rows.length - shown.length;
  const size = trace.ranks[trace.index_of_rank.get(rank)]?.heap ?? 0;
  const claimed = rows.filter((row) => is_claimed(trace, row, time)).length;
  const title = h('h3', {}, `Unexpected messages: ${rows.length === claimed ? 'none' : counted(rows.length - claimed, 'message')}`
    + `${claimed > 0 ? `, and ${claimed} taken out by a matched probe` : ''}`);
  const use = h('p', { class: 'note', id: 'heap-use' }, `Heap: ${bytes_text(bytes)} of bodies${size > 0 ? ` in ${bytes_text(size)}` : ''}.`
    + `${size > 0 && bytes > size ? ' A second heap is open: what found no room in the first had been held for long.' : ''}`);
  const list = shown.slice(0, kListed).map((row) => {
    const message = heap.message[row];
    const what = message < 0 ? '' : trace.text(messages.what[message]);
    return [message < 0 ? 'not known' : link_button(message_name(trace, message), () => actions.select_message(message)),
      is_claimed(trace, row, time) ? `${what}; for the matched probe\u2019s receive alone` : what, message < 0 ? '' : bytes_text(messages.bytes[message]), bytes_text(kept_bytes(trace, row)), time_text(time - heap.from[row])];
  });
  const waiting = held.slice(0, kListed).flatMap((row, index) => [index > 0 ? ', ' : '', link_button(message_name(trace, row), () => actions.select_message(row))]);
  const held_line = held.length === 0 ? null : h('p', { id: 'held' }, `Held on ${held.length === 1 ? 'its wire' : 'their wires'}, as there is no room: `, waiting);
  return [title, use, held_line, list.length > 0 ? table(['message', 'what', 'bytes', 'kept', 'lies there for'], list, { numbers: [2, 3, 4] }) : null,
    hidden > 0 ? h('p', { class: 'note' }, `${counted(hidden, 'more', 'more')} hidden by the filter.`) : null];
}

/** @param {object} page {trace, store, actions, timeline} */
export function state_panel(page) {
  const { trace, store, actions } = page;
  const heading = h('p', { class: 'state-heading', id: 'state-heading' });
  const choose = h('select', { id: 'state-rank', onchange: (event) => store.set({ rank: Number(event.target.value) }) },
    trace.ranks.map(({ rank }) => h('option', { value: rank }, `rank ${rank}`)));
  const step = (text, way) => h('button', { type: 'button', onclick: () => actions.step_time(way) }, text);
  const slider = h('input', { type: 'range', min: 0, max: 1000, id: 'state-time', 'aria-label': 'time',
    oninput: (event) => actions.set_time((Number(event.target.value) / 1000) * trace.duration) });
  const body = h('div', {});
  const element = h('div', { class: 'state' }, h('div', { class: 'buttons only-screen' }, choose, step('◀ previous event', -1), step('next event ▶', 1), slider),
    heading, body);
  const show = () => {
    const { rank, time } = store.state;
    choose.value = rank;
    slider.value = Math.round((1000 * time) / trace.duration);
    heading.textContent = `Rank ${rank} at ${instant_text(time)}: ${page.timeline.state_text()}`;
    const portals = standing_entries(trace, rank, time);
    body.replaceChildren(h('div', { class: 'columns' }, h('div', {}, ...next_part(page)), h('div', {}, ...heap_part(page))),
      h('h3', {}, 'Match lists'), ...(portals.length > 0 ? portals.map((portal) => portal_part(page, portal))
        : [h('p', { class: 'note' }, 'The trace tells of no entry of this rank.')]));
  };
  return { id: 'state', label: 'State at a time', element, show, keys: ['rank', 'time', 'rows'] };
}
