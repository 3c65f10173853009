// Searches in sorted arrays. All return an index from `low` to `high`, which is `high` if nothing is found.

/** First index in [low, high) whose value is >= `value`. Requires: `sorted` ascending there. */
export function first_at_least(sorted, value, low = 0, high = sorted.length) {
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** First index in [low, high) whose value is > `value`. Requires: `sorted` ascending there. */
export function first_above(sorted, value, low = 0, high = sorted.length) {
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** `first_at_least` by steps that double from `low`: cheap if the result is near. */
export function gallop(sorted, value, low, high = sorted.length) {
  let step = 1;
  let end = low;
  while (end < high && sorted[end] < value) {
    low = end + 1;
    end += step;
    step *= 2;
  }
  return first_at_least(sorted, value, low, Math.min(end, high));
}
