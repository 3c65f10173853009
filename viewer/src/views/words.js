// What single rows are called, in all views alike.

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

/** When a message is said to be sent and to arrive on the timeline, even when only a part of it is in the trace. */
export function message_ends(messages, row) {
  const sent = messages.sent[row] === messages.sent[row] ? messages.sent[row] : messages.first[row];
  const arrived = messages.arrived[row] === messages.arrived[row] ? messages.arrived[row] : NaN;
  return { sent, arrived };
}
