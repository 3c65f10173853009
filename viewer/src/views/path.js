// The panel of the critical path: its sums, its stretches, and whether the timeline shows it.
import { count_text, instant_text, percent_text, time_text } from '../base/format.js';
import { critical_path } from '../model/critical_path.js';
import { h, link_button, table } from './dom.js';
import { collective_name, message_name } from './words.js';

const kListed = 120;
const kParts = [['computing', 'computing'], ['calls', 'in calls'], ['waiting', 'waiting'], ['wire', 'sent until seen']];

/** The critical path, computed at the first call; with the ends of its stretches, for searching. */
export function path_of(trace, store) {
  if (!store.state.path) {
    const path = critical_path(trace);
    store.set({ path: { ...path, ends: Float64Array.from(path.stretches, ({ to }) => to) } });
  }
  return store.state.path;
}

function sums_table({ totals, by_rank }) {
  const sum = (parts) => kParts.reduce((total, [part]) => total + parts[part], 0);
  const all = sum(totals);
  const line = (name, parts) => [name, ...kParts.map(([part]) => time_text(parts[part])), percent_text(sum(parts) / all)];
  const share = ['share', ...kParts.map(([part]) => percent_text(totals[part] / all)), ''];
  const ranks = [...by_rank].sort((a, b) => sum(b[1]) - sum(a[1])).map(([rank, parts]) => line(`rank ${rank}`, parts));
  return table(['', ...kParts.map(([, label]) => label), 'of the path'], [line('all', totals), share, ...ranks],
    { numbers: [1, 2, 3, 4, 5], caption: `Where the ${time_text(all)} of the critical path go` });
}

function stretches_table({ trace, actions, store }, path) {
  const longest = [...path.stretches].sort((a, b) => (b.to - b.from) - (a.to - a.from)).slice(0, kListed).sort((a, b) => a.from - b.from);
  const after = (late) => h('span', {}, `, after rank ${trace.collectives.rank[late]} was the last to begin `,
    link_button(collective_name(trace, late), () => actions.select_collective(late)));
  const what = (stretch) => {
    if (stretch.kind === 'wire') {
      const hop = stretch.hop < 0 ? '' : `the ${trace.text(trace.hops.kind[stretch.hop]) || 'answer'} of `;
      const message = stretch.message < 0 ? 'a message' : link_button(message_name(trace, stretch.message), () => actions.select_message(stretch.message));
      return h('span', {}, hop, message, ` sent by ${stretch.source}, until ${stretch.rank} saw it`);
    }
    const parts = kParts.filter(([part]) => stretch[part] > 0).map(([part, label]) => `${time_text(stretch[part])} ${label}`);
    return h('span', {}, link_button(`rank ${stretch.rank}`, () => {
      store.set({ rank: stretch.rank, time: stretch.from });
      actions.reveal(stretch.from, stretch.to);
    }), parts.length > 0 ? `: ${parts.join(', ')}` : '', stretch.entered < 0 ? '' : after(stretch.entered));
  };
  return table(['from', 'takes', 'where'], longest.map((stretch) => [instant_text(stretch.from), time_text(stretch.to - stretch.from), what(stretch)]),
    { numbers: [0, 1], caption: path.stretches.length > longest.length
      ? `The ${kListed} longest of its ${count_text(path.stretches.length)} stretches, by time` : 'Its stretches, by time' });
}

/** @param {object} page {trace, store, actions} */
export function path_panel(page) {
  const { trace, store } = page;
  const shown = h('input', { type: 'checkbox', onchange: (event) => store.set({ path_shown: event.target.checked }) });
  const body = h('div', {});
  const element = h('div', { class: 'path' }, h('p', { class: 'note' }, 'Traced from the last event back to the beginning: within a rank to the last wait that '
    + 'another rank ended, then to that rank at the time at which it sent. If no message ended the wait, as in a collective call through a node\u2019s memory, to the rank that '
    + 'began its part last. Waiting is here a wait that no other rank ended. Work that is not on this path could be a little slower without cost, up to its slack. '
    + 'The path is that of the whole run: filters do not change it.'),
  h('p', { class: 'note' }, 'Sent until seen: a header stays at its target until the receiver polls; with more ranks than processors most of that time is waiting for '
    + 'a processor, not the wire.'),
  h('label', { class: 'only-screen' }, shown, ' keep it on the timeline when another view is shown'), body);
  let drawn = null;
  const show = () => {
    const path = path_of(trace, store);
    shown.checked = store.state.path_shown;
    if (drawn === path) return;
    drawn = path;
    body.replaceChildren(...(path.stretches.length === 0 ? [h('p', { class: 'note' }, 'The trace has no calls and no messages to follow.')]
      : [sums_table(path), stretches_table(page, path)]));
  };
  return { id: 'path', label: 'Critical path', element, show, keys: ['path_shown'] };
}
