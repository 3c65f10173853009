// The positions of times and ranks on the canvas, in CSS pixels from its corner.

const kPad = 6;

export class Scene {
  /** @param {object} rows of `place_rows` */
  constructor({ width, height, scroll, from, to, rows }) {
    Object.assign(this, { width, height, scroll, from, to, rows });
    this.scale = width / (to - from);
  }

  x(time) {
    return (time - this.from) * this.scale;
  }

  time(x) {
    return this.from + x / this.scale;
  }

  pixel_ns() {
    return 1 / this.scale;
  }

  /** The bar of a rank's thread at depth 0: {top, height}; null for a rank without a row. */
  bar(rank, thread = 0) {
    const item = this.rows.of_rank.get(rank);
    if (!item) return null;
    const slot = Math.min(thread, item.threads - 1);
    return { top: item.y - this.scroll + slot * item.thread_height + kPad, height: item.thread_height - 2 * kPad };
  }

  /** Whether the rank has a row of its own, or its group's row shows it. */
  shows(rank) {
    return this.rows.of_rank.get(rank)?.rank === rank;
  }

  visible(bar) {
    return bar !== null && bar.top + bar.height >= 0 && bar.top <= this.height;
  }

  /** Both ends of an arrow between two ranks, each at the side of its bar that is nearer to the other rank; null if no row shows one of
   *  them. */
  line(source, destination, sent, arrived) {
    if (!this.shows(source) && !this.shows(destination)) return null;
    const from = this.bar(source);
    const to = this.bar(destination);
    if (!from || !to) return null;
    if (from.top === to.top) {  // of one rank, or of one group
      const y = from.top + from.height + 2;
      return { x0: this.x(sent), y0: y, x1: this.x(arrived), y1: y };
    }
    const down = to.top > from.top;
    return {
      x0: this.x(sent), y0: down ? from.top + from.height : from.top,
      x1: this.x(arrived), y1: down ? to.top : to.top + to.height,
    };
  }
}
