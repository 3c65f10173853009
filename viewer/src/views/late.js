// Late senders and late receivers, by what they cost.
import { counted, time_text } from '../base/format.js';
import { by_cost, by_site, call_text, late_call } from '../model/late.js';
import { h, link_button, table } from './dom.js';
import { message_name } from './words.js';

const kListed = 50;

function part({ trace, store, actions }, title, column, waited) {
  const { rows, total } = by_cost(trace, store.state.rows, column);
  const { messages } = trace;
  if (rows.length === 0) return h('section', {}, h('h3', {}, title), h('p', { class: 'note' }, `No rank waited for ${waited}.`));
  const link = (row, text) => link_button(text, () => actions.select_message(row));
  const sites = by_site(trace, rows, column);
  return h('section', { 'data-late': column }, h('h3', {}, `${title}: ${time_text(total)} in ${counted(rows.length, 'message')}`),
    table(['their call', 'cost', 'messages', 'the worst'], sites.slice(0, kListed).map((site) => [
      site.site, time_text(site.cost), String(site.messages), link(site.worst, message_name(trace, site.worst))]), { numbers: [1, 2], caption: 'By call site' }),
    table(['message', 'cost', 'what', 'their call'], [...rows.slice(0, kListed)].map((row) => [
      link(row, message_name(trace, row)), time_text(messages[column][row]), trace.text(messages.what[row]), call_text(trace, late_call(trace, row, column))]),
    { numbers: [1], caption: rows.length > kListed ? `The ${kListed} costliest messages` : 'By message' }));
}

/** @param {object} page {trace, store, actions} */
export function late_panel(page) {
  const element = h('div', { class: 'columns late' });
  const show = () => element.replaceChildren(part(page, 'Late senders', 'receiver_waited', 'a sender'),
    part(page, 'Late receivers', 'sender_waited', 'a receiver'));
  return { id: 'late', label: 'Late ranks', element, show, keys: ['rows'] };
}
