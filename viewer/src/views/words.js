// What single rows are called, in all views alike.
import { bytes_text } from '../base/format.js';

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

/** "MPI_Allreduce number 3 on MPI_COMM_WORLD". */
export function collective_name(trace, row) {
  const { collectives } = trace;
  const communicator = trace.text(collectives.communicator[row]);
  return `${trace.text(collectives.name[row])} number ${collectives.number[row]}${communicator ? ` on ${communicator}` : ''}`;
}

/**
 * What a message is without what its name and its communicator's filter tell: "25 x MPI_INT, tag 7", "... in halo",
 * "MPI_Allreduce 3, message 2" (the second of its sender in it).
 */
export function short_what(trace, row) {
  const { messages } = trace;
  const collective = messages.collective[row];
  if (collective >= 0) return `${trace.text(trace.collectives.name[collective])} ${trace.collectives.number[collective]}, message ${messages.step[row]}`;
  const what = trace.text(messages.what[row]).replace(/ from \d+ in (.+)$/, ' in $1').replace(/ in MPI_COMM_WORLD$/, '');
  return what.replace(/^.*, (collective call \d+) of .*, (message \d+ of \d+) that .*$/, '$1, $2');
}

/** The bytes of a collective call; blocks that go straight to their receivers have no one length. */
export function collective_bytes(trace, row) {
  const { collectives } = trace;
  return collectives.bytes[row] === 0 && trace.text(collectives.algorithm[row]) === 'direct' ? '–' : bytes_text(collectives.bytes[row]);
}

/** When a message is said to be sent and to arrive on the timeline, even when only a part of it is in the trace. */
export function message_ends(messages, row) {
  const sent = messages.sent[row] === messages.sent[row] ? messages.sent[row] : messages.first[row];
  const arrived = messages.arrived[row] === messages.arrived[row] ? messages.arrived[row] : NaN;
  return { sent, arrived };
}
