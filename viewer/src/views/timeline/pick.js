// Finds the message, access or call at a position of the timeline, by index and geometry.
import { first_above } from '../../base/bisect.js';
import { item_at } from '../../model/rows.js';

const kArrowPixels = 5;

/** Distance of (x, y) from the line's points. */
export function distance_to({ x0, y0, x1, y1 }, x, y) {
  const [dx, dy] = [x1 - x0, y1 - y0];
  const length = dx * dx + dy * dy;
  const share = length === 0 ? 0 : Math.max(0, Math.min(1, ((x - x0) * dx + (y - y0) * dy) / length));
  return Math.hypot(x0 + share * dx - x, y0 + share * dy - y);
}

/** The row of the message whose arrow is nearest to (x, y), within some pixels, or -1. */
export function message_at(drawn, x, y) {
  let best = -1;
  let best_distance = kArrowPixels;
  drawn.lines.forEach((line, index) => {
    if (Math.min(line.x0, line.x1) - kArrowPixels > x || Math.max(line.x0, line.x1) + kArrowPixels < x) return;
    const distance = distance_to(line, x, y);
    if (distance < best_distance) {
      best = drawn.rows[index];
      best_distance = distance;
    }
  });
  return best;
}

/** The deepest call at (x, y): {row, lane, index}, or null. */
export function call_at(scene, lanes, x, y) {
  const item = item_at(scene.rows, y + scene.scroll);
  if (item?.kind !== 'rank') return null;
  const thread = Math.floor((y + scene.scroll - item.y) / item.thread_height);
  const time = scene.time(x);
  const slack = scene.pixel_ns() / 2;
  let best = null;
  for (const lane of lanes.calls) {
    if (lane.rank !== item.rank || (item.threads > 1 && lane.thread !== thread)) continue;
    const index = first_above(lane.begin, time + slack) - 1;
    if (index < 0 || lane.end[index] < time - slack) continue;
    if (!best || lane.depth > best.lane.depth) best = { row: lane.rows[index], lane, index };
  }
  return best;
}
