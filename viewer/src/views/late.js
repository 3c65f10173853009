// The panel of late ranks: senders, receivers and entries into collective calls, by the time that others waited.
import { counted, time_text } from '../base/format.js';
import { memory_sentence } from '../model/collective.js';
import { by_cost, by_site, call_text, late_call, not_known } from '../model/late.js';
import { collective_passes } from '../model/filter.js';
import { Entries, late_by_site } from '../model/late_entry.js';
import { h, link_button, table } from './dom.js';
import { collective_name, message_name, short_what } from './words.js';

const kListed = 50;

function part({ trace, store, actions }, title, column, waited) {
  const { rows, total } = by_cost(trace, store.state.rows, column);
  const { messages } = trace;
  const unknown = not_known(trace);
  const none = unknown === '' ? `No rank waited for ${waited}.` : `No other rank is known to have waited for ${waited}.`;
  const notes = unknown === '' ? [] : [h('p', { class: 'note not-known' }, unknown)];
  if (rows.length === 0) return h('section', {}, h('h3', {}, title), ...notes, h('p', { class: 'note' }, none));
  const link = (row, text) => link_button(text, () => actions.select_message(row));
  const sites = by_site(trace, rows, column);
  return h('section', { 'data-late': column }, h('h3', {}, `${title}: ${time_text(total)} in ${counted(rows.length, 'message')}`), ...notes,
    table(['their call', 'cost', 'messages', 'the worst'], sites.slice(0, kListed).map((site) => [
      site.site, time_text(site.cost), String(site.messages), link(site.worst, message_name(trace, site.worst))]), { numbers: [1, 2], caption: 'By call site' }),
    table(['message', 'cost', 'what', 'their call'], [...rows.slice(0, kListed)].map((row) => [
      link(row, message_name(trace, row)), time_text(messages[column][row]), h('span', { title: trace.text(messages.what[row]) }, short_what(trace, row)),
      call_text(trace, late_call(trace, row, column))]),
    { numbers: [1], caption: rows.length > kListed ? `The ${kListed} costliest messages` : 'By message' }));
}

function collectives_part({ trace, store, actions }, entries) {
  const { collectives } = trace;
  const late = entries.late((row) => collective_passes(trace, store.state.filter, row, entries.members.get(row)));
  const title = 'Late to collective calls';
  if (late.length === 0) return h('section', {}, h('h3', {}, title), h('p', { class: 'note' }, 'No rank waited for another to enter a collective call.'));
  const total = late.reduce((sum, { cost }) => sum + cost, 0);
  const link = (row) => link_button(`rank ${collectives.rank[row]} in ${collective_name(trace, row)}`, () => actions.select_collective(row));
  return h('section', { 'data-late': 'collectives' }, h('h3', {}, `${title}: ${time_text(total)} in ${counted(late.length, 'call')}`),
    h('p', { class: 'note' }, 'Time that the other ranks waited in the call until its last rank had entered. If the call sends messages, the late senders also include a part of this time.'),
    table(['their call', 'cost', 'calls', 'the worst'], late_by_site(late, (call) => call_text(trace, call)).slice(0, kListed).map((site) => [
      site.site, time_text(site.cost), String(site.calls), link(site.worst)]), { numbers: [1, 2], caption: 'By call site' }),
    table(['last to enter', 'cost', 'ranks that waited', 'their call'], late.slice(0, kListed).map(({ row, cost, waited, call }) => [
      link(row), time_text(cost), String(waited), call_text(trace, call)]),
    { numbers: [1, 2], caption: late.length > kListed ? `The ${kListed} costliest calls` : 'By call' }));
}

/** @param {object} page {trace, store, actions} */
export function late_panel(page) {
  const element = h('div', { class: 'columns late' });
  let entries = null;  // made when the panel is first shown
  const show = () => {
    entries ??= new Entries(page.trace);
    const missing = page.trace.messages.rows === 0 ? memory_sentence(page.trace) : '';
    const parts = [part(page, 'Late senders', 'receiver_waited', 'a sender'), part(page, 'Late receivers', 'sender_waited', 'a receiver'),
      collectives_part(page, entries)];
    element.replaceChildren(...(missing ? [h('section', {}, h('p', { class: 'note' }, missing), parts.pop())] : []), ...parts);
  };
  return { id: 'late', label: 'Late ranks', element, show, keys: ['rows', 'filter'] };
}
