// The text of the tooltip for the message, access or call under the pointer.
import { bytes_text, counted, instant_text, time_text } from '../../base/format.js';
import { access_name, way_text } from '../../model/accesses.js';
import { message_name } from '../words.js';

const kEventsMost = 8;

/** Lines on a message. */
export function message_lines(trace, row) {
  const { messages } = trace;
  const how = [trace.text(messages.protocol[row]), trace.text(messages.how[row]), trace.text(messages.wire[row])]
    .filter((text) => text !== '').join(', ');
  const lines = [message_name(trace, row), trace.text(messages.what[row]), `${bytes_text(messages.bytes[row])}${how ? `; ${how}` : ''}`];
  if (messages.sent[row] === messages.sent[row]) {
    lines.push(`sent ${instant_text(messages.sent[row])}, `
      + (Number.isNaN(messages.arrived[row]) ? 'not arrived' : `in flight ${time_text(messages.arrived[row] - messages.sent[row])}`));
  }
  if (messages.receiver_waited[row] > 0) lines.push(`the receiver waited ${time_text(messages.receiver_waited[row])}: late sender`);
  if (messages.sender_waited[row] > 0) lines.push(`the sender waited ${time_text(messages.sender_waited[row])}: late receiver`);
  return lines.filter((line) => line !== '');
}

/** Lines on a call. */
export function call_lines(trace, row) {
  const { calls } = trace;
  const site = trace.text(calls.site[row]);
  const over = calls.end[row] >= calls.begin[row];
  return [
    `${trace.text(calls.name[row])}${site ? ` (${site})` : ''}`,
    `rank ${calls.rank[row]}, from ${instant_text(calls.begin[row])}`,
    over ? `${time_text(calls.end[row] - calls.begin[row])} long, ${time_text(calls.wait[row])} of it waiting` : 'never returned',
  ];
}

/** Lines on a one-sided access. */
export function access_lines(trace, row) {
  const { accesses } = trace;
  return [access_name(trace, row), `at offset ${accesses.offset[row]} of ${trace.text(accesses.window[row])}`, `by ${way_text(trace, row)}`];
}

/** Lines on events of libraries. */
export function library_lines(trace, rows) {
  const { library_events } = trace;
  const lines = rows.slice(0, kEventsMost).map((row) => `${instant_text(library_events.time[row])}, rank ${library_events.rank[row]}: ${trace.text(library_events.text[row])}`);
  return rows.length > kEventsMost ? [...lines, `and ${counted(rows.length - kEventsMost, 'more event')}`] : lines;
}

/** The lines for `found`, as {message}, {access}, {library: rows} or {call, count}; a number is -1 if there is none. */
export function tooltip_lines(trace, found) {
  if (found.message >= 0) return message_lines(trace, found.message);
  if (found.access >= 0) return access_lines(trace, found.access);
  if (found.library) return library_lines(trace, found.library);
  if (found.count > 1) return [`${counted(found.count, 'call')} in this pixel`, 'zoom in to separate them'];
  return call_lines(trace, found.call);
}
