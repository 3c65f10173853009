// Names of rows, the same in all views.
import { bytes_text } from '../base/format.js';
import { call_name } from '../model/collective.js';

export { collective_name } from '../model/collective.js';

/** "0>1 #17", or by another way than the usual one "0>1 #tcp.17". */
export function message_name(trace, row) {
  const { source, destination, sequence, way } = trace.messages;
  const by = way?.[row] ? `${trace.text(way[row])}.` : '';
  return `${source[row]}>${destination[row]} #${by}${sequence[row]}`;
}

/** "portal 0 (receives)", from the number and the trace's name, which may be all of it or only the part in parentheses. */
export function portal_text(number, name) {
  if (/^portal \d/.test(name)) return name;
  return `portal ${number}${name ? ` (${name})` : ''}`;
}

/**
 * A message's description, without the facts that its name and the communicator's filter show: "25 x MPI_INT, tag 7", "... in halo",
 * "MPI_Allreduce 3, message 2" (the second of its sender in it).
 */
export function short_what(trace, row) {
  const { messages } = trace;
  const collective = messages.collective[row];
  if (collective >= 0) return `${call_name(trace, collective)}, message ${messages.step[row]}`;
  const what = trace.text(messages.what[row]).replace(/ from \d+ in (.+)$/, ' in $1').replace(/ in MPI_COMM_WORLD$/, '');
  return what.replace(/^.*, (collective call \d+) of .*, (message \d+ of \d+) that .*$/, '$1, $2');
}

/** The bytes of a collective call whose parts are `rows`; a range if the ranks' blocks differ. */
export function collective_bytes(trace, rows) {
  const { collectives } = trace;
  const [least, most] = rows.reduce(([low, high], row) => [Math.min(low, collectives.bytes[row]), Math.max(high, collectives.bytes[row])], [Infinity, -Infinity]);
  if (most === 0 && trace.text(collectives.algorithm[rows[0]]) === 'direct') return '–';
  return least === most ? bytes_text(most) : `${bytes_text(least)} to ${bytes_text(most)}`;
}

/** The times between which the timeline draws a message, even if the trace has only a part of it. */
export function message_ends(messages, row) {
  const sent = messages.sent[row] === messages.sent[row] ? messages.sent[row] : messages.first[row];
  const arrived = messages.arrived[row] === messages.arrived[row] ? messages.arrived[row] : NaN;
  return { sent, arrived };
}
