// The timeline: a row for each rank, on a canvas that draws what is in view.
import { count_text, counted } from '../../base/format.js';
import { ArrowLevels, pairs_of } from '../../model/arrows.js';
import { collective_of_call } from '../../model/collective.js';
import { texts_with } from '../../model/filter.js';
import { index_at } from '../../model/lanes.js';
import { rows_of } from '../../model/fold.js';
import { item_at, place_rows } from '../../model/rows.js';
import { h } from '../dom.js';
import { draw_axis } from './axis.js';
import { AccessDrawer } from './draw_accesses.js';
import { ArrowDrawer, draw_path } from './draw_arrows.js';
import { LibraryDrawer } from './draw_library.js';
import { LaneDrawer } from './draw_lanes.js';
import { draw_call, draw_collective, draw_cursor, draw_range } from './draw_marks.js';
import { mark_label, show_labels } from './labels.js';
import { read_palette } from './palette.js';
import { call_at, message_at } from './pick.js';
import { attach_pointer, attach_scrubber, attach_zoom } from './pointer.js';
import { Scene } from './scene.js';
import { tooltip_lines } from './tooltip.js';

const kHeightShare = 0.5;  // largest share of the window's height that the timeline takes
const kHeightLeast = 120;

export class Timeline {
  #page;
  #canvas = h('canvas', { tabindex: 0, role: 'application', 'aria-label': 'timeline; ? lists the keys', 'aria-roledescription': 'timeline', 'aria-describedby': 'timeline-state' });
  #axis = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  #labels = h('div', { class: 'labels' });
  #scroller;
  #tooltip = h('div', { class: 'tooltip', hidden: true });
  #count = h('p', { class: 'arrow-count' });
  #pairs;
  #lane_drawer;
  #arrow_drawer;
  #access_drawer;
  #library_drawer;
  #rows;
  #scene = null;
  #palette = null;
  #marked = null;
  #threads = new Map();
  #range = null;
  #pending = false;
  #apply_zoom;
  #paper = null;  // width in CSS pixels while it is drawn for printing

