// One-sided accesses: the method of each, the direction of its data, and its messages.
import { bytes_text } from '../base/format.js';

const kWays = {
  direct: 'memory that both have mapped: no message',
  process: 'the other process\'s memory, by the operating system: no message',
  message: 'messages',
};

/** Whether data goes from the target to the origin only. */
export function reads_only(trace, row) {
  return trace.text(trace.accesses.what[row]) === 'get';
}

/** Whether the target's data is combined with the origin's. */
export function combines(trace, row) {
  return !['put', 'get'].includes(trace.text(trace.accesses.what[row]));
}

/** "put 0>1, 64 bytes". */
export function access_name(trace, row) {
  const { rank, target, what, bytes } = trace.accesses;
  return `${trace.text(what[row])} ${rank[row]}>${target[row]}, ${bytes_text(bytes[row])}`;
}

/** The method of an access, as text. */
export function way_text(trace, row) {
  const way = trace.text(trace.accesses.way[row]);
  return kWays[way] ?? way;
}

/** The table in the form that `ArrowLevels` and `pairs_of` take: the times and ranks between which each access is drawn. */
export function access_arrows({ accesses }) {
  const last = Float64Array.from(accesses.end, (end, row) => (end >= accesses.begin[row] ? end : accesses.begin[row]));
  return { rows: accesses.rows, source: accesses.rank, destination: accesses.target, first: accesses.begin, last };
}

/** Rows of the messages that the call of an access by messages sent to its target. */
export function messages_of_access(trace, row) {
  const { accesses, messages } = trace;
  const found = [];
  if (trace.text(accesses.way[row]) !== 'message' || accesses.call[row] < 0) return found;
  for (let message = 0; message < messages.rows; message++) {
    if (messages.send_call[message] === accesses.call[row] && messages.destination[message] === accesses.target[row]) found.push(message);
  }
  return found;
}
