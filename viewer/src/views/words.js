// What single rows are called, in all views alike.
import { bytes_text } from '../base/format.js';
import { call_name } from '../model/collective.js';

export { collective_name } from '../model/collective.js';

/** "0>1 #17". */
export function message_name(trace, row) {
  const { source, destination, sequence } = trace.messages;
  return `${source[row]}>${destination[row]} #${sequence[row]}`;
}

/** "portal 0 (receives)", from the number and the trace's name for it, which may be whole or only what stands in the brackets. */
export function portal_text(number, name) {
  if (/^portal \d/.test(name)) return name;
  return `portal ${number}${name ? ` (${name})` : ''}`;
}

/**
 * What a message is without what its name and its communicator's filter tell: "25 x MPI_INT, tag 7", "... in halo",
 * "MPI_Allreduce 3, message 2" (the second of its sender in it).
 */
export function short_what(trace, row) {
  const { messages } = trace;
  const collective = messages.collective[row];
  if (collective >= 0) return `${call_name(trace, collective)}, message ${messages.step[row]}`;
  const what = trace.text(messages.what[row]).replace(/ from \d+ in (.+)$/, ' in $1').replace(/ in MPI_COMM_WORLD$/, '');
  return what.replace(/^.*, (collective call \d+) of .*, (message \d+ of \d+) that .*$/, '$1, $2');
}

/** The bytes of a collective call, of which `rows` are all ranks' parts; blocks of lengths of their own from the least to the most. */
export function collective_bytes(trace, rows) {
  const { collectives } = trace;
  const [least, most] = rows.reduce(([low, high], row) => [Math.min(low, collectives.bytes[row]), Math.max(high, collectives.bytes[row])], [Infinity, -Infinity]);
  if (most === 0 && trace.text(collectives.algorithm[rows[0]]) === 'direct') return '–';
  return least === most ? bytes_text(most) : `${bytes_text(least)} to ${bytes_text(most)}`;
}

/** When a message is said to be sent and to arrive on the timeline, even when only a part of it is in the trace. */
export function message_ends(messages, row) {
  const sent = messages.sent[row] === messages.sent[row] ? messages.sent[row] : messages.first[row];
  const arrived = messages.arrived[row] === messages.arrived[row] ? messages.arrived[row] : NaN;
  return { sent, arrived };
}
