// The title and the buttons above the timeline, and the legend below them.
import { counted, time_text } from '../base/format.js';
import { kCategories } from '../model/categories.js';
import { kFolds } from '../model/fold.js';
import { page_notes } from '../model/notes.js';
import { h } from './dom.js';

/** The page's header: title, facts and notes of the trace. */
export function header({ trace }, toggle_theme, toggle_help) {
  const notes = page_notes(trace);
  const lost = trace.ranks.filter((rank) => rank.lost > 0).length;
  const with_file = trace.ranks.filter((rank) => rank.file).length;
  const nodes = new Set(trace.ranks.filter((rank) => rank.file).map(({ node }) => node)).size;
  const parts = [trace.started, counted(with_file, 'rank'), nodes > 0 ? counted(nodes, 'node') : '', time_text(trace.duration),
    counted(trace.messages.rows, 'message'), counted(trace.calls.rows, 'call'), lost > 0 ? `lost events on ${counted(lost, 'rank')}` : ''];
  return [
    h('header', {}, h('h1', {}, trace.title || 'trace'), h('p', { class: 'summary' }, parts.filter((part) => part !== '').join(' · ')),
      h('div', { class: 'buttons only-screen' }, h('button', { type: 'button', id: 'theme', onclick: toggle_theme, title: 'key t' }, 'Light or dark'),
        h('button', { type: 'button', id: 'help', onclick: toggle_help, title: 'key ?' }, 'Help'))),
    notes.length > 0 ? h('ul', { class: 'notes', role: 'note' }, notes.map((note) => h('li', {}, note))) : null,
  ];
}

function by_waiting(trace) {
  const waited = new Map(trace.ranks.map(({ rank }) => [rank, 0]));
  const { waits } = trace;
  for (let row = 0; row < waits.rows; row++) {
    const length = (Number.isNaN(waits.end[row]) ? trace.duration : waits.end[row]) - waits.begin[row];
    waited.set(waits.rank[row], (waited.get(waits.rank[row]) ?? 0) + length);
  }
  return trace.ranks.map(({ rank }) => rank).sort((a, b) => waited.get(b) - waited.get(a) || a - b);
}

/** The ranks sorted by 'node', 'rank' or 'waiting'. */
export function order_of(trace, sorting) {
  return sorting === 'waiting' ? by_waiting(trace) : trace.ranks.map(({ rank }) => rank);
}

/** The buttons and the legend of the timeline. */
export function timeline_bar({ trace, store, actions }) {
  const button = (text, label, key, onclick) => h('button', { type: 'button', 'aria-label': label, title: `${label} (${key})`, onclick }, text);
  const sorting = h('select', { id: 'sorting', onchange: (event) => store.set({ sorting: event.target.value, order: order_of(trace, event.target.value) }) },
    [['node', 'by node'], ['rank', 'by rank'], ['waiting', 'the longest waiting first'], ['own', 'as moved']].map(([value, text]) => h('option', { value }, text)));
  sorting.lastChild.disabled = true;
  store.on(['sorting'], () => { sorting.value = store.state.sorting; });
  const folding = h('select', { id: 'folding', onchange: (event) => actions.fold_by(event.target.value) }, kFolds.map(([value, text]) => h('option', { value }, text)));
  const show_folding = () => { folding.value = store.state.folding.fold; };
  store.on(['folding'], show_folding);
  show_folding();
  return h('div', { class: 'timeline-bar' },
    h('div', { class: 'buttons only-screen' }, button('+', 'zoom in', '+', () => actions.zoom_by(0.5, actions.zoom_centre())), button('−', 'zoom out', '-', () => actions.zoom_by(2, actions.zoom_centre())),
      button('Fit', 'the whole trace', 'f', actions.fit), h('label', {}, 'Ranks ', sorting), h('label', { title: 'key g; o unfolds a group' }, 'Fold ', folding)),
    h('ul', { class: 'legend', 'aria-label': 'legend' }, kCategories.map(({ id, label }) => h('li', {}, h('i', { class: `swatch swatch-${id}` }), label)),
      h('li', {}, h('i', { class: 'swatch swatch-waiting' }), 'waiting'), h('li', {}, h('i', { class: 'swatch swatch-gap' }), 'computing'),
      h('li', {}, h('i', { class: 'swatch swatch-arrow' }), 'message'), h('li', {}, h('i', { class: 'swatch swatch-late' }), 'one side was late'),
      trace.accesses.rows > 0 ? h('li', {}, h('i', { class: 'swatch swatch-access' }), 'put, get, accumulate (one-sided)') : null,
      trace.library_events.rows > 0 ? h('li', {}, h('i', { class: 'swatch swatch-library' }), 'event of a library') : null));
}
