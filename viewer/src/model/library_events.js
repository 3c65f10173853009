// The events of communication libraries: by rank and time, and by call.
import { first_above, first_at_least } from '../base/bisect.js';

/** The rows of each rank's events, ascending by time: Map of rank to {rows, time}. */
export function events_by_rank({ library_events: { rows, rank, time } }) {
  const of_rank = new Map();
  // The table has the order of the trace.
  for (let row = 0; row < rows; row++) {
    if (!of_rank.has(rank[row])) of_rank.set(rank[row], { rows: [], time: [] });
    const events = of_rank.get(rank[row]);
    events.rows.push(row);
    events.time.push(time[row]);
  }
  return of_rank;
}

/** At most one time of each pixel in [from, to], so that the cost of drawing depends on the pixels in view. */
export function times_in_view({ time }, from, to, pixel_ns) {
  const times = [];
  for (let index = first_at_least(time, from); index < time.length && time[index] <= to;) {
    times.push(time[index]);
    index = first_at_least(time, time[index] + pixel_ns, index + 1);
  }
  return times;
}

/** The rows with a time in [from, to]. */
export function rows_between({ rows, time }, from, to) {
  return rows.slice(first_at_least(time, from), first_above(time, to));
}

/** The rows of a call. */
export function events_of_call({ library_events: { rows, call } }, row) {
  return Array.from({ length: rows }, (_, event) => event).filter((event) => call[event] === row);
}
