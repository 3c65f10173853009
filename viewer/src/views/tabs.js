// The panels below the timeline: one at a time on screen, all on paper.
import { h } from './dom.js';

/**
 * @param {object} store its `tab` is the id of the visible panel
 * @param {object[]} panels {id, label, element, show(): updates it, keys: the values of the store that it depends on, print()?}
 */
export function tab_area(store, panels) {
  const tabs = panels.map((panel, index) => h('button', {
    type: 'button', role: 'tab', id: `tab-${panel.id}`, 'aria-controls': `panel-${panel.id}`, title: `key ${index + 1}`,
    onclick: () => store.set({ tab: panel.id }),
  }, panel.label));
  const bodies = panels.map((panel) => h('section', { role: 'tabpanel', id: `panel-${panel.id}`, 'aria-labelledby': `tab-${panel.id}`, class: 'panel' },
    h('h2', { class: 'only-printed' }, panel.label), panel.element));
  const list = h('div', { role: 'tablist', class: 'tabs only-screen', 'aria-label': 'views' }, tabs);
  list.addEventListener('keydown', (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const at = (panels.findIndex(({ id }) => id === store.state.tab) + step + panels.length) % panels.length;
    store.set({ tab: panels[at].id });
    tabs[at].focus();
    event.preventDefault();
    event.stopPropagation();
  });
  const whole = h('button', { type: 'button', class: 'only-screen', id: 'whole-width', 'aria-pressed': store.state.whole,
    title: 'show the story below the views, not beside them', onclick: () => store.set({ whole: !store.state.whole }) }, 'Whole width');
  store.on(['whole'], () => whole.setAttribute('aria-pressed', store.state.whole));
  const show = () => {
    panels.forEach((panel, index) => {
      const mine = panel.id === store.state.tab;
      tabs[index].setAttribute('aria-selected', mine);
      tabs[index].tabIndex = mine ? 0 : -1;
      bodies[index].classList.toggle('shown', mine);
      if (mine) panel.show();
    });
  };
  store.on(['tab'], show);
  for (const panel of panels) {
    let waits = false;
    store.on(panel.keys ?? [], () => {  // once in each frame, however often the cursor moves
      if (waits || panel.id !== store.state.tab) return;
      waits = true;
      requestAnimationFrame(() => {
        waits = false;
        if (panel.id === store.state.tab) panel.show();
      });
    });
  }
  return {
    element: h('div', { class: 'tab-area' }, h('div', { class: 'tab-bar' }, list, whole), ...bodies),
    show,
    show_all: () => panels.forEach((panel) => {
      panel.show();
      panel.print?.();
    }),
  };
}
