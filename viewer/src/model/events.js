// The times of a rank's events, through which the arrow keys step.
import { first_above, first_at_least } from '../base/bisect.js';

function collect(times, table, columns, is_of) {
  for (let row = 0; row < table.rows; row++) {
    for (const [column, place] of columns) {
      if (is_of(table[place][row])) {
        const time = table[column][row];
        if (time === time) times.push(time);  // not NaN
      }
    }
  }
}

/** All times of `rank`, ascending, each once: calls begin and end, messages are sent, arrive, are received, entries come and go, libraries record events. */
export function times_of_rank(trace, rank) {
  const times = [];
  const is_of = (value) => value === rank;
  collect(times, trace.calls, [['begin', 'rank'], ['end', 'rank']], is_of);
  collect(times, trace.messages, [['sent', 'source'], ['arrived', 'destination'], ['received', 'destination']], is_of);
  collect(times, trace.entries, [['from', 'rank'], ['to', 'rank']], is_of);
  collect(times, trace.library_events, [['time', 'rank']], is_of);
  collect(times, trace.heap, [['from', 'rank'], ['to', 'rank']], is_of);
  const sorted = Float64Array.from(times).sort();
  let count = 0;
  for (let i = 0; i < sorted.length; i++) {
    if (i === 0 || sorted[i] !== sorted[i - 1]) sorted[count++] = sorted[i];
  }
  return sorted.slice(0, count);
}

/** The time in `times` after (`step` 1) or before (-1) `time`; `time` itself at the ends. */
export function next_time(times, time, step) {
  const index = step > 0 ? first_above(times, time) : first_at_least(times, time) - 1;
  return index >= 0 && index < times.length ? times[index] : time;
}
