// Bars of histograms: powers of two for amounts, and 1, 2, 5, 10 ... for times.

/** Bars of powers of two: the first for 0, then [1, 2), [2, 4) ...; without empty bars at the ends. */
export function by_powers_of_two(values) {
  const counts = [];
  for (const value of values) {
    if (!(value >= 0)) continue;
    const bar = value < 1 ? 0 : Math.floor(Math.log2(value)) + 1;
    counts[bar] = (counts[bar] ?? 0) + 1;
  }
  return bars(counts, (bar) => (bar === 0 ? 0 : 2 ** (bar - 1)), (bar) => 2 ** bar);
}

/** Bars of times in ns: [1, 2), [2, 5), [5, 10), ...; 0 and unknown times are left out. */
export function by_times(values) {
  const counts = [];
  const bounds = [];
  for (let scale = 1; scale < 1e15; scale *= 10) bounds.push(scale, 2 * scale, 5 * scale);
  for (const value of values) {
    if (!(value > 0)) continue;
    let bar = 0;
    if (value >= 1) {
      bar = 3 * Math.floor(Math.log10(value));
      while (bar + 1 < bounds.length && bounds[bar + 1] <= value) bar++;
    }
    counts[bar] = (counts[bar] ?? 0) + 1;
  }
  return bars(counts, (bar) => (bar === 0 ? 0 : bounds[bar]), (bar) => bounds[bar + 1]);
}

function bars(counts, from, to) {
  const result = [];
  const first = counts.findIndex((count) => count > 0);
  for (let bar = first; bar >= 0 && bar < counts.length; bar++) {
    result.push({ from: from(bar), to: to(bar), count: counts[bar] ?? 0 });
  }
  return result;
}
