// The panel of a rank's portals at the cursor's time: the entries of its match lists, its heaps, the next message and its walk.
import { bytes_text, counted, instant_text, time_text } from '../base/format.js';
import { entry_of, heap_at, heaps_of, held_at, is_claimed, kept_bytes, next_arrival, passes_of, standing_entries, wanted_text, kForm } from '../model/instant.js';
import { h, link_button, table } from './dom.js';
import { message_name, portal_text } from './words.js';

const kListed = 200;
const kNoLink = 3;
const kLinks = ['the next entry', 'an entry listed below', 'nowhere: the message is dropped'];

// Since when an entry is in the list; a row that continues another, after an activation or deactivation, counts from the first.
function stands_since(entries, row) {
  const since = Number.isNaN(entries.since[row]) ? entries.from[row] : entries.since[row];
  return Number.isNaN(since) ? 'before the first event' : instant_text(since);
}

function portal_part({ trace }, portal) {
  const { entries } = trace;
  const name = portal_text(portal.portal, portal.name).replace(/^p/, 'P');
  if (portal.descriptor) return [h('p', { class: 'note' }, `${name}: no match list, but a descriptor, which takes every message that fits.`)];
  if (portal.entries.length + portal.adopted.length === 0) return [h('p', { class: 'note' }, `${name}: no entry at this time.`)];
  const line = (place) => (row, index) => [
    place(row, index), trace.text(entries.name[row]) + (entries.inactive[row] ? ' (inactive)' : ''), wanted_text(trace, row),
    stands_since(entries, row),
    Number.isNaN(entries.to[row]) ? 'to the end' : instant_text(entries.to[row])];
  const heads = ['', 'entry', 'accepts', 'in the list since', 'until'];
  // The place of an entry from before the first recorded event is unknown.
  const is_placed = (row) => entries.form[row] === kForm.mpi || !Number.isNaN(entries.place[row]);
  const first = (rows, all) => (rows.length < all.length ? `, the first ${kListed}` : '');
  const [list, adopted] = [portal.entries.slice(0, kListed), portal.adopted.slice(0, kListed)];
  return [
    list.length === 0 ? null : table(heads, list.map(line((row, index) => (is_placed(row) ? String(index + 1) : '?'))), { numbers: [0, 3, 4],
      caption: `${name}: ${counted(portal.entries.length, 'entry', 'entries')} in the order of the list${first(list, portal.entries)}` }),
    adopted.length === 0 ? null : table(heads, adopted.map(line(() => '')), { numbers: [0, 3, 4],
      caption: `${name}: ${counted(portal.adopted.length, 'adopted entry', 'adopted entries')} outside the list, reached only by links${first(adopted, portal.adopted)}` }),
  ];
}

// The last line of a walk.
function taker_line({ trace }, row) {
  const { messages, entries } = trace;
  const how = trace.text(messages.how[row]);
  const taker = entry_of(trace, row);
  if (taker >= 0) {
    const wanted = wanted_text(trace, taker);
    return h('li', { class: 'taker' }, `taken by ${trace.text(entries.name[taker])}${wanted ? `, which accepts ${wanted}` : ''}`);
  }
  const name = trace.text(messages.taker[row]);
  if (name !== '') return h('li', { class: 'taker' }, `taken by ${name}${how ? ` (${how})` : ''}`);
  return h('li', { class: 'taker' }, `${how || 'how it ended is not in the trace'}`
    + `${messages.walked[row] > 0 ? `, after ${counted(messages.walked[row], 'entry', 'entries')}` : ''}`);
}

