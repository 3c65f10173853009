// The positions of the timeline's rows: ranks or groups of ranks, with headings of nodes and of unfolded groups.

export const kHeadingHeight = 20;

/** Height of a rank's row for one thread: few ranks are all visible, many stay readable. */
export function row_height(ranks) {
  return ranks <= 8 ? 44 : ranks <= 16 ? 34 : ranks <= 40 ? 26 : 20;
}

// The rows of each node together, in the order of the nodes' first rows.
function by_node(rows) {
  const of_node = new Map();
  for (const row of rows) {
    if (!of_node.has(row.node)) of_node.set(row.node, []);
    of_node.get(row.node).push(row);
  }
  return [...of_node.values()];
}

/**
 * @param {object[]} rows of `rows_of`, with the node of each rank
 * @param {(rank: number) => number} threads_of
 * @param {boolean} grouped whether the ranks of a node are grouped below a heading
 * @returns {{items: object[], of_rank: Map<number, object>, height: number}} items by y: {kind: 'node' | 'group' | 'rank', y, height,
 *   ...}; of_rank: the item of each rank, also of one that another rank's row stands for
 */
export function place_rows(rows, threads_of, grouped) {
  const height = row_height(rows.length);
  const nodes = grouped ? by_node(rows) : [];
  const headed = nodes.length > 1;
  const order = headed ? nodes.flat() : rows;
  const items = [];
  const of_rank = new Map();
  let y = 0;
  let node = null;
  for (const rank of order) {
    if (rank.heading) {
      items.push({ kind: 'group', group: rank.heading, y, height: kHeadingHeight });
      y += kHeadingHeight;
      continue;
    }
    if (headed && rank.node !== node) {
      node = rank.node;
      items.push({ kind: 'node', node, y, height: kHeadingHeight });
      y += kHeadingHeight;
    }
    const threads = Math.max(1, threads_of(rank.rank));
    const members = rank.members ?? [rank.rank];
    const item = { kind: 'rank', rank: rank.rank, members, node: rank.node, y, height: height * threads, threads, thread_height: height };
    items.push(item);
    for (const member of members) of_rank.set(member, item);
    y += item.height;
  }
  return { items, of_rank, height: y };
}

/** The item at height `y`, or null. */
export function item_at(rows, y) {
  const [item] = items_between(rows, y, y);
  return item && y >= item.y ? item : null;
}

/** The items that have a part in [from, to], by y. */
export function items_between(rows, from, to) {
  let [low, high] = [0, rows.items.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (rows.items[middle].y + rows.items[middle].height <= from) low = middle + 1;
    else high = middle;
  }
  let end = low;
  while (end < rows.items.length && rows.items[end].y <= to) end++;
  return rows.items.slice(low, end);
}

/** `order` (rank numbers) with `rank` moved by `step` places. */
export function moved(order, rank, step) {
  const from = order.indexOf(rank);
  const to = Math.min(order.length - 1, Math.max(0, from + step));
  const result = order.filter((each) => each !== rank);
  result.splice(to, 0, rank);
  return result;
}
