// The page: its state, its views, and their connections.
import { instant_text } from './base/format.js';
import { create_store } from './base/store.js';
import { filtered_rows, kNoFilter, mask_of } from './model/filter.js';
import { index_at, make_lanes } from './model/lanes.js';
import { make_actions, whole_view } from './views/actions.js';
import { collectives_panel } from './views/collectives.js';
import { difference_panel } from './views/difference.js';
import { h } from './views/dom.js';
import { filter_bar } from './views/filters.js';
import { help_dialog } from './views/help.js';
import { histograms_panel } from './views/histograms.js';
import { keys_of, listen_keys } from './views/keyboard.js';
import { late_panel } from './views/late.js';
import { matrix_panel } from './views/matrix.js';
import { messages_panel } from './views/messages.js';
import { path_panel } from './views/path.js';
import { state_panel } from './views/state.js';
import { story_panel } from './views/story.js';
import { tab_area } from './views/tabs.js';
import { follow_theme } from './views/theme.js';
import { Timeline } from './views/timeline/timeline.js';
import { header, order_of, timeline_bar } from './views/toolbar.js';

const kStoryLeast = 300;   // CSS pixels of the story that must be visible after a click
const kNarrow = 1390;      // CSS pixels of a window up to which views and story form one column: side by side they would cut table columns
const kPaperWidth = 718;  // CSS pixels between the margins of A4; the style sheet scales it to other paper

function first_state(trace) {
  const rows = filtered_rows(trace, kNoFilter);
  const sorting = 'node';
  return {
    filter: { ...kNoFilter }, rows, mask: mask_of(trace.messages.rows, rows), selected: null, time: 0, rank: trace.ranks[0]?.rank ?? 0,
    ...whole_view(trace), order: order_of(trace, sorting), sorting, theme: 'light', tab: 'messages', path: null, path_shown: false, whole: false,
  };
}

export class Page {
  /** @param {object} trace of `read_trace` @param {(row: number) => Promise<string>} story_of */
  constructor(trace, story_of) {
    this.trace = trace;
    this.story_of = story_of;
    this.lanes = { calls: make_lanes(trace.calls, trace.duration), waits: make_lanes(trace.waits, trace.duration) };
    this.store = create_store(first_state(trace));
    this.actions = make_actions(trace, this.store);
    const theme = follow_theme(this.store);
    this.timeline = new Timeline(this);
    const panels = [messages_panel, state_panel, matrix_panel, histograms_panel, late_panel, path_panel, collectives_panel, ...(trace.difference ? [difference_panel] : [])].map((make) => make(this));
    this.tabs = tab_area(this.store, panels);
    const filters = filter_bar(this);
    const story = story_panel(this);
    const status = h('p', { id: 'timeline-state', class: 'spoken', role: 'status' });
    let help = null;
    const keys = keys_of({
      actions: this.actions, store: this.store, panels, focus_search: filters.focus_search, toggle_theme: theme.toggle,
      toggle_help: () => help.toggle(), choose_at_cursor: () => this.choose_at_cursor(), close: () => (help.element.open ? help.element.close() : this.actions.clear_selection()),
    });
    help = help_dialog(keys);
    listen_keys(keys);
    this.store.on(['time', 'rank'], () => this.#announce(status));
    const below = h('div', { class: 'below' }, this.tabs.element, story);
    this.#arrange(below, story);
    this.elements = [...header(this, theme.toggle, () => help.toggle()), filters.element,
      h('main', {}, h('section', { class: 'timeline', 'aria-label': 'timeline' }, timeline_bar(this), this.timeline.element),
        below), status, help.element].filter((element) => element !== null);
    this.#prepare_printing();
  }

  #announce(status) {
    const { rank, time } = this.store.state;
    status.textContent = `rank ${rank}, ${instant_text(time)}: ${this.timeline.state_text()}`;
  }

  // Arranges the views and the story side by side, or in one column if the window is narrow or the user wants it.
  #arrange(below, story) {
    const narrow = matchMedia(`(max-width: ${kNarrow}px)`);
    let low = false;
    const arrange = () => {
      const { whole, selected } = this.store.state;
      below.classList.toggle('whole', whole || low || narrow.matches);
      below.classList.toggle('unchosen', !selected);
    };
    // Beside the views, the story may be below the window's lower edge, where the result of a click is invisible.
    this.store.on(['selected'], () => {
      low = Boolean(this.store.state.selected) && (low || below.getBoundingClientRect().top > innerHeight - kStoryLeast);
    });
    this.store.on(['whole', 'selected'], arrange);
    narrow.addEventListener('change', arrange);
    arrange();
    this.store.on(['selected'], () => {
      if (this.store.state.selected && below.classList.contains('whole')) story.scrollIntoView({ block: 'nearest' });
    });
  }

  // Print shows every panel, not only the selected one.
  #prepare_printing() {
    const prepare = () => {
      this.tabs.show_all();
      this.timeline.fit_paper(kPaperWidth);
    };
    const restore = () => this.timeline.fit_paper(null);
    window.addEventListener('beforeprint', prepare);
    window.addEventListener('afterprint', restore);
    matchMedia('print').addEventListener('change', ({ matches }) => (matches ? prepare() : restore()));
  }

  /** Starts the views. Requires: the elements are in the document. */
  start() {
    this.timeline.start();
    this.tabs.show();
  }

  /** Selects the message that the rank sends or receives at the cursor, or else its call there. */
  choose_at_cursor() {
    const { rank, time, rows } = this.store.state;
    const { messages } = this.trace;
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i];
      const here = (messages.source[row] === rank && messages.sent[row] === time)
        || (messages.destination[row] === rank && (messages.arrived[row] === time || messages.received[row] === time));
      if (here) {
        this.actions.select_message(row, false);
        return;
      }
    }
    for (let i = this.lanes.calls.length - 1; i >= 0; i--) {
      const lane = this.lanes.calls[i];
      const index = lane.rank === rank ? index_at(lane, time) : -1;
      if (index >= 0) {
        this.actions.select_call(lane.rows[index]);
        return;
      }
    }
  }

  /** The interface for tests and the browser's console. Positions are in the window. */
  for_tests() {
    const { actions, store, timeline, trace } = this;
    return {
      select: (row) => actions.select_message(row), select_call: actions.select_call, select_collective: actions.select_collective, select_access: actions.select_access,
      zoom: actions.zoom, draw: () => timeline.draw(), filter: actions.filter_by, show: (tab) => store.set({ tab }), setTime: actions.set_time,
      pathDrawn: () => timeline.path_drawn(), drawnAs: (row) => timeline.drawn_as(row), positionOf: (row) => timeline.position_of(row), positionOfAccess: (row) => timeline.position_of_access(row), positionOfLibraryEvent: (row) => timeline.position_of_library_event(row), endsOfAccess: (row) => timeline.ends_of_access(row), positionAt: (rank, time) => timeline.position_at(rank, time),
      state: () => ({ ...store.state, mask: undefined, rows: store.state.rows.length, path: store.state.path && { totals: store.state.path.totals } }),
      reset: () => store.set({ ...first_state(trace), theme: store.state.theme }),
      trace,
    };
  }
}