function next_part({ trace, store, actions }) {
  const { rank, time, mask } = store.state;
  const next = next_arrival(trace, mask, rank, time);
  if (!next) {
    const none = mask.includes(0) ? 'No further arrival at this rank passes the filter.' : 'Nothing further arrives at this rank.';
    return [h('h3', {}, 'Next arrival'), h('p', { class: 'note', id: 'next-none' }, none)];
  }
  const { messages, passes } = trace;
  const { message: row, hop } = next;
  const when = next.arrived > time ? `in ${time_text(next.arrived - time)}` : 'now';
  if (hop >= 0) {
    return [h('h3', {}, 'Next arrival'), h('p', {}, `The ${trace.text(trace.hops.kind[hop])} of `,
      link_button(message_name(trace, row), () => actions.select_message(row), { id: 'next-message' }), ` from rank ${trace.hops.source[hop]}, ${when}.`)];
  }
  const rows = passes_of(trace, row);
  const walk = rows.map((pass) => h('li', {}, `${trace.text(passes.entry[pass])}: ${trace.text(passes.reason[pass]) || 'passed over'}; `
    + (passes.link[pass] === kNoLink ? 'the walk ends here' : `its link leads to ${kLinks[passes.link[pass]] ?? 'the next entry'}`)));
  walk.push(taker_line({ trace }, row));
  const left_out = messages.walked[row] - rows.length - 1;  // without the last entry, which took it
  return [
    h('h3', {}, 'Next arrival'),
    h('p', {}, link_button(message_name(trace, row), () => actions.select_message(row), { id: 'next-message' }),
      `, ${when}: ${trace.text(messages.what[row]) || bytes_text(messages.bytes[row])}`),
    h('ol', { class: 'walk' }, walk),
    rows.length > 0 && left_out > 0 ? h('p', { class: 'note' }, `Not recorded individually: ${counted(left_out, 'more entry', 'more entries')}.`) : null,
  ];
}

// The title of MPI's heap, or of a heap of the program.
function heap_title(number, entries, rows, claimed) {
  const there = rows.length - claimed;
  if (number === 0) {
    return `Unexpected messages: ${there === 0 ? 'none' : counted(there, 'message')}${claimed > 0 ? `, and ${claimed} taken out by a matched probe` : ''}`;
  }
  return `Heap ${number}${entries.length > 0 ? ` (${entries.join(', ')})` : ''}: ${there === 0 ? 'no message' : counted(there, 'message')} on the queue`
    + `${claimed > 0 ? `, and ${claimed} removed from it but not released` : ''}`;
}

function heap_part({ trace, store, actions }, { number, bytes: size, entries }) {
  const { rank, time, mask } = store.state;
  const { heap, messages } = trace;
  const { rows, bytes } = heap_at(trace, rank, time, number);
  const shown = rows.filter((row) => heap.message[row] < 0 || mask[heap.message[row]] === 1);
  const hidden = rows.length - shown.length;
  const claimed = rows.filter((row) => is_claimed(trace, row, time)).length;
  const title = h('h3', {}, heap_title(number, entries, rows, claimed));
  const use = h('p', { class: 'note heap-use', id: number <= 1 ? 'heap-use' : null }, `Heap: ${bytes_text(bytes)} of bodies${size > 0 ? ` in ${bytes_text(size)}` : ''}.`
    + `${number === 0 && size > 0 && bytes > size ? ' A second heap is open, because messages without room in the first were held for too long.' : ''}`);
  const list = shown.slice(0, kListed).map((row) => {
    const message = heap.message[row];
    const what = message < 0 ? '' : trace.text(messages.what[message]);
    return [message < 0 ? 'not known' : link_button(message_name(trace, message), () => actions.select_message(message)),
      is_claimed(trace, row, time) ? `${what}; ${number === 0 ? 'only for the matched probe\u2019s receive' : 'off the queue'}` : what, message < 0 ? '' : bytes_text(messages.bytes[message]), bytes_text(kept_bytes(trace, row)), time_text(time - heap.from[row])];
  });
  return [title, use, list.length > 0 ? table(['message', 'what', 'bytes', 'kept', 'in the heap for'], list, { numbers: [2, 3, 4] }) : null,
    hidden > 0 ? h('p', { class: 'note' }, `${counted(hidden, 'more', 'more')} hidden by the filter.`) : null];
}

function held_part({ trace, store, actions }) {
  const held = held_at(trace, store.state.rank, store.state.time);
  const waiting = held.slice(0, kListed).flatMap((row, index) => [index > 0 ? ', ' : '', link_button(message_name(trace, row), () => actions.select_message(row))]);
  return held.length === 0 ? null : h('p', { id: 'held' }, `Held on ${held.length === 1 ? 'its wire' : 'their wires'}, because there is no room: `, waiting);
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
    body.replaceChildren(h('div', { class: 'columns' }, h('div', {}, ...next_part(page)), h('div', {}, held_part(page), ...heaps_of(trace, rank).flatMap((heap) => heap_part(page, heap)))),
      h('h3', {}, 'Match lists'), ...(portals.length > 0 ? portals.flatMap((portal) => portal_part(page, portal).filter((part) => part !== null))
        : [h('p', { class: 'note' }, 'The trace contains no entry of this rank.')]));
  };
  return { id: 'state', label: 'State at a time', element, show, keys: ['rank', 'time', 'rows'] };
}
