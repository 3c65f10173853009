// The communication matrix: messages and bytes for each pair of ranks.

const kCellsMax = 64;  // in a row; with more ranks a cell represents several

/**
 * @param {number[][]} ranks of each row and column, in their order; each rank of the trace once
 * @param {Int32Array} rows messages that count
 * @returns {{groups: number[][], messages: Float64Array, bytes: Float64Array}} groups: the ranks of a row or column; cell
 *   [source][destination] is at source * groups.length + destination
 */
export function communication_matrix(trace, ranks, rows) {
  const size = Math.max(1, Math.ceil(ranks.length / kCellsMax));
  const groups = [];
  const group_of = new Map();
  ranks.forEach((members, index) => {
    const group = Math.floor(index / size);
    (groups[group] ??= []).push(...members);
    for (const rank of members) group_of.set(rank, group);
  });
  const messages = new Float64Array(groups.length ** 2);
  const bytes = new Float64Array(groups.length ** 2);
  const table = trace.messages;
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i];
    const cell = group_of.get(table.source[row]) * groups.length + group_of.get(table.destination[row]);
    messages[cell]++;
    bytes[cell] += table.bytes[row];
  }
  return { groups, messages, bytes };
}
