// The rows of the timeline: a heading for each node, and its ranks below.

export const kHeadingHeight = 20;

/** Height of a rank's row for one thread: few ranks are all visible, many stay readable. */
export function row_height(ranks) {
  return ranks <= 8 ? 44 : ranks <= 16 ? 34 : ranks <= 40 ? 26 : 20;
}

/**
 * @param {object[]} ranks of the trace, in the order of their rows
 * @param {(rank: number) => number} threads_of
 * @param {boolean} grouped whether the ranks of a node are grouped below a heading
 * @returns {{items: object[], of_rank: Map<number, object>, height: number}} items by y: {kind: 'node' | 'rank', y, height, ...}
 */
export function place_rows(ranks, threads_of, grouped) {
  const height = row_height(ranks.length);
  const nodes = [...new Set(ranks.map((rank) => rank.node))];
  const headed = grouped && nodes.length > 1;
  const order = headed ? nodes.flatMap((node) => ranks.filter((rank) => rank.node === node)) : ranks;
  const items = [];
  const of_rank = new Map();
  let y = 0;
  let node = null;
  for (const rank of order) {
    if (headed && rank.node !== node) {
      node = rank.node;
      items.push({ kind: 'node', node, y, height: kHeadingHeight });
      y += kHeadingHeight;
    }
    const threads = Math.max(1, threads_of(rank.rank));
    const item = { kind: 'rank', rank: rank.rank, node: rank.node, y, height: height * threads, threads, thread_height: height };
    items.push(item);
    of_rank.set(rank.rank, item);
    y += item.height;
  }
  return { items, of_rank, height: y };
}

/** The item at height `y`, or null. */
export function item_at(rows, y) {
  return rows.items.find((item) => y >= item.y && y < item.y + item.height) ?? null;
}

/** `order` (rank numbers) with `rank` moved by `step` places. */
export function moved(order, rank, step) {
  const from = order.indexOf(rank);
  const to = Math.min(order.length - 1, Math.max(0, from + step));
  const result = order.filter((each) => each !== rank);
  result.splice(to, 0, rank);
  return result;
}
