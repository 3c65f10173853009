// The notes at the top of the page: those of the trace, and those about ranks that never ended, from its tables.
import { count_text, instant_text, time_text } from '../base/format.js';
import { category_of, kCategories } from './categories.js';
import { rows_of_call } from './collective.js';
import { is_catch_all } from './instant.js';
import { call_text } from './late.js';
import { text_of_ranks } from './ranks_text.js';

const kNamedMost = 12;     // ranks that are named
const kReceivesMost = 3;   // that are named of a rank
const kOfRank = /^Rank (\d+)(:?) (.+)$/s;
const kAmount = /(?<=^| )\d+(?= )/;  // in a note about a rank

function range_text(amounts) {
  const [least, most] = [Math.min(...amounts), Math.max(...amounts)];
  return least === most ? count_text(least) : `${count_text(least)} to ${count_text(most)}`;
}

/** `notes`, where those that are equal for several ranks are joined; if only an amount differs, with its range. */
export function joined_notes(notes) {
  const said = new Map();
  for (const note of notes) {
    const [, rank, colon, rest] = kOfRank.exec(note) ?? [null, null, '', note];
    const key = rank === null ? note : `${colon} ${rest.replace(kAmount, '#')}`;
    if (!said.has(key)) said.set(key, { ranks: [], rests: [], colon, note });
    if (rank === null) continue;
    said.get(key).ranks.push(Number(rank));
    said.get(key).rests.push(rest);
  }
  return [...said.values()].map(({ ranks, rests, colon, note }) => {
    if (ranks.length < 2) return note;
    const amounts = rests.map((rest) => kAmount.exec(rest)).filter(Boolean).map(([amount]) => Number(amount));
    const same = rests[0].replace(kAmount, () => range_text(amounts));
    return `Ranks ${text_of_ranks(ranks)}: ${colon ? same.replace(/^its /, 'their ').replaceAll(' its ', ' their ') : `each ${same}`}`;
  });
}

// The program's call of a rank and thread that had not returned; -1 if there is none.
function open_call(trace, rank, thread) {
  const { calls } = trace;
  let found = -1;
  for (let row = 0; row < calls.rows; row++) {
    if (calls.rank[row] !== rank || calls.thread[row] !== thread || calls.depth[row] !== 0 || !Number.isNaN(calls.end[row])) continue;
    if (found < 0 || calls.begin[row] > calls.begin[found]) found = row;
  }
  return found;
}

// The receives of `rank` that were posted to the end; for a rank in a receive call, only that call's.
function standing_receives(trace, rank, call) {
  const { calls, entries } = trace;
  const own = call >= 0 && kCategories[category_of(trace.text(calls.name[call]))].id === 'receive';
  const wants = [];
  for (let row = 0; row < entries.rows; row++) {
    if (entries.rank[row] !== rank || !Number.isNaN(entries.to[row]) || entries.message[row] >= 0 || is_catch_all(trace, row)) continue;
    if (!/receive/.test(trace.text(entries.name[row])) || (own && !(entries.from[row] >= calls.begin[call]))) continue;
    wants.push(trace.text(entries.wanted[row]) || 'what its entry accepts');
  }
  if (wants.length === 0) return '';
  const listed = wants.slice(0, kReceivesMost).join('; ') + (wants.length > kReceivesMost ? `; and ${wants.length - kReceivesMost} more` : '');
  return wants.length === 1 ? `; its receive accepts ${listed}` : `; its ${wants.length} receives accept ${listed}`;
}

// The ranks that have entered the collective call in which `rank` waits.
function open_collective(trace, rank, call) {
  const { calls, collectives } = trace;
  if (call < 0) return '';
  for (let row = collectives.rows - 1; row >= 0; row--) {
    if (collectives.rank[row] !== rank || !(collectives.begin[row] >= calls.begin[call]) || !Number.isNaN(collectives.end[row])) continue;
    const entered = rows_of_call(trace, row).map((other) => collectives.rank[other]);
    return `; the ranks ${text_of_ranks(new Set(entered))} had entered it`.replace(/the ranks (\d+) had/, 'only rank $1 had');
  }
  return '';
}

function lying(trace, rank) {
  const { heap, messages } = trace;
  const rows = [];
  for (let row = 0; row < heap.rows; row++) if (heap.rank[row] === rank && Number.isNaN(heap.to[row]) && heap.message[row] >= 0) rows.push(heap.message[row]);
  if (rows.length === 0) return '';
  return `; ${rows.length === 1 ? 'a message is' : `${rows.length} messages are`} in its heap, not received: ${trace.text(messages.what[rows[0]])}${rows.length > 1 ? ' first' : ''}`;
}

/** "Rank 0 still waited in MPI_Recv (hang.c:9) when the recording ended; its receive accepts ..." for each that did. */
export function waiting_notes(trace) {
  const { waits } = trace;
  const open = [];
  for (let row = 0; row < waits.rows; row++) if (Number.isNaN(waits.end[row])) open.push(row);
  open.sort((a, b) => waits.rank[a] - waits.rank[b] || waits.thread[a] - waits.thread[b]);
  const named = open.slice(0, kNamedMost).map((row) => {
    const rank = waits.rank[row];
    const call = open_call(trace, rank, waits.thread[row]);
    const where = call < 0 ? '' : ` in ${call_text(trace, call)}`;
    return `Rank ${rank} still waited${where} when the recording ended, since ${instant_text(waits.begin[row])}`
      + `${standing_receives(trace, rank, call)}${open_collective(trace, rank, call)}${lying(trace, rank)}.`;
  });
  if (open.length > kNamedMost) named.push(`${open.length - kNamedMost} more ranks still waited.`);
  return named;
}

/** The time of each rank's last event, from its file: Map of rank to ns. */
export function last_events(trace) {
  return new Map(trace.ranks.filter(({ last }) => Number.isFinite(last)).map(({ rank, last }) => [rank, last]));
}

// Ranks that were ended from outside differ only in this: which rank's events end first, and which ranks did not wait.
function ending_notes(trace) {
  const unclosed = trace.ranks.filter(({ file, closed }) => file && closed === false).map(({ rank }) => rank);
  if (unclosed.length < 2) return [];
  const last = last_events(trace);
  const known = unclosed.filter((rank) => last.has(rank)).sort((a, b) => last.get(a) - last.get(b));
  const { waits } = trace;
  const waited = new Set();
  for (let row = 0; row < waits.rows; row++) if (Number.isNaN(waits.end[row])) waited.add(waits.rank[row]);
  const running = known.filter((rank) => !waited.has(rank));
  if (known.length < 2 || running.length === 0) return [];  // all ranks wait: a deadlock, and none of them was the first
  const [first, end] = [known[0], known.at(-1)];
  const notes = [`Rank ${first}\u2019s recording ends first, at ${instant_text(last.get(first))}, ${time_text(last.get(end) - last.get(first))} before that of rank ${end}.`];
  if (waited.size > 0 && running.length <= kNamedMost) {
    const where = running.map((rank) => {
      const call = open_call(trace, rank, 0);
      return `rank ${rank} ${call >= 0 ? `in ${call_text(trace, call)}` : 'between its calls'}, at ${instant_text(last.get(rank))}`;
    });
    notes.push(`Not waiting when the recording ended: ${where.join('; ')}.`);
  }
  return notes;
}

/** All notes for the top of the page. */
export function page_notes(trace) {
  return [...joined_notes(trace.notes), ...waiting_notes(trace), ...ending_notes(trace)];
}
