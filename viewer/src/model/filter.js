// The filter: selects the messages that all views show.
import { kExactBelow } from '../base/format.js';
import { collective_name } from './collective.js';
import { ranks_of_text } from './ranks_text.js';

const kPair = /^(\d+)\s*>\s*(\d+)(?:\s*#\s*(?:([a-z]+)\.)?(\d+))?$/;  // "0>1", "0>1 #17", "0>1 #tcp.17"
const kMessage = /^(\d+):(\d+):(?:([a-z]+)\.)?(\d+)$/;                  // "0:1:17", which the commands accept too
const kRanks = /^ranks?\s+(\d[\d\s,-]*)$/;           // "rank 3"

/** The filter of a new page: all messages but the library's own. */
export const kNoFilter = Object.freeze({
  text: '', ranks: '', from: '', to: '', tag: '', communicator: '', protocol: '', how: '', wire: '', bytes: '', internal: false,
});

/** The errors of a filter, a sentence by field; {} if it has none. */
export function filter_errors(filter) {
  const errors = {};
  for (const field of ['ranks', 'from', 'to']) {
    if (ranks_of_text(filter[field]) === undefined) errors[field] = `"${filter[field]}" is not a set of ranks; write it like 0-3,7`;
  }
  if (filter.tag.trim() !== '' && !/^\s*-?\d+\s*$/.test(filter.tag)) errors.tag = `"${filter.tag}" is not a tag; write a number`;
  if (filter.bytes.trim() !== '' && bytes_of(filter.bytes) === null) {
    errors.bytes = `"${filter.bytes}" is not a length; write it like 800 or 64k`;
  }
  return errors;
}

function bytes_of(text) {
  const match = /^\s*(\d+(?:\.\d+)?)\s*(?:([kmg])(?:i?b)?|b|bytes?)?\s*$/i.exec(text);
  if (!match) return null;
  const value = Number(match[1]);
  const bytes = value * 1024 ** ['', 'k', 'm', 'g'].indexOf((match[2] ?? '').toLowerCase());
  // Lists round amounts that they show with a unit; the limit includes every amount that is shown like it.
  return match[2] && bytes >= kExactBelow ? bytes - (value < 10 ? 0.05 : 0.5) * (bytes / value) : bytes;
}

/** One byte for each text of the trace: whether it contains `text`, ignoring case. */
export function texts_with(strings, text) {
  const wanted = text.trim().toLowerCase();
  return Uint8Array.from(strings, (string) => (string.toLowerCase().includes(wanted) ? 1 : 0));
}

// Whether the text names one message, which a search finds even if it is hidden.
function is_message_name(text) {
  const wanted = text.trim().toLowerCase();
  return (kPair.exec(wanted) ?? kMessage.exec(wanted))?.[4] !== undefined;
}

// The test of a search for a name that the page uses: a pair of ranks, one of its messages, or a rank.
function name_test(trace, text) {
  const { source, destination, sequence, way } = trace.messages;
  const pair = kPair.exec(text) ?? kMessage.exec(text);
  if (pair) {
    const [from, to] = [Number(pair[1]), Number(pair[2])];
    const number = pair[4] === undefined ? null : Number(pair[4]);
    const by = pair[3] ?? '';
    return (row) => source[row] === from && destination[row] === to
      && (number === null || (sequence[row] === number && (way ? trace.text(way[row]) : '') === by));
  }
  const named = kRanks.exec(text);
  const ranks = named ? ranks_of_text(named[1]) : null;
  return ranks ? (row) => ranks.has(source[row]) || ranks.has(destination[row]) : () => false;
}

// Tests of single rows. An empty field has no test, and so no cost.
function tests_of(trace, filter) {
  const { messages, calls } = trace;
  const tests = [];
  const errors = filter_errors(filter);
  const ranks = errors.ranks ? null : ranks_of_text(filter.ranks);
  const from = errors.from ? null : ranks_of_text(filter.from);
  const to = errors.to ? null : ranks_of_text(filter.to);
  if (!filter.internal && !is_message_name(filter.text)) tests.push((row) => messages.internal[row] === 0);
  if (ranks) tests.push((row) => ranks.has(messages.source[row]) || ranks.has(messages.destination[row]));
  if (from) tests.push((row) => from.has(messages.source[row]));
  if (to) tests.push((row) => to.has(messages.destination[row]));
  if (filter.tag.trim() !== '' && !errors.tag) {
    const tag = Number(filter.tag);
    tests.push((row) => messages.tag[row] === tag);
  }
  for (const column of ['communicator', 'protocol', 'how', 'wire']) {
    if (filter[column] === '') continue;
    const number = trace.strings.indexOf(filter[column]);
    tests.push((row) => messages[column][row] === number);
  }
  if (filter.bytes.trim() !== '' && !errors.bytes) {
    const least = bytes_of(filter.bytes);
    tests.push((row) => messages.bytes[row] >= least);
  }
  if (filter.text.trim() !== '') {
    const name = name_test(trace, filter.text.trim().toLowerCase());
    const has = texts_with(trace.strings, filter.text);
    const in_call = (call) => call >= 0 && (has[calls.name[call]] === 1 || has[calls.site[call]] === 1);
    tests.push((row) => name(row) || has[messages.what[row]] === 1 || has[messages.communicator[row]] === 1
      || has[messages.portal_name[row]] === 1 || in_call(messages.send_call[row]) || in_call(messages.receive_call[row]));
  }
  return tests;
}

/**
 * Whether a collective call passes the fields of a filter that apply to calls: text, communicator, ranks.
 * @param {number} row of collectives @param {number[]} members rows of all its ranks
 */
export function collective_passes(trace, filter, row, members = [row]) {
  const { collectives } = trace;
  const communicator = trace.text(collectives.communicator[row]);
  if (filter.communicator !== '' && filter.communicator !== communicator) return false;
  const ranks = ranks_of_text(filter.ranks);
  if (ranks && !members.some((each) => ranks.has(collectives.rank[each]))) return false;
  const wanted = filter.text.trim().toLowerCase();
  if (collective_name(trace, row).toLowerCase().includes(wanted)) return true;
  const named = kRanks.exec(wanted);
  const searched = named ? ranks_of_text(named[1]) : null;
  return Boolean(searched) && members.some((each) => searched.has(collectives.rank[each]));
}

/**
 * @param {object} trace
 * @param {object} filter as `kNoFilter`; fields with errors count as empty
 * @returns {Int32Array} the rows of messages that pass, ascending
 */
export function filtered_rows(trace, filter) {
  const count = trace.messages.rows;
  const tests = tests_of(trace, filter);
  const rows = new Int32Array(count);
  let kept = 0;
  for (let row = 0; row < count; row++) {
    let passes = true;
    for (let i = 0; passes && i < tests.length; i++) passes = tests[i](row);
    if (passes) rows[kept++] = row;
  }
  return rows.slice(0, kept);
}

/** One byte for each message: 1 for those in `rows`. */
export function mask_of(count, rows) {
  const mask = new Uint8Array(count);
  for (let i = 0; i < rows.length; i++) mask[rows[i]] = 1;
  return mask;
}

/** The texts that occur in a column of messages, sorted, without "". */
export function values_of(trace, column) {
  const seen = new Set();
  const values = trace.messages[column];
  for (let row = 0; row < values.length; row++) seen.add(values[row]);
  return [...seen].map(trace.text).filter((text) => text !== '').sort();
}
