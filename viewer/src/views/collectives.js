// The panel of collective calls: a list with a line for each.
import { counted, instant_text, time_text, widest_instants } from '../base/format.js';
import { collective_groups, entered_at, taking_part } from '../model/collective.js';
import { collective_passes } from '../model/filter.js';
import { h } from './dom.js';
import { VirtualTable } from './virtual_table.js';
import { collective_bytes, collective_name } from './words.js';

// For each call, by its first row: its begin and end, and the time between its first and its last entry.
function summaries(trace) {
  const { collectives } = trace;
  const entered = entered_at(trace);
  const calls = new Map();
  for (const rows of collective_groups(trace).values()) {
    const members = taking_part(trace, rows);
    const begins = (members.length > 0 ? members : rows).map((row) => entered[row]);
    const ends = rows.map((row) => collectives.end[row]);
    const begin = begins.reduce((a, b) => Math.min(a, b));
    calls.set(rows[0], { rows, begin, end: ends.reduce((a, b) => Math.max(a, b)), spread: begins.reduce((a, b) => Math.max(a, b)) - begin });
  }
  return calls;
}

/** @param {object} page {trace, store, actions} */
export function collectives_panel({ trace, store, actions }) {
  const { collectives } = trace;
  const calls = summaries(trace);
  const text = (id, label, width, more = {}) => ({ id, label, width, text: (row) => trace.text(collectives[id][row]), key: (row) => collectives[id][row], ...more });
  const time = (id, label) => ({ id, label, width: 78, number: true, text: (row) => time_text(calls.get(row)[id]), key: (row) => calls.get(row)[id] });
  const list = new VirtualTable({ label: 'collective calls', choose: (row) => actions.select_collective(row), columns: [
    { id: 'name', label: 'call', width: 290, grow: true, text: (row) => collective_name(trace, row), key: (row) => collectives.name[row] * 1e9 + collectives.number[row] },
    { id: 'begin', label: 'begins', width: 96, number: true, widest: widest_instants(trace.duration), text: (row) => instant_text(calls.get(row).begin), key: (row) => calls.get(row).begin },
    { id: 'lasts', label: 'takes', width: 62, number: true, text: (row) => time_text(calls.get(row).end - calls.get(row).begin),
      key: (row) => calls.get(row).end - calls.get(row).begin },
    time('spread', 'last enters'),
    { id: 'ranks', label: 'ranks', width: 40, number: true, text: (row) => String(calls.get(row).rows.length), key: (row) => calls.get(row).rows.length },
    text('algorithm', 'algorithm', 76),
    { id: 'bytes', label: 'bytes', width: 72, number: true, text: (row) => collective_bytes(trace, calls.get(row).rows), key: (row) => collectives.bytes[row] },
  ] });
  const note = h('p', { class: 'note' });
  const wanted = (row) => collective_passes(trace, store.state.filter, row, calls.get(row).rows);
  const show = () => {
    list.set_rows(Int32Array.from([...calls.keys()].filter(wanted).sort((a, b) => calls.get(a).begin - calls.get(b).begin)));
    note.textContent = calls.size === 0 ? 'The trace has no collective calls.' : `${counted(list.length, 'call')} of ${calls.size}; `
      + 'select one to see its messages as a tree or a ring.';
  };
  store.on(['selected'], () => {
    const { selected } = store.state;
    list.set_chosen(selected?.kind === 'collective' ? [...calls].find(([, call]) => call.rows.includes(selected.row))?.[0] ?? -1 : -1);
  });
  return { id: 'collectives', label: 'Collectives', element: h('div', { class: 'messages' }, note, list.element),
    show, keys: ['filter'] };
}
