// The panel of the selection: a message with its story, a call, a collective call, or a one-sided access.
import { bytes_text, counted, instant_text, time_text } from '../base/format.js';
import { access_name, messages_of_access, way_text } from '../model/accesses.js';
import { collective_of_call, entered_at, messages_of_call, rows_of_call, taking_part } from '../model/collective.js';
import { call_text } from '../model/late.js';
import { events_of_call } from '../model/library_events.js';
import { lock_waited_for } from '../model/locks.js';
import { story_parts } from '../model/story_text.js';
import { facts, h, link_button } from './dom.js';
import { collective_diagram } from './diagram.js';
import { collective_bytes, collective_name, message_name, portal_text } from './words.js';

const kListed = 40;  // messages of a call

function message_facts({ trace, actions }, row) {
  const { messages } = trace;
  const call = (which) => {
    const number = messages[which][row];
    return number < 0 ? null : link_button(call_text(trace, number), () => actions.select_call(number, true));
  };
  const waited = (column, why) => (messages[column][row] > 0 ? `${time_text(messages[column][row])}: ${why}` : null);
  const collective = messages.collective[row];
  return facts([
    ['what', trace.text(messages.what[row])], ['bytes', bytes_text(messages.bytes[row])],
    ['protocol', trace.text(messages.protocol[row])], ['taken', trace.text(messages.how[row])], ['wire', trace.text(messages.wire[row])],
    ['portal', messages.portal[row] === 255 ? null : portal_text(messages.portal[row], trace.text(messages.portal_name[row])).replace(/^portal /, '')],
    ['entries in its walk', messages.walked[row] > 0 ? String(messages.walked[row]) : null],
    ['sent', instant_text(messages.sent[row])], ['arrived', instant_text(messages.arrived[row])],
    ['receive posted', instant_text(messages.posted[row])], ['received', instant_text(messages.received[row])],
    ['sent by', call('send_call')], ['received by', call('receive_call')],
    ['sender waited', waited('sender_waited', 'late receiver')], ['receiver waited', waited('receiver_waited', 'late sender')],
    ['part of', collective < 0 ? null : link_button(`${collective_name(trace, collective)}, message ${messages.step[row]} of rank ${messages.source[row]}`,
      () => actions.select_collective(collective, false))],
  ]);
}

function links_to(page, list) {
  const { trace, actions } = page;
  return list.length === 0 ? null : h('span', {}, list.slice(0, kListed).map((message) => [
    link_button(message_name(trace, message), () => actions.select_message(message)), ' ']).flat(),
  list.length > kListed ? `and ${counted(list.length - kListed, 'more', 'more')}` : null);
}

function access_facts(page, row) {
  const { trace, actions } = page;
  const { accesses } = trace;
  const call = accesses.call[row];
  return facts([
    ['origin', `rank ${accesses.rank[row]}`], ['target', `rank ${accesses.target[row]}, ${trace.text(accesses.window[row])}`],
    ['bytes', bytes_text(accesses.bytes[row])], ['offset', String(accesses.offset[row])], ['epoch', trace.text(accesses.epoch[row])],
    ['way', way_text(trace, row)], ['done', trace.text(accesses.copies[row])], ['begins', instant_text(accesses.begin[row])],
    ['call', call < 0 ? null : link_button(call_text(trace, call), () => actions.select_call(call, true))],
    ['call returns', Number.isNaN(accesses.end[row]) ? null : `${instant_text(accesses.end[row])}; its epoch's end completes it`],
    ['messages of the call to the target', links_to(page, messages_of_access(trace, row))],
  ]);
}

function call_facts(page, row) {
  const { trace } = page;
  const { calls, messages } = trace;
  const over = calls.end[row] >= calls.begin[row];
  const sent = [];
  const received = [];
  for (let message = 0; message < messages.rows; message++) {
    if (messages.send_call[message] === row) sent.push(message);
    if (messages.receive_call[message] === row) received.push(message);
  }
  const accesses = [...trace.accesses.call.keys()].filter((access) => trace.accesses.call[access] === row);
  const events = events_of_call(trace, row);
  return facts([
    ['rank', String(calls.rank[row])], ['line', trace.text(calls.site[row])], ['begins', instant_text(calls.begin[row])],
    ['takes', over ? time_text(calls.end[row] - calls.begin[row]) : 'never returned'], ['of it waiting', time_text(calls.wait[row])], ['waited for', lock_waited_for(trace, row)],
    ['sends', links_to(page, sent)], ['receives', links_to(page, received)],
    ['accesses', accesses.length === 0 ? null : h('span', {}, accesses.slice(0, kListed).map((access) => [
      link_button(access_name(trace, access), () => page.actions.select_access(access)), ' ']).flat(),
    accesses.length > kListed ? `and ${counted(accesses.length - kListed, 'more', 'more')}` : null)],
    ['library', events.length === 0 ? null : h('span', {}, events.slice(0, kListed).map((event) => h('div', {}, trace.text(trace.library_events.text[event]))),
      events.length > kListed ? `and ${counted(events.length - kListed, 'more', 'more')}` : null)],
  ]);
}

