// Draws the rows of ranks: calls as bars, nested calls in their lower part, waits hatched.
import { visit_spans } from '../../model/detail.js';
import { category_of } from '../../model/categories.js';
import { items_between } from '../../model/rows.js';

const kNestedShare = 0.42;  // share of a bar's height that nested calls take
const kShades = 6;         // number of shades of pale bars
const kLabelPixels = 34;    // a bar that is narrower has no name
const kFont = '11px system-ui, sans-serif';

// Equal neighbours are filled together, which saves thousands of fills in a frame.
class Run {
  #context;
  #top;
  #height;
  #begin = 0;
  #end = -1;
  #fill = null;
  #alpha = 0;

  constructor(context, top, height) {
    this.#context = context;
    this.#top = top;
    this.#height = height;
  }

  add(begin, end, fill, share) {
    const alpha = Math.ceil(kShades * share) / kShades;
    if (fill === this.#fill && alpha === this.#alpha && begin <= this.#end && begin >= this.#begin && end - begin <= 1) {
      this.#end = Math.max(this.#end, end);
      return;
    }
    this.flush();
    this.#begin = begin;
    this.#end = end;
    this.#fill = fill;
    this.#alpha = alpha;
  }

  flush() {
    if (this.#fill === null) return;
    this.#context.globalAlpha = this.#alpha;
    this.#context.fillStyle = this.#fill;
    this.#context.fillRect(this.#begin, this.#top, this.#end - this.#begin, this.#height);
    this.#fill = null;
  }
}

export class LaneDrawer {
  #trace;
  #lanes;
  #categories;

  constructor(trace, lanes) {
    this.#trace = trace;
    this.#lanes = lanes;
    this.#categories = Uint8Array.from(trace.strings, category_of);
  }

  /** @param {Uint8Array | null} marked by text: calls with a marked name or site are framed */
  draw(context, scene, palette, marked) {
    this.#backdrop(context, scene, palette);
    for (const lane of this.#lanes.calls) this.#calls(context, scene, palette, lane, marked);
    for (const lane of this.#lanes.waits) this.#waits(context, scene, palette, lane);
  }

  /** Draws the names of calls. Called after the arrows, so that no arrow crosses a name. */
  draw_names(context, scene, palette) {
    context.font = kFont;
    context.textBaseline = 'top';
    context.textAlign = 'left';
    for (const lane of this.#lanes.calls) if (lane.depth === 0) this.#names(context, scene, palette, lane);
  }

  category(row) {
    return this.#categories[this.#trace.calls.name[row]];
  }

  #backdrop(context, scene, palette) {
    context.fillStyle = palette.paper;
    context.fillRect(0, 0, scene.width, scene.height);
    for (const item of items_between(scene.rows, scene.scroll, scene.scroll + scene.height)) {
      const y = item.y - scene.scroll;
      context.fillStyle = item.kind === 'rank' ? palette.line : palette.stripe;
      if (item.kind === 'rank') context.fillRect(0, y + item.height - 1, scene.width, 1);
      else context.fillRect(0, y, scene.width, item.height);
      if (item.kind !== 'rank') continue;
      const x0 = Math.max(0, scene.x(0));
      const x1 = Math.min(scene.width, scene.x(this.#trace.duration));
      for (let thread = 0; thread < item.threads; thread++) {
        const bar = scene.bar(item.rank, thread);
        context.fillStyle = palette.faint;
        context.globalAlpha = 0.45;
        context.fillRect(x0, bar.top + bar.height / 2, Math.max(0, x1 - x0), 1);
        context.globalAlpha = 1;
      }
    }
  }

  // A lane's height: the program's own calls take the whole bar, nested calls its lower part, and so on.
  #box(scene, lane) {
    const bar = scene.shows(lane.rank) ? scene.bar(lane.rank, lane.thread) : null;
    if (!scene.visible(bar)) return null;
    const height = Math.max(2, bar.height * kNestedShare ** Math.min(lane.depth, 3));
    return { top: bar.top + bar.height - height, height };
  }

  #calls(context, scene, palette, lane, marked) {
    const box = this.#box(scene, lane);
    if (!box) return;
    const { name, site } = this.#trace.calls;
    const run = new Run(context, box.top, box.height);
    visit_spans(lane, scene.from, scene.to, scene.width, (x0, x1, index, share) => {
      const row = lane.rows[index];
      const { fill, pattern } = palette.categories[this.#categories[name[row]]];
      const width = Math.max(1, x1 - x0);
      run.add(x0, x0 + width, fill, 0.25 + 0.75 * share);
      if (width <= 3 && !(marked && (marked[name[row]] || marked[site[row]]))) return;
      run.flush();
      context.globalAlpha = 1;
      if (pattern && width > 3) {
        context.fillStyle = pattern;
        context.fillRect(x0, box.top, width, box.height);
      }
      if (lane.depth > 0 && width > 3) {
        context.strokeStyle = palette.on_bar;
        context.lineWidth = 0.75;
        context.strokeRect(x0 + 0.5, box.top + 0.5, width - 1, box.height - 1);
      } else if (width > 6) {
        context.fillStyle = palette.paper;  // a gap, so that consecutive calls are distinct bars
        context.fillRect(x1 - 1, box.top, 1, box.height);
      }
      if (marked && (marked[name[row]] || marked[site[row]])) {
        context.globalAlpha = 1;
        context.strokeStyle = palette.ink;
        context.lineWidth = 1.5;
        context.strokeRect(x0, box.top - 1.5, width, box.height + 3);
      }
    });
    run.flush();
    context.globalAlpha = 1;
  }

  #waits(context, scene, palette, lane) {
    const bar = scene.shows(lane.rank) ? scene.bar(lane.rank, lane.thread) : null;
    if (!scene.visible(bar)) return;
    const run = new Run(context, bar.top, bar.height);
    visit_spans(lane, scene.from, scene.to, scene.width, (x0, x1, index, share) => run.add(x0, Math.max(x0 + 1, x1), palette.waiting, share));
    run.flush();
    context.globalAlpha = 1;
  }

  #names(context, scene, palette, lane) {
    const box = this.#box(scene, lane);
    if (!box || box.height < 13) return;
    const { name } = this.#trace.calls;
    visit_spans(lane, scene.from, scene.to, scene.width, (x0, x1, index, share, count) => {
      if (count > 1 || x1 - x0 < kLabelPixels) return;
      const text = this.#trace.text(name[lane.rows[index]]);
      const { fill } = palette.categories[this.#categories[name[lane.rows[index]]]];
      const width = Math.min(context.measureText(text).width, x1 - x0 - 6);
      const shown = fitting(context, text, width);
      if (shown === '') return;
      context.fillStyle = fill;  // the name must be readable on the hatching too
      context.fillRect(x0 + 1, box.top, context.measureText(shown).width + 5, 13);
      context.fillStyle = palette.on_bar;
      context.fillText(shown, x0 + 3, box.top + 1);
    });
  }
}

function fitting(context, text, width) {
  if (context.measureText(text).width <= width + 0.5) return text;
  const short = text.replace(/^P?MPIX?_/, '');
  for (let length = short.length; length > 2; length--) {
    const shown = length === short.length ? short : `${short.slice(0, length - 1)}…`;
    if (context.measureText(shown).width <= width) return shown;
  }
  return '';
}