  /** @param {object} page {trace, store, actions, lanes} */
  constructor(page) {
    this.#page = page;
    const { trace, store } = page;
    this.#axis.setAttribute('class', 'time-axis');
    this.#axis.setAttribute('height', '40');
    this.#scroller = h('div', { class: 'timeline-scroll', tabindex: -1 }, this.#labels, this.#canvas);
    this.element = h('div', { class: 'timeline-frame' }, h('div', { class: 'axis-row' }, h('div', { class: 'axis-corner' }), this.#axis),
      this.#scroller, this.#count, this.#tooltip);
    for (const lane of page.lanes.calls) this.#threads.set(lane.rank, Math.max(this.#threads.get(lane.rank) ?? 1, lane.thread + 1));
    this.#pairs = pairs_of(trace.messages);
    this.#lane_drawer = new LaneDrawer(trace, page.lanes);
    this.#arrow_drawer = new ArrowDrawer(trace, new ArrowLevels(trace.messages, new Int32Array(0), this.#pairs));
    this.#access_drawer = new AccessDrawer(trace);
    this.#library_drawer = new LibraryDrawer(trace);
    this.#listen();
  }

  #listen() {
    const { trace, store } = this.#page;
    const view = {
      scene: () => this.#scene, scroller: this.#scroller, hover: (event) => this.#hover(event), leave: () => this.#leave(),
      choose: (event) => this.#choose(event),
      range: (x0, x1) => {
        this.#range = x0 === null ? null : [x0, x1];
        this.redraw();
      },
    };
    this.#apply_zoom = attach_zoom(this.#canvas, this.#page, view);
    attach_pointer(this.#canvas, this.#page, view);
    attach_scrubber(this.#axis, this.#page, view);
    store.on(['rows'], () => {
      this.#find_arrows();
      const { text } = store.state.filter;
      this.#marked = text.trim() === '' ? null : texts_with(trace.strings, text);
    });
    store.on(['order', 'sorting', 'folding', 'unfolded'], () => this.#place());
    store.on(['theme'], () => { this.#palette = null; });
    store.on(['rank'], () => {
      if (!this.#scene?.shows(store.state.rank)) this.#place();  // its group's row shows it
      mark_label(this.#labels, store.state.rank);
      this.#show_rank();
    });
    store.on(['from', 'to'], () => this.#apply_zoom());
    store.on(['rows', 'order', 'sorting', 'folding', 'unfolded', 'theme', 'rank', 'from', 'to', 'selected', 'time', 'path', 'path_shown', 'tab'], () => this.redraw());
    store.on(['rows', 'order', 'sorting', 'folding', 'unfolded', 'from', 'to'], () => this.#leave());  // the pointer is over something else now
    this.#scroller.addEventListener('scroll', () => {
      this.#leave();
      this.redraw();
    });
    new ResizeObserver(() => this.resize()).observe(this.element);
  }

  /** Starts drawing. Requires: the element is in the document. */
  start() {
    this.#place();
    this.resize();
    this.draw();
  }

  #place() {
    const { trace, store } = this.#page;
    const { order, folding, unfolded, rank, sorting } = store.state;
    const rows = rows_of(order, folding, unfolded, rank)
      .map((row) => (row.heading ? row : { ...row, node: trace.ranks[trace.index_of_rank.get(row.rank)].node }));
    this.#rows = place_rows(rows, (each) => this.#threads.get(each) ?? 1, folding.fold === 'none' && sorting === 'node');
    show_labels(this.#labels, this.#rows, trace, this.#page.actions, store);
    this.#labels.style.height = `${this.#rows.height}px`;
    this.#find_arrows();
    if (this.#scene) this.resize();
  }

  // The messages to draw: those of the ranks that rows show.
  #find_arrows() {
    const { trace, store } = this.#page;
    const { rows, folding } = store.state;
    const { source, destination } = trace.messages;
    const shown = new Set(this.#rows.items.map((item) => item.rank));
    const drawn = folding.fold === 'none' ? rows : rows.filter((row) => shown.has(source[row]) || shown.has(destination[row]));
    this.#arrow_drawer.levels = new ArrowLevels(trace.messages, drawn, this.#pairs);
  }

  resize() {
    const most = Math.max(kHeightLeast, kHeightShare * window.innerHeight);
    const height = Math.max(60, Math.min(most, this.#rows.height));
    this.#scroller.style.height = `${height}px`;
    const width = this.#paper ?? Math.max(100, this.#scroller.clientWidth - this.#labels.offsetWidth);
    const ratio = window.devicePixelRatio || 1;
    if (this.#canvas.width !== Math.round(width * ratio) || this.#canvas.height !== Math.round(height * ratio)) {
      this.#canvas.width = Math.round(width * ratio);
      this.#canvas.height = Math.round(height * ratio);
      this.#canvas.style.width = `${width}px`;
      this.#canvas.style.height = `${height}px`;
      this.#palette = null;
    }
    this.#scene = this.#make_scene(width, height);
    this.#apply_zoom();
    this.redraw();
  }

  /** Draws for paper of `width` CSS pixels, including the labels; null: for the screen again. */
  fit_paper(width) {
    this.#paper = width === null ? null : width - this.#labels.offsetWidth;
    this.resize();
    this.draw();
  }

  #make_scene(width, height) {
    const { from, to } = this.#page.store.state;
    return new Scene({ width, height, scroll: this.#scroller.scrollTop, from, to, rows: this.#rows });
  }

  /** Draws with the next frame. */
  redraw() {
    if (this.#pending) return;
    this.#pending = true;
    requestAnimationFrame(() => {
      this.#pending = false;
      this.draw();
    });
  }

  draw() {
    const { trace, store } = this.#page;
    const { selected, time, rank, path } = store.state;
    const context = this.#canvas.getContext('2d');
    this.#palette ??= read_palette(context);
    const palette = this.#palette;
    const ratio = window.devicePixelRatio || 1;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const scene = this.#scene = this.#make_scene(this.#scene.width, this.#scene.height);
    this.#lane_drawer.draw(context, scene, palette, this.#marked);
    this.#access_drawer.draw(context, scene, palette);
    this.#arrow_drawer.draw(context, scene, palette);
    this.#lane_drawer.draw_names(context, scene, palette);
    if (this.path_drawn()) draw_path(context, scene, palette, path, trace.collectives);
    if (selected?.kind === 'message') {
      this.#draw_call_of(context, scene, palette, selected.row);
      this.#arrow_drawer.draw_chosen(context, scene, palette, selected.row);
    }
    if (selected?.kind === 'call') {
      const collective = collective_of_call(trace, selected.row);
      if (collective >= 0) draw_collective(context, scene, palette, trace, collective);
      draw_call(context, scene, palette, trace, selected.row);
    }
    this.#library_drawer.draw(context, scene, palette);
    if (selected?.kind === 'access') this.#access_drawer.draw_chosen(context, scene, palette, selected.row);
    if (selected?.kind === 'collective') draw_collective(context, scene, palette, trace, selected.row);
    if (this.#range) draw_range(context, scene, palette, ...this.#range);
    draw_cursor(context, scene, palette, time, rank);
    draw_axis(this.#axis, scene, time, trace.duration);
    this.#tell_count();
  }

  // A selected message of a collective call marks the whole call.
  #draw_call_of(context, scene, palette, row) {
    const collective = this.#page.trace.messages.collective[row];
    if (collective >= 0) draw_collective(context, scene, palette, this.#page.trace, collective);
  }

  #tell_count() {
    const { drawn } = this.#arrow_drawer;
    const accesses = this.#access_drawer.drawn;
    const accesses_text = this.#page.trace.accesses.rows === 0 ? '' : accesses.whole ? `; ${counted(accesses.rows.length, 'one-sided access', 'one-sided accesses')}`
      : `; ${count_text(accesses.rows.length)} represent about ${count_text(accesses.under_way)} one-sided accesses`;
    const { trace, store } = this.#page;
    const hidden = trace.messages.rows - store.state.rows.length;
    const folded = store.state.folding.fold === 'none' ? '' : '; of folded ranks, those of the rank that the row shows';
    const hidden_text = folded + (hidden > 0 ? `; ${count_text(hidden)} of ${count_text(trace.messages.rows)} hidden by the filter` : '');
    this.#count.textContent = drawn.whole ? `${counted(drawn.rows.length, 'message')} in view${hidden_text}${accesses_text}`
      : `${count_text(drawn.rows.length)} arrows represent about ${count_text(drawn.under_way)} messages in view; zoom in to see each${hidden_text}${accesses_text}`;
  }

  // Scrolls to the selected rank.
  #show_rank() {
    const item = this.#rows.of_rank.get(this.#page.store.state.rank);
    if (!item) return;
    const { scrollTop, clientHeight } = this.#scroller;
    if (item.y < scrollTop) this.#scroller.scrollTop = item.y;
    else if (item.y + item.height > scrollTop + clientHeight) this.#scroller.scrollTop = item.y + item.height - clientHeight;
  }

  #found(event) {
    const box = this.#canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const message = message_at(this.#arrow_drawer.drawn, x, y);
    if (message >= 0) return { message, access: -1, call: -1, x, y };
    const access = message_at(this.#access_drawer.drawn, x, y);
    if (access >= 0) return { message, access, call: -1, x, y };
    const library = this.#library_drawer.rows_at(this.#scene, x, y);
    if (library.length > 0) return { message, access, library, call: this.#page.trace.library_events.call[library[0]], x, y };
    const call = call_at(this.#scene, this.#page.lanes, x, y);
    if (!call) return { message, access, call: -1, x, y };
    return { message, access, call: call.row, count: this.#calls_in_pixel(call), x, y };
  }

  #calls_in_pixel({ lane, index }) {
    const pixel = this.#scene.pixel_ns();
    if (lane.end[index] - lane.begin[index] >= pixel) return 1;
    let count = 1;
    for (let i = index - 1; i >= 0 && lane.begin[i] > lane.begin[index] - pixel; i--) count++;
    return count;
  }

  #hover(event) {
    const found = this.#found(event);
    const is_over = Math.max(found.message, found.access, found.call) >= 0 || found.library !== undefined;
    this.#canvas.classList.toggle('over', is_over);
    if (!is_over) {
      this.#leave();
      return;
    }
    this.#tooltip.replaceChildren(...tooltip_lines(this.#page.trace, found).map((line) => h('div', {}, line)));
    this.#tooltip.hidden = false;
    const box = this.element.getBoundingClientRect();
    const left = Math.min(event.clientX - box.left + 14, box.width - this.#tooltip.offsetWidth - 4);
    this.#tooltip.style.left = `${Math.max(0, left)}px`;
    this.#tooltip.style.top = `${event.clientY - box.top + 16}px`;
  }

  #leave() {
    this.#tooltip.hidden = true;
    this.#canvas.classList.remove('over');
  }

  #choose(event) {
    const found = this.#found(event);
    const { actions, store } = this.#page;
    this.#canvas.focus({ preventScroll: true });
    if (found.message >= 0) actions.select_message(found.message, false);
    else if (found.access >= 0) actions.select_access(found.access, false);
    else if (found.call >= 0) actions.select_call(found.call);
    else store.set({ selected: null });
    if (found.message < 0 && found.access < 0) {
      const item = item_at(this.#rows, found.y + this.#scene.scroll);
      if (item?.kind === 'rank') store.set({ rank: item.rank });
      actions.set_time(this.#scene.time(found.x));
    }
  }

  /** The middle of a message's arrow in the window: {x, y}; null if it is not in view. */
  position_of(row) {
    this.draw();
    return this.#middle_of(this.#arrow_drawer.line_of(this.#scene, row));
  }

  /** The same for an access's arrow. */
  position_of_access(row) {
    this.draw();
    return this.#middle_of(this.#access_drawer.line_of(this.#scene, row));
  }

  /** Both ends of an access's arrow, on the canvas. */
  ends_of_access(row) {
    return this.#access_drawer.line_of(this.#scene, row);
  }

  #middle_of(line) {
    if (!line) return null;
    const [x, y] = [(line.x0 + line.x1) / 2, (line.y0 + line.y1) / 2];
    if (x < 0 || y < 0 || x > this.#scene.width || y > this.#scene.height) return null;
    const box = this.#canvas.getBoundingClientRect();
    return { x: box.left + x, y: box.top + y };
  }

  /** The position of a library's event in the window. */
  position_of_library_event(row) {
    this.draw();
    const { rank, time } = this.#page.trace.library_events;
    const { x, y } = this.#library_drawer.position_of(this.#scene, rank[row], time[row]);
    const box = this.#canvas.getBoundingClientRect();
    return { x: box.left + x, y: box.top + y };
  }

  /** The same for a rank at a time. */
  position_at(rank, time) {
    this.draw();
    const bar = this.#scene.bar(rank);
    const box = this.#canvas.getBoundingClientRect();
    return bar && { x: box.left + this.#scene.x(time), y: box.top + bar.top + bar.height / 2 };
  }

  /** Whether the critical path is drawn: while its panel is shown, or if the user keeps it on the timeline. */
  path_drawn() {
    const { path, path_shown, tab } = this.#page.store.state;
    return path !== null && (path_shown || tab === 'path');
  }

  /** How a message's arrow is drawn: 'sent', 'late' or 'lost'. */
  drawn_as(row) {
    return this.#arrow_drawer.sort_of(row, this.#arrow_drawer.line_of(this.#scene, row));
  }

  /** The activity of the selected rank at the cursor, as text. */
  state_text() {
    const { trace, store, lanes } = this.#page;
    if (trace.calls.rows === 0) return 'the trace has no calls';
    const { rank, time } = store.state;
    for (let i = lanes.calls.length - 1; i >= 0; i--) {
      const lane = lanes.calls[i];
      const index = lane.rank === rank ? index_at(lane, time) : -1;
      if (index >= 0) return `in ${trace.text(trace.calls.name[lane.rows[index]])}`;
    }
    return 'computing';
  }
}