function collective_facts(page, row) {
  const { trace } = page;
  const { collectives } = trace;
  const rows = rows_of_call(trace, row);
  const sent = messages_of_call(trace, rows);
  const entered = entered_at(trace);
  const members = taking_part(trace, rows);
  const by_entry = [...members].sort((a, b) => entered[a] - entered[b]);
  const first = entered[by_entry[0] ?? row];
  const late = by_entry.at(-1);
  return [
    facts([
      ['ranks', members.length === rows.length ? String(rows.length)
        : `${members.length}, and ${rows.length - members.length} without a part (MPI_PROC_NULL)`],
      ['algorithm', trace.text(collectives.algorithm[row])], ['bytes', collective_bytes(trace, rows)],
      ['messages', sent.length === 0 ? null : String(sent.length)],
      ['first enters at', instant_text(first)],
      ['last enters', members.length < 2 ? null : `rank ${collectives.rank[late]}, ${time_text(entered[late] - first)} later`],
    ]),
    collective_diagram(page, row, rows, sent),
  ];
}

function story_line(kind, line, text_at = 4) {
  return h('span', { class: kind, style: `padding-left:${text_at}ch;text-indent:-${text_at}ch` }, `${line}\n`);
}

// Lines keep their breaks, so that a copied story stays readable. The conclusions come first, then the steps in columns.
function story_lines(trace, row, story_shown) {
  const { name, conclusions, steps, text_at, origin } = story_parts(story_shown, trace.messages.first[row]);
  const times = Number.isNaN(origin) ? [] : [h('span', { class: 'story-times' },
    `Times in the story: microseconds since its first step, which is at ${instant_text(origin)} of the trace.\n`)];
  return [story_line('story-name', name), ...conclusions.map((line) => story_line('sentence', line, 2)), ...(steps.length > 0 ? times : []),
    ...steps.map((line) => story_line('step', line, text_at))];
}

/** @param {object} page {trace, store, actions, story_of} */
export function story_panel(page) {
  const { trace, store, actions, story_of } = page;
  const title = h('h2', { tabindex: -1, id: 'story-title' });
  const body = h('div', { class: 'story-body' });
  const text = h('pre', { class: 'story-text', tabindex: 0, 'aria-labelledby': 'story-title' });
  const button = (name, key, onclick) => h('button', { type: 'button', onclick, title: `${name} (${key})` }, name);
  const copy = button('Copy', 'c', () => actions.copy_story());
  const zoom = button('Zoom to it', 'z', () => actions.zoom_to_selected());
  const close = button('Close', 'Esc', () => actions.clear_selection());
  const element = h('section', { class: 'story', 'aria-label': 'story' }, title,
    h('div', { class: 'buttons only-screen' }, button('Previous message', 'p', () => actions.step_message(-1)),
      button('Next message', 'n', () => actions.step_message(1)), zoom, copy, close), text, body);
  let wanted = null;
  let story_shown = '';

  async function show_text(selected) {
    text.textContent = 'Reading the story …';
    let story;
    try {
      story = await story_of(selected.row);
    } catch (error) {
      story = error.message;
    }
    if (wanted !== selected) return;
    story_shown = story || 'This page has no story of this message.';
    text.replaceChildren(...story_lines(trace, selected.row, story_shown));
  }

  function show() {
    const { selected } = store.state;
    wanted = selected;
    text.hidden = selected?.kind !== 'message';
    copy.hidden = text.hidden;
    zoom.hidden = !selected;
    close.hidden = !selected;
    if (!selected) {
      title.textContent = 'Story';
      body.replaceChildren(h('p', { class: 'note' }, 'Select a message, a call or a collective by a click on the timeline, in a list, or with the keys n and p.'));
      return;
    }
    if (selected.kind === 'message') {
      title.textContent = `Message ${message_name(trace, selected.row)}`;
      body.replaceChildren(message_facts(page, selected.row));
      show_text(selected);
    } else if (selected.kind === 'call') {
      title.textContent = trace.text(trace.calls.name[selected.row]);
      const collective = collective_of_call(trace, selected.row);
      body.replaceChildren(call_facts(page, selected.row), ...(collective < 0 ? []
        : [h('h3', {}, collective_name(trace, collective)), ...collective_facts(page, collective)]));
    } else if (selected.kind === 'access') {
      title.textContent = `One-sided: ${access_name(trace, selected.row)}`;
      body.replaceChildren(access_facts(page, selected.row));
    } else {
      title.textContent = collective_name(trace, selected.row);
      body.replaceChildren(...collective_facts(page, selected.row));
    }
  }

  actions.copy_story = async () => {
    if (text.hidden) return;
    try {
      await navigator.clipboard.writeText(story_shown);
      copy.textContent = 'Copied';
    } catch {  // the page has no clipboard: select the text, so that Ctrl+C copies it
      getSelection().selectAllChildren(text);
      copy.textContent = 'Selected: press Ctrl+C';
    }
    setTimeout(() => { copy.textContent = 'Copy'; }, 1500);
  };
  store.on(['selected'], show);
  show();
  return element;
}
