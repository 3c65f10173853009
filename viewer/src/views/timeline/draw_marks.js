// Draws the marks of the selection and the cursor.
import { rows_of_call } from '../../model/collective.js';

/** Frames all ranks' parts of a collective call, with a band between them. */
export function draw_collective(context, scene, palette, trace, row) {
  const { collectives, duration } = trace;
  const parts = rows_of_call(trace, row).filter((part) => scene.shows(collectives.rank[part])).map((part) => {
    const bar = scene.bar(collectives.rank[part]);
    const end = collectives.end[part] >= collectives.begin[part] ? collectives.end[part] : duration;
    return bar && { bar, x0: scene.x(collectives.begin[part]), x1: scene.x(end) };
  }).filter(Boolean).sort((a, b) => a.bar.top - b.bar.top);
  if (parts.length === 0) return;
  context.save();
  const band = new Path2D();
  parts.forEach(({ bar, x0 }, index) => {
    if (index === 0) band.moveTo(x0, bar.top);
    band.lineTo(x0, bar.top);
    band.lineTo(x0, bar.top + bar.height);
  });
  [...parts].reverse().forEach(({ bar, x1 }) => {
    band.lineTo(Math.max(x1), bar.top + bar.height);
    band.lineTo(x1, bar.top);
  });
  band.closePath();
  context.globalAlpha = 0.18;
  context.fillStyle = palette.band;
  context.fill(band);
  context.globalAlpha = 1;
  context.strokeStyle = palette.accent;
  context.lineWidth = 2;
  for (const { bar, x0, x1 } of parts) context.strokeRect(x0, bar.top - 2, Math.max(2, x1 - x0), bar.height + 4);
  context.restore();
}

export function draw_call(context, scene, palette, trace, row) {
  const { calls, duration } = trace;
  const bar = scene.bar(calls.rank[row], calls.thread[row]);
  if (!bar) return;
  const x0 = scene.x(calls.begin[row]);
  const x1 = scene.x(calls.end[row] >= calls.begin[row] ? calls.end[row] : duration);
  context.strokeStyle = palette.accent;
  context.lineWidth = 2.5;
  context.strokeRect(x0, bar.top - 2, Math.max(2, x1 - x0), bar.height + 4);
}

/** Draws the cursor: its time and its rank. */
export function draw_cursor(context, scene, palette, time, rank) {
  const x = scene.x(time);
  const item = scene.rows.of_rank.get(rank);
  if (item) {
    context.fillStyle = palette.accent;
    context.fillRect(0, item.y - scene.scroll, 3, item.height);
  }
  if (x < -1 || x > scene.width + 1) return;
  context.save();
  context.strokeStyle = palette.accent;
  context.lineWidth = 1.25;
  context.beginPath();
  context.moveTo(x, 0);
  context.lineTo(x, scene.height);
  context.stroke();
  if (item) {
    context.fillStyle = palette.accent;
    context.beginPath();
    context.arc(x, item.y - scene.scroll + item.height / 2, 4, 0, 2 * Math.PI);
    context.fill();
  }
  context.restore();
}

/** Draws the range that the pointer selects. */
export function draw_range(context, scene, palette, x0, x1) {
  context.globalAlpha = 0.2;
  context.fillStyle = palette.accent;
  context.fillRect(Math.min(x0, x1), 0, Math.abs(x1 - x0), scene.height);
  context.globalAlpha = 1;
}
