// The keys of the page, with their descriptions in the help.

/** @typedef {{keys: string, text: string, when: (event: KeyboardEvent) => boolean, run: () => void}} Key */

/** @returns {Key[]} in the order of the help */
export function keys_of({ actions, store, panels, focus_search, toggle_theme, toggle_help, choose_at_cursor, close }) {
  const plain = (...names) => (event) => names.includes(event.key) && !event.altKey;
  const shifted = (name) => (event) => event.key === name && event.shiftKey;
  const unshifted = (name) => (event) => event.key === name && !event.shiftKey && !event.altKey;
  const alt = (name) => (event) => event.key === name && event.altKey;
  const internal = () => actions.filter_by({ internal: !store.state.filter.internal });
  const show_path = () => (store.state.tab === 'path' ? store.set({ path_shown: !store.state.path_shown }) : store.set({ tab: 'path' }));
  return [
    { keys: '?', text: 'show or hide this help', when: plain('?'), run: toggle_help },
    { keys: '/', text: 'search', when: plain('/'), run: focus_search },
    { keys: '← →', text: 'move the cursor to the previous or next event of the rank', when: unshifted('ArrowLeft'), run: () => actions.step_time(-1) },
    { keys: '', text: '', when: unshifted('ArrowRight'), run: () => actions.step_time(1) },
    { keys: '↑ ↓', text: 'select the rank above or below', when: unshifted('ArrowUp'), run: () => actions.step_rank(-1) },
    { keys: '', text: '', when: unshifted('ArrowDown'), run: () => actions.step_rank(1) },
    { keys: 'Alt ↑ ↓', text: 'move the rank\u2019s row', when: alt('ArrowUp'), run: () => actions.move_rank(-1) },
    { keys: '', text: '', when: alt('ArrowDown'), run: () => actions.move_rank(1) },
    { keys: 'g', text: 'fold the ranks: by node, by equal behaviour, or not', when: plain('g'), run: actions.fold_by_next },
    { keys: 'o', text: 'unfold or fold the group of the rank', when: plain('o'), run: () => actions.toggle_group() },
    { keys: 'Enter', text: 'select the rank\u2019s message at the cursor, or its call', when: plain('Enter'), run: choose_at_cursor },
    { keys: 'n p', text: 'select the next or previous message', when: plain('n'), run: () => actions.step_message(1) },
    { keys: '', text: '', when: plain('p'), run: () => actions.step_message(-1) },
    { keys: '+ −', text: 'zoom in or out, around the cursor if it is in view', when: plain('+', '='), run: () => actions.zoom_by(0.5, actions.zoom_centre()) },
    { keys: '', text: '', when: plain('-'), run: () => actions.zoom_by(2, actions.zoom_centre()) },
    { keys: 'Shift ← →', text: 'move the view', when: shifted('ArrowLeft'), run: () => actions.pan(-0.25) },
    { keys: '', text: '', when: shifted('ArrowRight'), run: () => actions.pan(0.25) },
    { keys: 'f', text: 'show the whole trace', when: plain('f'), run: actions.fit },
    { keys: 'z', text: 'zoom to the selection', when: plain('z'), run: actions.zoom_to_selected },
    { keys: 'Home End', text: 'move the cursor to the beginning or end', when: plain('Home'), run: () => actions.set_time(0) },
    { keys: '', text: '', when: plain('End'), run: () => actions.set_time(Infinity) },
    ...panels.map((panel, index) => ({ keys: String(index + 1), text: panel.label, when: plain(String(index + 1)), run: () => store.set({ tab: panel.id }) })),
    { keys: 'k', text: 'show the critical path; again: keep it on the timeline or not', when: plain('k'), run: show_path },
    { keys: 'i', text: 'show or hide the library\u2019s own messages', when: plain('i'), run: internal },
    { keys: 'c', text: 'copy the story', when: plain('c'), run: () => actions.copy_story() },
    { keys: 't', text: 'switch between light and dark', when: plain('t'), run: toggle_theme },
    { keys: 'Esc', text: 'close this help, or clear the selection', when: plain('Escape'), run: close },
  ];
}

const kTakesText = 'input:not([type=checkbox]):not([type=range]):not([type=radio]), select, textarea';
const kTakesEnter = 'button, a, summary, [role=button]';

/** Listens for `keys` on the whole page. Keys typed into a field stay there; Escape leaves the field. */
export function listen_keys(keys) {
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey) return;
    const { target } = event;
    if (target.matches?.(kTakesText)) {
      if (event.key === 'Escape') target.blur();
      return;
    }
    if (target.matches?.('input') && event.key.startsWith('Arrow')) return;
    if (event.key === 'Enter' && target.matches?.(kTakesEnter)) return;
    const key = keys.find(({ when }) => when(event));
    if (!key) return;
    event.preventDefault();
    key.run();
  });
}
