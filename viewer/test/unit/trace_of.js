// A trace from written-out rows: values that a test does not set are "not known".
import { missing_column } from '../../src/data/schema.js';
import { kTables } from '../../src/data/tables.js';

/**
 * @param {object} tables e.g. {messages: [{source: 0, destination: 1, sent: 5}]}; values of text columns may be texts
 * @param {object} more other members of the trace
 */
export function trace_of(tables, more = {}) {
  const strings = [''];
  const text = (value) => {
    if (typeof value !== 'string') return value;
    if (!strings.includes(value)) strings.push(value);
    return strings.indexOf(value);
  };
  const trace = { strings, duration: 1000, notes: [], text: (index) => strings[index] ?? '', ...more };
  for (const [name, columns] of Object.entries(kTables)) {
    const rows = tables[name] ?? [];
    trace[name] = { rows: rows.length };
    for (const column of Object.keys(columns)) {
      trace[name][column] = missing_column(name, column, rows.length);
      rows.forEach((row, index) => { if (column in row) trace[name][column][index] = text(row[column]); });
    }
  }
  const ranks = new Set([...trace.messages.source, ...trace.messages.destination, ...trace.calls.rank]);
  trace.ranks ??= [...ranks].sort((a, b) => a - b).map((rank) => ({ rank, node: 0, file: true, lost: 0 }));
  trace.index_of_rank = new Map(trace.ranks.map((rank, index) => [rank.rank, index]));
  return trace;
}

/** All messages, as the rows of a filter. */
export function all_rows(trace) {
  return Int32Array.from({ length: trace.messages.rows }, (_, row) => row);
}
