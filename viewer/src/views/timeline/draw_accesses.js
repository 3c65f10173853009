// One-sided accesses: dashed arrows with open heads, in the direction in which the data goes; a diamond at the target where it is combined.
import { ArrowLevels, pairs_of } from '../../model/arrows.js';
import { access_arrows, combines, reads_only } from '../../model/accesses.js';

const kMost = 3000;
const kHeadsMost = 700;
const kDash = [7, 2, 2, 2];

export class AccessDrawer {
  #trace;
  #arrows;
  #levels;
  /** The rows drawn last and their lines, for picking. */
  drawn = { rows: [], lines: [], whole: true, under_way: 0 };

  constructor(trace) {
    this.#trace = trace;
    this.#arrows = access_arrows(trace);
    this.#levels = new ArrowLevels(this.#arrows, Int32Array.from({ length: trace.accesses.rows }, (_, row) => row), pairs_of(this.#arrows));
  }

  draw(context, scene, palette) {
    const found = this.#levels.visible(scene.from, scene.to, scene.pixel_ns(), kMost);
    const drawn = { rows: [], lines: [], whole: found.whole, under_way: found.under_way };
    for (let i = found.begin; i < found.end; i++) {
      const line = this.line_of(scene, found.rows[i]);
      if (!line || Math.max(line.x0, line.x1) < 0 || Math.min(line.x0, line.x1) > scene.width) continue;
      drawn.rows.push(found.rows[i]);
      drawn.lines.push(line);
    }
    this.drawn = drawn;
    context.save();
    context.strokeStyle = palette.access;
    context.globalAlpha = drawn.rows.length <= kHeadsMost ? 1 : 0.5;
    this.#stroke(context, drawn, 1.2, drawn.rows.length <= kHeadsMost);
    context.restore();
  }

  draw_chosen(context, scene, palette, row) {
    const line = this.line_of(scene, row);
    if (!line) return;
    context.save();
    context.strokeStyle = palette.accent;
    this.#stroke(context, { rows: [row], lines: [line] }, 3, true);
    context.restore();
  }

  /** The line of an access, in the direction of its data. */
  line_of(scene, row) {
    const { source, destination, first, last } = this.#arrows;
    if (!reads_only(this.#trace, row)) return scene.line(source[row], destination[row], first[row], last[row]);
    return scene.line(destination[row], source[row], first[row], last[row]);
  }

  #stroke(context, { rows, lines }, width, detailed) {
    const bodies = new Path2D();
    const ends = new Path2D();
    lines.forEach((line, index) => {
      bodies.moveTo(line.x0, line.y0);
      bodies.lineTo(line.x1, line.y1);
      if (!detailed) return;
      add_open_head(ends, line);
      if (combines(this.#trace, rows[index])) add_diamond(ends, line);
    });
    context.lineWidth = width;
    context.setLineDash(kDash);
    context.stroke(bodies);
    context.setLineDash([]);
    context.stroke(ends);
  }
}

function add_open_head(path, { x0, y0, x1, y1 }, size = 7) {
  const length = Math.hypot(x1 - x0, y1 - y0);
  if (length < 2) return;
  const [dx, dy] = [(x1 - x0) / length, (y1 - y0) / length];
  path.moveTo(x1 - size * dx + 0.5 * size * dy, y1 - size * dy - 0.5 * size * dx);
  path.lineTo(x1, y1);
  path.lineTo(x1 - size * dx - 0.5 * size * dy, y1 - size * dy + 0.5 * size * dx);
}

function add_diamond(path, { x1, y1 }, size = 4) {
  path.moveTo(x1 - size, y1);
  path.lineTo(x1, y1 - size);
  path.lineTo(x1 + size, y1);
  path.lineTo(x1, y1 + size);
  path.closePath();
}
