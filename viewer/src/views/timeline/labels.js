// The labels of nodes and ranks beside the timeline. A rank's is a button that selects it.
import { h } from '../dom.js';

function rank_label(rank, item, actions, store) {
  const notes = [rank.file ? '' : 'no file', rank.lost > 0 ? `${rank.lost} events lost` : '', rank.left_out > 0 ? 'only its last part' : '', rank.file && rank.closed === false ? rank.end || 'not closed' : '']
    .filter((note) => note !== '');
  return h('button', {
    type: 'button', class: 'rank-label', 'data-rank': rank.rank, tabindex: -1,
    style: `top:${item.y}px;height:${item.height}px`, title: notes.join(', ') || null,
    onclick: () => store.set({ rank: rank.rank }),
  }, h('span', {}, `rank ${rank.rank}`), notes.length > 0 ? h('small', {}, notes[0]) : null);
}

/** Fills `element` with the labels of `rows`. */
export function show_labels(element, rows, trace, actions, store) {
  element.replaceChildren(...rows.items.map((item) => {
    if (item.kind === 'node') {
      return h('div', { class: 'node-label', style: `top:${item.y}px;height:${item.height}px` },
        item.node >= 0 ? `node ${item.node}` : 'unknown node');
    }
    return rank_label(trace.ranks[trace.index_of_rank.get(item.rank)], item, actions, store);
  }));
  mark_label(element, store.state.rank);
}

/** Marks the selected rank's label. */
export function mark_label(element, rank) {
  for (const label of element.querySelectorAll('.rank-label')) {
    label.setAttribute('aria-pressed', label.dataset.rank === String(rank));
  }
}
