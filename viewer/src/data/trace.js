// A page's trace as typed arrays. Texts are indices into one table, times nanoseconds since the trace's first event.
import { decode_blob, decode_text } from './decode.js';
import { missing_column, type_bytes, typed } from './schema.js';
import { kTables } from './tables.js';

const kFormat = 2;
const kAtOnce = 4;  // columns that are decoded concurrently: hides the stream's latency, bounds the memory

/**
 * @typedef {object} Trace
 * @property {string} title
 * @property {string} started
 * @property {number} duration ns, at least 1
 * @property {string[]} notes sentences for the top of the page
 * @property {object[]} ranks ascending; each {rank, node, events, lost, ... , file: whether it has one}
 * @property {Map<number, number>} index_of_rank rank number to index in `ranks`
 * @property {string[]} strings
 * @property {{block: number, blobs: number[]}} stories
 * @property {?object} difference from another run (docs/trace_diff.md); null: the page compares none
 * and a member for each table of `kTables`: {rows, column: typed array, ...}
 */

async function read_table(name, head, blob) {
  const rows = head?.rows ?? 0;
  const table = { rows };
  const jobs = Object.keys(kTables[name]).map((column) => async () => {
    const place = head?.columns?.[column];
    if (!place || rows === 0) {
      table[column] = missing_column(name, column, rows);
      return;
    }
    const what = `table ${name}, column ${column}`;
    const width = type_bytes(place.type);
    if (!width) throw new Error(`${what}: its type ${place.type} is not known: the page's script and its data do not match.`);
    const buffer = await decode_blob(blob(place.blob), what);
    if (buffer.byteLength !== rows * width) {
      throw new Error(`${what}: ${buffer.byteLength} bytes where ${rows} rows take ${rows * width}. `
        + 'Write the page again with `margay trace view`.');
    }
    table[column] = typed(place.type, buffer);
  });
  await Promise.all(Array.from({ length: kAtOnce }, async () => {
    for (let job = jobs.shift(); job; job = jobs.shift()) await job();
  }));
  return table;
}

// Ranks without a file (killed before they wrote one) still send and receive in the files of others.
function all_ranks(head, messages) {
  const ranks = new Map((head.ranks ?? []).map((rank) => [rank.rank, { file: true, ...rank }]));
  const add = (rank) => {
    if (!ranks.has(rank)) ranks.set(rank, { rank, node: -1, events: 0, lost: 0, file: false });
  };
  for (let row = 0; row < messages.rows; row++) {
    add(messages.source[row]);
    add(messages.destination[row]);
  }
  return [...ranks.values()].sort((a, b) => a.rank - b.rank);
}

function latest(trace) {
  let end = 1;
  for (const [table, column] of [['calls', 'end'], ['calls', 'begin'], ['messages', 'last'], ['waits', 'end']]) {
    const values = trace[table][column];
    for (let row = 0; row < values.length; row++) if (values[row] > end) end = values[row];
  }
  return end;
}

/**
 * Reads all tables. Stories stay encoded (see stories.js).
 * @param {object} head as the contract says
 * @param {(number: number) => string} blob text of a blob; called once for each column
 * @returns {Promise<Trace>}
 */
export async function read_trace(head, blob) {
  if (head.format !== kFormat) {
    throw new Error(`The data of this page has format ${head.format}, its script reads ${kFormat}. `
      + 'Write the page again with one version of `margay trace view`.');
  }
  const trace = {
    title: head.title ?? '', started: head.started ?? '', notes: head.notes ?? [],
    stories: head.stories ?? { block: 1, blobs: [] }, difference: head.difference ?? null,
  };
  trace.strings = head.strings ?? JSON.parse(await decode_text(blob(head.strings_blob), 'the table of texts'));
  for (const name of Object.keys(kTables)) trace[name] = await read_table(name, head.tables?.[name], blob);
  trace.duration = Math.max(latest(trace), head.duration_ns ?? 1);
  trace.ranks = all_ranks(head, trace.messages);
  trace.index_of_rank = new Map(trace.ranks.map((rank, index) => [rank.rank, index]));
  trace.text = (index) => trace.strings[index] ?? '';
  return trace;
}
