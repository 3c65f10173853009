// The search and the filters above the timeline. They apply to all views.
import { filter_errors, kNoFilter, values_of } from '../model/filter.js';
import { h } from './dom.js';

const kTypingMs = 200;

/** @param {object} page {trace, store, actions} */
export function filter_bar({ trace, store, actions }) {
  const inputs = {};
  const field = (id, label, input) => {
    inputs[id] = input;
    input.id = `filter-${id}`;
    return h('label', { class: `field field-${id}` }, h('span', {}, label), input);
  };
  let timer = 0;
  const apply_text = (id, value) => {
    clearTimeout(timer);
    timer = setTimeout(() => actions.filter_by({ [id]: value }), kTypingMs);
  };
  const text = (id, label, placeholder) => field(id, label, h('input', {
    type: id === 'text' ? 'search' : 'text', placeholder, autocomplete: 'off', spellcheck: 'false', oninput: (event) => apply_text(id, event.target.value),
    onchange: (event) => { clearTimeout(timer); actions.filter_by({ [id]: event.target.value }); } }));
  const choice = (id, label) => field(id, label, h('select', { onchange: (event) => actions.filter_by({ [id]: event.target.value }) },
    h('option', { value: '' }, 'all'), values_of(trace, id).map((value) => h('option', { value }, value))));
  const internal = h('input', { type: 'checkbox', onchange: (event) => actions.filter_by({ internal: event.target.checked }) });
  inputs.internal = internal;
  internal.id = 'filter-internal';
  const errors = h('p', { class: 'errors', role: 'alert', hidden: true });
  const clear = h('button', { type: 'button', id: 'filter-clear', onclick: () => actions.filter_by({ ...kNoFilter }) }, 'Clear');
  const element = h('form', { class: 'filters only-screen', role: 'search', onsubmit: (event) => event.preventDefault() },
    text('text', 'Search', 'call, what, 0>1 #17, rank 3'), text('ranks', 'Ranks', '0-3,7'), text('from', 'From', 'all'), text('to', 'To', 'all'),
    text('tag', 'Tag', 'any'), choice('communicator', 'Communicator'), choice('protocol', 'Protocol'), choice('how', 'Taken'),
    choice('wire', 'Wire'), text('bytes', 'Bytes at least', '64k'),
    h('label', { class: 'field check' }, internal, h('span', {}, 'library\u2019s own')), clear, errors);
  store.on(['filter'], () => {
    const { filter } = store.state;
    const wrong = filter_errors(filter);
    for (const [id, input] of Object.entries(inputs)) {
      if (id === 'internal') input.checked = filter.internal;
      else if (input.value !== filter[id]) input.value = filter[id];
      input.setAttribute('aria-invalid', id in wrong);
    }
    errors.hidden = Object.keys(wrong).length === 0;
    errors.textContent = Object.values(wrong).join('. ');
    clear.disabled = Object.keys(kNoFilter).every((id) => filter[id] === kNoFilter[id]);
  });
  clear.disabled = true;
  return { element, focus_search: () => inputs.text.focus() };
}
