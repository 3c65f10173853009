// The labels beside the timeline: of nodes, of ranks and of groups. A rank's is a button that selects it; a group's has another
// one that unfolds it.
import { count_text } from '../../base/format.js';
import { group_name } from '../../model/ranks_text.js';
import { h } from '../dom.js';

const kPlacesMost = 300;  // characters of a tooltip

function rank_label(rank, item, actions, store) {
  const notes = [rank.file ? '' : 'no file', rank.lost > 0 ? `${rank.lost} events lost` : '', rank.left_out > 0 ? 'only its last part' : '', rank.file && rank.closed === false ? rank.end || 'not closed' : '']
    .filter((note) => note !== '');
  return h('button', {
    type: 'button', class: 'rank-label', 'data-rank': rank.rank, tabindex: -1,
    style: `top:${item.y}px;height:${item.height}px`, title: notes.join(', ') || null,
    onclick: () => store.set({ rank: rank.rank }),
  }, h('span', {}, `rank ${rank.rank}`), notes.length > 0 ? h('small', {}, notes[0]) : null);
}

// The button that folds or unfolds a group.
function fold_button(group, is_folded, style, actions) {
  const count = `${count_text(group.length)} ranks`;
  return h('button', {
    type: 'button', class: is_folded ? 'fold-button' : 'fold-button group-label', 'data-group': group[0], tabindex: -1, style, 'aria-expanded': !is_folded,
    'aria-label': `${is_folded ? 'unfold' : 'fold'} the ${count} of rank ${group[0]}`, title: `${is_folded ? 'Unfold' : 'Fold'} (o): ranks ${group_name(group, kPlacesMost)}`,
    onclick: () => actions.toggle_group(group),
  }, is_folded ? `▸ ${count_text(group.length)}` : `▾ ${count}`);
}

/** Fills `element` with the labels of `rows`. */
export function show_labels(element, rows, trace, actions, store) {
  element.replaceChildren(...rows.items.flatMap((item) => {
    if (item.kind === 'node') {
      return h('div', { class: 'node-label', style: `top:${item.y}px;height:${item.height}px` },
        item.node >= 0 ? `node ${item.node}` : 'unknown node');
    }
    if (item.kind === 'group') return fold_button(item.group, false, `top:${item.y}px;height:${item.height}px`, actions);
    const label = rank_label(trace.ranks[trace.index_of_rank.get(item.rank)], item, actions, store);
    return item.members.length === 1 ? label : [label, fold_button(item.members, true, `top:${item.y}px;height:${item.height - 1}px`, actions)];
  }));
  mark_label(element, store.state.rank);
}

/** Marks the selected rank's label. */
export function mark_label(element, rank) {
  for (const label of element.querySelectorAll('.rank-label')) {
    label.setAttribute('aria-pressed', label.dataset.rank === String(rank));
  }
}
