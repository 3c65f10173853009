// Events of communication libraries: triangles above the bar of their rank.
import { events_by_rank, rows_between, times_in_view } from '../../model/library_events.js';

const kSize = 5;

export class LibraryDrawer {
  #of_rank;

  constructor(trace) {
    this.#of_rank = events_by_rank(trace);
  }

  draw(context, scene, palette) {
    const marks = new Path2D();
    for (const [rank, events] of this.#of_rank) {
      const bar = scene.shows(rank) ? scene.bar(rank) : null;
      if (!scene.visible(bar)) continue;
      for (const time of times_in_view(events, scene.from, scene.to, scene.pixel_ns())) {
        const x = scene.x(time);
        marks.moveTo(x, bar.top);
        marks.lineTo(x - kSize / 2, bar.top - kSize);
        marks.lineTo(x + kSize / 2, bar.top - kSize);
        marks.closePath();
      }
    }
    context.fillStyle = palette.ink;
    context.fill(marks);
  }

  /** The middle of a mark, on the canvas. */
  position_of(scene, rank, time) {
    return { x: scene.x(time), y: scene.bar(rank).top - kSize / 2 };
  }

  /** The rows of the events at a position of the canvas. */
  rows_at(scene, x, y) {
    for (const [rank, events] of this.#of_rank) {
      const bar = scene.shows(rank) ? scene.bar(rank) : null;
      if (bar === null || y > bar.top + 1 || y < bar.top - kSize - 1) continue;
      const slack = scene.pixel_ns() * kSize / 2;
      return rows_between(events, scene.time(x) - slack, scene.time(x) + slack);
    }
    return [];
  }
}
