// Draws messages as arrows from send to arrival, with a tail to the time at which the program received them.
import { first_above } from '../../base/bisect.js';
import { hops_of } from '../../model/instant.js';
import { message_ends } from '../words.js';

const kArrowsMax = 6000;
const kHeadsMax = 700;  // arrows with heads and tails
const kLostPixels = 26;
const kDropped = 'dropped';
const kThickMost = 60;    // most stretches of a critical path that are drawn thick

export class ArrowDrawer {
  #trace;
  #levels;
  /** The rows drawn last and their lines, for picking. */
  drawn = { rows: [], lines: [], whole: true, under_way: 0 };

  constructor(trace, levels) {
    this.#trace = trace;
    this.#levels = levels;
  }

  set levels(levels) {
    this.#levels = levels;
  }

  draw(context, scene, palette) {
    const found = this.#levels.visible(scene.from, scene.to, scene.pixel_ns(), kArrowsMax);
    const drawn = { rows: [], lines: [], whole: found.whole, under_way: found.under_way };
    for (let i = found.begin; i < found.end; i++) this.#add(scene, found.rows[i], drawn);
    this.drawn = drawn;
    const detailed = drawn.rows.length <= kHeadsMax;
    const groups = { sent: new Path2D(), late: new Path2D(), lost: new Path2D() };
    const heads = new Path2D();
    const tails = new Path2D();
    drawn.lines.forEach((line, index) => {
      const path = groups[this.sort_of(drawn.rows[index], line)];
      path.moveTo(line.x0, line.y0);
      path.lineTo(line.x1, line.y1);
      if (line.lost) add_cross(path, line);
      else if (detailed) {
        add_head(heads, line);
        this.#add_tail(scene, tails, drawn.rows[index], line);
      }
    });
    context.save();
    context.lineWidth = 1;
    context.strokeStyle = palette.arrow;
    context.globalAlpha = detailed ? 0.9 : Math.max(0.25, Math.min(0.8, 900 / drawn.rows.length));
    context.stroke(groups.sent);
    context.lineWidth = 1.8;  // late messages are also thicker, so that colour alone carries no information
    context.stroke(groups.late);
    context.globalAlpha = 1;
    context.fillStyle = palette.arrow;
    context.fill(heads);
    context.lineWidth = 1;
    context.setLineDash([2, 2]);
    context.stroke(tails);
    context.strokeStyle = palette.lost;
    context.lineWidth = 1.6;
    context.setLineDash([5, 3]);
    context.stroke(groups.lost);
    context.restore();
  }

  line_of(scene, row) {
    const { messages } = this.#trace;
    const { sent, arrived } = message_ends(messages, row);
    const never = Number.isNaN(arrived);
    const line = scene.line(messages.source[row], messages.destination[row], sent, never ? sent : arrived);
    if (!line) return null;
    if (!never) return { ...line, lost: this.#trace.text(messages.how[row]) === kDropped };
    const share = 0.4;  // it never arrived: the arrow ends before the target
    return { ...line, x1: line.x0 + kLostPixels, y1: line.y0 + share * (line.y1 - line.y0), lost: true };
  }

  #add(scene, row, drawn) {
    const line = this.line_of(scene, row);
    if (!line || Math.max(line.x0, line.x1) < 0 || Math.min(line.x0, line.x1) > scene.width) return;
    if (Math.max(line.y0, line.y1) < 0 || Math.min(line.y0, line.y1) > scene.height) return;
    drawn.rows.push(row);
    drawn.lines.push(line);
  }

  /** How a message's arrow is drawn: 'sent', 'late' (thick) or 'lost' (dashed, with a cross). */
  sort_of(row, line) {
    const { receiver_waited, sender_waited } = this.#trace.messages;
    if (line.lost) return 'lost';
    return receiver_waited[row] > 0 || sender_waited[row] > 0 ? 'late' : 'sent';
  }

