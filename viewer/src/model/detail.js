// Level of detail of a lane: the bars to draw when [from, to] is `width` pixels wide. Bars narrower than a pixel are drawn
// together with their neighbours in the same pixel, so the cost depends on the pixels, not on the calls.
import { first_above, gallop } from '../base/bisect.js';

const kSamples = 16;

// The longest bar of [low, high), which gives the pixel its colour; of many bars only evenly spread samples are compared.
function longest_of({ begin, end }, low, high) {
  const step = Math.max(1, (high - low) / kSamples);
  let best = low;
  for (let place = low; place < high; place += step) {
    const index = Math.floor(place);
    if (end[index] - begin[index] > end[best] - begin[best]) best = index;
  }
  return best;
}

/**
 * Calls `visit(x0, x1, index, share, count)` for each bar, left to right: [x0, x1] in pixels, the index in the lane of the
 * bar, or of the longest one found among the `count` bars drawn as one pixel, and the share of that pixel that they cover.
 */
export function visit_spans(lane, from, to, width, visit) {
  const { begin, end, sum } = lane;
  const count = begin.length;
  const scale = width / (to - from);
  let index = first_above(lane.reach, from);
  while (index < count && begin[index] < to) {
    const x0 = Math.max(0, (begin[index] - from) * scale);
    const x1 = Math.min(width, (end[index] - from) * scale);
    if (x1 - x0 >= 1) {
      visit(x0, x1, index, 1, 1);
      index++;
      continue;
    }
    const column = Math.floor(x0);
    const column_end = from + (column + 1) / scale;
    let next = Math.max(index + 1, gallop(begin, column_end, index + 1, count));
    if (next - 1 > index && (end[next - 1] - begin[next - 1]) * scale >= 1) next--;  // the last one is wide enough for a bar of its own
    const share = Math.min(1, (sum[next] - sum[index]) * scale);
    visit(column, column + 1, longest_of(lane, index, next), share, next - index);
    index = next;
  }
}
