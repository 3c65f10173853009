// Sets of ranks as text: "0-3,7".

/**
 * @returns {Set<number> | null | undefined} the ranks of `text`; null if it is empty (all ranks); undefined if it is not such a set
 */
export function ranks_of_text(text) {
  const clean = text.replace(/\s+/g, '');
  if (clean === '') return null;
  const ranks = new Set();
  for (const part of clean.split(',')) {
    const match = /^(\d+)(?:-(\d+))?$/.exec(part);
    if (!match) return undefined;
    const from = Number(match[1]);
    const to = Number(match[2] ?? match[1]);
    if (to < from || to - from > 1e6) return undefined;
    for (let rank = from; rank <= to; rank++) ranks.add(rank);
  }
  return ranks;
}

/** The text of a set of ranks: [0, 1, 2, 5] is "0-2,5". */
export function text_of_ranks(ranks) {
  const sorted = [...ranks].sort((a, b) => a - b);
  const parts = [];
  for (let i = 0; i < sorted.length;) {
    let j = i;
    while (j + 1 < sorted.length && sorted[j + 1] === sorted[j] + 1) j++;
    parts.push(i === j ? `${sorted[i]}` : `${sorted[i]}-${sorted[j]}`);
    i = j + 1;
  }
  return parts.join(',');
}

/** The text of a group of ranks for a place of `most` characters: as `text_of_ranks`, or "0… ×900" if that is longer. */
export function group_name(ranks, most) {
  const text = text_of_ranks(ranks);
  return text.length <= most ? text : `${ranks[0]}… ×${ranks.length}`;
}