  // The tail, from a message's arrival to its receipt by the program.
  #add_tail(scene, path, row, line) {
    const received = this.#trace.messages.received[row];
    if (!(received > this.#trace.messages.arrived[row])) return;
    const x = scene.x(received);
    if (x - line.x1 < 2) return;
    path.moveTo(line.x1, line.y1);
    path.lineTo(x, line.y1);
    path.rect(x - 1.5, line.y1 - 1.5, 3, 3);
  }

  /** Draws the selected message, with the other arrows of its protocol. */
  draw_chosen(context, scene, palette, row) {
    const line = this.line_of(scene, row);
    if (!line) return;
    context.save();
    context.strokeStyle = palette.accent;
    context.fillStyle = palette.accent;
    context.lineWidth = 3;
    stroke_line(context, line);
    const head = new Path2D();
    add_head(head, line, 8);
    context.fill(head);
    const { hops } = this.#trace;
    context.lineWidth = 1.6;
    context.font = '11px system-ui, sans-serif';
    const labels = [];  // boxes of the labels drawn so far, which must not overlap
    for (const hop of hops_of(this.#trace, row)) {
      const second = scene.line(hops.source[hop], hops.destination[hop], hops.sent[hop], hops.arrived[hop]);
      if (!second || Number.isNaN(second.x1)) continue;
      context.setLineDash([6, 3]);
      stroke_line(context, second);
      context.setLineDash([]);
      const hop_head = new Path2D();
      add_head(hop_head, second, 7);
      context.fill(hop_head);
      label(context, palette, labels, this.#trace.text(hops.kind[hop]), (second.x0 + second.x1) / 2, (second.y0 + second.y1) / 2);
    }
    this.#times(context, scene, palette, row, labels);
    context.restore();
  }

  #times(context, scene, palette, row, labels) {
    const { messages } = this.#trace;
    const bar = scene.bar(messages.destination[row]);
    for (const [name, time] of [['posted', messages.posted[row]], ['found', messages.taken[row]], ['received', messages.received[row]]]) {
      if (Number.isNaN(time)) continue;
      const x = scene.x(time);
      context.lineWidth = 2;
      context.beginPath();
      context.moveTo(x, bar.top - 3);
      context.lineTo(x, bar.top + bar.height + 3);
      context.stroke();
      if (bar.height >= 20) label(context, palette, labels, name, x + 2, bar.top + bar.height - 6, 'left');
    }
  }
}

function stroke_line(context, { x0, y0, x1, y1 }) {
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
  context.stroke();
}

function label(context, palette, labels, text, x, y, align = 'center') {
  const width = context.measureText(text).width + 6;
  const left = align === 'center' ? x - width / 2 : x;
  if (labels.some((other) => Math.abs(other.y - y) < 14 && other.left < left + width && left < other.left + other.width)) return;
  labels.push({ left, width, y });
  context.save();
  context.fillStyle = palette.paper;
  context.fillRect(left, y - 7, width, 14);
  context.fillStyle = palette.ink;
  context.textBaseline = 'middle';
  context.textAlign = 'left';
  context.fillText(text, left + 3, y);
  context.restore();
}

function add_head(path, { x0, y0, x1, y1 }, size = 5) {
  const length = Math.hypot(x1 - x0, y1 - y0);
  if (length < 2) return;
  const [dx, dy] = [(x1 - x0) / length, (y1 - y0) / length];
  path.moveTo(x1, y1);
  path.lineTo(x1 - size * dx + 0.45 * size * dy, y1 - size * dy - 0.45 * size * dx);
  path.lineTo(x1 - size * dx - 0.45 * size * dy, y1 - size * dy + 0.45 * size * dx);
  path.closePath();
}

function add_cross(path, { x1, y1 }) {
  path.moveTo(x1 - 4, y1 - 4);
  path.lineTo(x1 + 4, y1 + 4);
  path.moveTo(x1 + 4, y1 - 4);
  path.lineTo(x1 - 4, y1 + 4);
}

/** Draws the stretches of a critical path in view, as one line. Requires: sorted by time. */
export function draw_path(context, scene, palette, { stretches, ends }, collectives) {
  const path = new Path2D();
  let at = { x: NaN, y: NaN };
  let count = 0;
  for (let i = first_above(ends, scene.from); i < stretches.length && stretches[i].from < scene.to; i++) {
    const stretch = stretches[i];
    const from = scene.bar(stretch.kind === 'wire' ? stretch.source : stretch.rank);
    const to = scene.bar(stretch.rank);
    if (!from || !to) continue;
    const [x0, x1] = [scene.x(stretch.from), scene.x(stretch.to)];
    const [y0, y1] = [from.top + from.height / 2, to.top + to.height / 2];
    if (stretch.entered >= 0) {  // from the late rank, for which this one waited
      const late = scene.bar(collectives.rank[stretch.entered]);
      if (late) path.moveTo(x0, late.top + late.height / 2);
      if (late) path.lineTo(x0, y0);
    }
    if (x1 - at.x < 0.5 && Math.abs(y1 - at.y) < 0.5) continue;
    path.moveTo(x0, y0);
    path.lineTo(x1, y1);
    at = { x: x1, y: y1 };
    count++;
  }
  context.save();
  context.lineCap = 'round';
  context.strokeStyle = palette.paper;
  const many = count > kThickMost;  // thin, so that the rows below a path with many turns stay visible
  const width = many ? 1.2 : 3.5;
  context.lineWidth = 2 * width;
  context.globalAlpha = many ? 0.25 : 0.6;
  context.stroke(path);
  context.strokeStyle = palette.path;
  context.lineWidth = width;
  context.globalAlpha = many ? 0.5 : 1;
  context.stroke(path);
  context.restore();
}
