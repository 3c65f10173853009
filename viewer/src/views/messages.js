// The panel of messages: a list of all that pass the filter.
import { bytes_text, count_text, counted, instant_text, time_text, widest_instants } from '../base/format.js';
import { memory_sentence } from '../model/collective.js';
import { h, table } from './dom.js';
import { VirtualTable } from './virtual_table.js';
import { message_name, short_what } from './words.js';

const kPrinted = 40;  // rows that are printed
const kNothing = new Set(['', '–', '0']);  // a column of only these is not printed

// Numbers of texts in alphabetical order, so that texts sort like amounts. Computed when a column of texts is first sorted.
function text_order(trace) {
  let order = null;
  return (index) => {
    if (!order) {
      order = new Float64Array(trace.strings.length);
      trace.strings.map((string, number) => [string, number]).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
        .forEach(([, number], place) => { order[number] = place; });
    }
    return order[index];
  };
}

function columns_of(trace) {
  const { messages } = trace;
  const order = text_order(trace);
  const text = (id, label, width, more = {}) => ({
    id, label, width, text: (row) => trace.text(messages[id][row]), key: (row) => order(messages[id][row]), ...more,
  });
  const time = (id, label, value, width = 62) => ({
    id, label, width, number: true, text: (row) => (value(row) > 0 ? time_text(value(row)) : '–'), key: value,
  });
  const texts = (id) => [...new Set(messages[id])].map((index) => trace.text(index));
  return [
    { id: 'message', label: 'message', width: 82, text: (row) => message_name(trace, row),
      key: (row) => messages.source[row] * 1e12 + messages.destination[row] * 1e7 + messages.sequence[row] },
    { id: 'sent', label: 'sent', width: 90, number: true, widest: widest_instants(trace.duration), text: (row) => instant_text(messages.sent[row]), key: (row) => messages.sent[row] },
    { id: 'bytes', label: 'bytes', width: 74, number: true, text: (row) => bytes_text(messages.bytes[row]), key: (row) => messages.bytes[row],
      title: (row) => counted(messages.bytes[row], 'byte') },
    text('what', 'what', 92, { grow: true, text: (row) => short_what(trace, row), title: (row) => trace.text(messages.what[row]) }),
    text('how', 'how', 62, { widest: texts('how'), title: (row) => trace.text(messages.how[row]) }),
    time('lasted', 'took', (row) => messages.received[row] - messages.sent[row]),
    time('receiver_waited', 'recv waited', (row) => messages.receiver_waited[row]),
    time('sender_waited', 'send waited', (row) => messages.sender_waited[row]),
    text('protocol', 'protocol', 62, { widest: texts('protocol') }),
    text('wire', 'wire', 32),
    { id: 'walked', label: 'walked', width: 52, number: true, text: (row) => count_text(messages.walked[row]), key: (row) => messages.walked[row] },
  ];
}

/** @param {object} page {trace, store, actions} */
export function messages_panel({ trace, store, actions }) {
  const columns = columns_of(trace);
  const list = new VirtualTable({ label: 'messages', columns, choose: (row) => actions.select_message(row) });
  const count = h('p', { class: 'note', id: 'message-count' });
  const paper = h('div', { class: 'only-printed' });
  const element = h('div', { class: 'messages' }, count, h('div', { class: 'only-screen' }, list.element), paper);
  const accesses = trace.accesses.rows === 0 ? '' : ` ${counted(trace.accesses.rows, 'one-sided access', 'one-sided accesses')}, on the timeline and with their calls, whatever the filter.`;
  const counts = ({ length }) => {
    if (trace.messages.rows === 0) return memory_sentence(trace) || 'The trace has no messages.';
    return length === 0 ? 'No message passes the filter.' : `${counted(length, 'message')} of ${count_text(trace.messages.rows)}${accesses && '.'}`;
  };
  const show = () => {
    list.set_rows(store.state.rows);
    count.textContent = `${counts(store.state.rows)}${accesses}`;
  };
  store.on(['rows'], show);
  store.on(['selected'], () => list.set_chosen(store.state.selected?.kind === 'message' ? store.state.selected.row : -1));
  show();
  return {
    id: 'messages', label: 'Messages', element, show: () => list.draw(),
    print() {
      const rows = [...list.order.slice(0, kPrinted)];
      const more = list.length > kPrinted ? `the first ${kPrinted} of ${count_text(list.length)}` : null;
      const printed = columns.filter((column) => rows.some((row) => !kNothing.has(column.text(row))));
      paper.replaceChildren(table(printed.map(({ label }) => label), rows.map((row) => printed.map((column) => column.text(row))),
        { numbers: printed.flatMap((column, index) => (column.number ? [index] : [])), caption: more }));
    },
  };
}
