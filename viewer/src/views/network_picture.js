// The picture of a network: a canvas with its switches, links and ports, coloured by their loads.
import { place_switches, kEjection, kInjection, kLink, switch_name } from '../model/network.js';
import { h } from './dom.js';
import { distance_to } from './timeline/pick.js';

const kWidthMost = 760;   // CSS pixels
const kHeightMost = 620;
const kRoomMost = 48;     // of a switch
const kRoomLeast = 4;
const kPickPixels = 6;
const kLeastWait = 0.2;   // of the longest mark: shorter ones are left out, because in a long run messages wait nearly everywhere
const kAdjacent = 1.5;    // rooms: links that are longer are bent, or leave over the edge

export class NetworkPicture {
  #network;
  #describe;
  #describe_node;
  #tell;
  #canvas = h('canvas', { class: 'network', role: 'img' });
  #number = -1;
  #loads = null;
  #most = 1;  // share of time of the darkest and thickest line
  #colour = null;
  #marked = -1;
  #place = null;
  #room = 0;
  #lines = [];  // of the channels drawn last: {channel, x0, y0, x1, y1, ...}

  /** @param {object} options {network, describe: (channel, loads) => text, describe_node: (node) => text, tell: (text) => void, for what is
   *   under the pointer} */
  constructor({ network, describe, describe_node, tell }) {
    this.#network = network;
    this.#describe = describe;
    this.#describe_node = describe_node;
    this.#tell = tell;
    this.element = this.#canvas;
    this.#canvas.addEventListener('pointermove', (event) => this.#hover(event));
  }

  /** Draws a network with the loads of `loads_in`. `colour`: of a share of time up to `most`. */
  draw(number, loads, most, colour) {
    if (number !== this.#number) {
      this.#number = number;
      this.#marked = -1;
      this.#layout();
    }
    this.#loads = loads;
    this.#most = most > 0 ? most : 1;
    this.#colour = colour;
    this.#paint();
  }

  /** Marks a channel, and describes it. */
  mark(channel) {
    this.#marked = channel;
    this.#tell(this.#describe(channel, this.#loads));
    this.#paint();
  }

  #layout() {
    const net = this.#network.networks[this.#number];
    this.#place = place_switches(net, this.#network.nodes);
    const { width, height } = this.#place;
    this.#room = Math.max(kRoomLeast, Math.min(kRoomMost, kWidthMost / (width + 1), kHeightMost / (height + 1)));
    const ratio = window.devicePixelRatio || 1;
    const [wide, high] = [(width + 1) * this.#room, (height + 1) * this.#room];
    this.#canvas.width = Math.round(wide * ratio);
    this.#canvas.height = Math.round(high * ratio);
    this.#canvas.style.width = `${wide}px`;
    this.#canvas.style.height = `${high}px`;
    this.#canvas.setAttribute('aria-label', `the network ${net.name}; the table of the busiest links has its figures`);
    this.#lines = [];
    const { channels } = this.#network;
    for (let channel = 0; channel < channels.network.length; channel++) {
      const line = channels.network[channel] === this.#number ? this.#line_of(channel, net) : null;
      if (line) this.#lines.push(line);
    }
  }

  // A position in pixels, with half a room as margin for links that leave over the edge.
  #pixel([x, y]) {
    return [(x + 0.5) * this.#room, (y + 0.5) * this.#room];
  }

  // The line of a link, or of a port of a crossbar; null for other ports, which are parts of their switch. The lines of both
  // directions are side by side, each on its right.
  #line_of(channel, { topology }) {
    const { kind, from, to } = this.#network.channels;
    const { at, node_at } = this.#place;
    if (kind[channel] !== kLink && !node_at) return null;
    const [x0, y0] = this.#pixel(kind[channel] === kInjection ? node_at(from[channel]) : at(from[channel]));
    const [x1, y1] = this.#pixel(kind[channel] === kEjection ? node_at(to[channel]) : at(to[channel]));
    const length = Math.hypot(x1 - x0, y1 - y0) || 1;
    const aside = Math.min(4, this.#room * 0.13);
    const [dx, dy] = [(x1 - x0) / length, (y1 - y0) / length];
    const line = { channel, x0: x0 - dy * aside, y0: y0 + dx * aside, x1: x1 - dy * aside, y1: y1 + dx * aside, bend: 0 };
    if (length <= kAdjacent * this.#room || topology === 'fat_tree' || topology === 'crossbar') return line;
    if (topology === 'torus' && (dx === 0 || dy === 0)) {  // around: half a room out of the switch, away from the other one
      return { ...line, x1: line.x0 - dx * this.#room * 0.7, y1: line.y0 - dy * this.#room * 0.7 };
    }
    return { ...line, bend: Math.min(0.25 * length, 0.45 * this.#room) };
  }

  #paint() {
    const context = this.#canvas.getContext('2d');
    const ratio = window.devicePixelRatio || 1;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const style = getComputedStyle(document.documentElement);
    const theme = (name) => style.getPropertyValue(`--${name}`).trim();
    context.clearRect(0, 0, this.#canvas.width, this.#canvas.height);
    const { busy, bytes, blocked } = this.#loads;
    const widest = Math.min(6, this.#room * 0.22);
    // Free links below, then the busier the later.
    const order = [...this.#lines].sort((a, b) => busy[a.channel] - busy[b.channel]);
    const longest_wait = order.reduce((most, { channel }) => Math.max(most, blocked[channel]), 0);
    for (const line of order) {
      const share = Math.min(this.#most, busy[line.channel]);
      const is_used = share > 0 || bytes[line.channel] > 0;
      if (!is_used && line.bend !== 0) continue;  // long links without a load would cover the others
      context.strokeStyle = is_used ? this.#colour(share) : theme('line');
      context.lineWidth = is_used ? Math.max(1, widest * Math.sqrt(share / this.#most)) : 0.75;
      stroke(context, line);
    }
    for (const line of order) {
      const size = Math.sqrt(blocked[line.channel] / longest_wait);
      if (size >= kLeastWait) this.#paint_wait(context, line, size, theme('accent'));
    }
    this.#paint_switches(context, theme);
    const marked = this.#lines.find(({ channel }) => channel === this.#marked);
    if (marked) {
      context.strokeStyle = theme('accent');
      context.lineWidth = widest + 2;
      stroke(context, marked);
    }
  }

  // A line across the middle, so that colour alone carries no information.
  #paint_wait(context, { x0, y0, x1, y1 }, size, colour) {
    const length = Math.hypot(x1 - x0, y1 - y0) || 1;
    const half = size * Math.min(6, this.#room * 0.2);
    const [dx, dy] = [(x1 - x0) / length * half, (y1 - y0) / length * half];
    const [x, y] = [(x0 + x1) / 2, (y0 + y1) / 2];
    context.strokeStyle = colour;
    context.lineWidth = Math.max(1, this.#room * 0.06);
    context.beginPath();
    context.moveTo(x - dy, y + dx);
    context.lineTo(x + dy, y - dx);
    context.stroke();
  }

  #paint_switches(context, theme) {
    const { channels, networks, nodes } = this.#network;
    const { at, node_at } = this.#place;
    const { switches, topology } = networks[this.#number];
    const load = new Float64Array(switches);  // of the ports of its nodes
    for (let channel = 0; channel < channels.network.length; channel++) {
      if (channels.network[channel] !== this.#number || channels.kind[channel] === kLink) continue;
      const number = channels.kind[channel] === kInjection ? channels.to[channel] : channels.from[channel];
      load[number] = Math.max(load[number], this.#loads.busy[channel]);
    }
    const side = Math.max(2, Math.min(16, this.#room * 0.36));
    const square = (place, fill) => {
      const [x, y] = this.#pixel(place);
      context.fillStyle = fill;
      context.fillRect(x - side / 2, y - side / 2, side, side);
      context.strokeStyle = theme('faint');
      context.lineWidth = 0.75;
      context.strokeRect(x - side / 2, y - side / 2, side, side);
    };
    for (let number = 0; number < switches; number++) {
      square(at(number), load[number] > 0 && topology !== 'crossbar' ? this.#colour(Math.min(this.#most, load[number])) : theme('paper'));
    }
    for (let node = 0; node_at && node < nodes; node++) square(node_at(node), theme('stripe'));
  }

  #hover(event) {
    const box = this.#canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const place = this.#switch_under(x, y);
    if (place !== null) {
      this.#tell(place);
      return;
    }
    let best = null;
    let best_distance = kPickPixels;
    for (const line of this.#lines) {
      const distance = distance_to(line, x, y);
      if (distance >= best_distance) continue;
      best = line;
      best_distance = distance;
    }
    if (best) this.#tell(this.#describe(best.channel, this.#loads));
  }

  // The text of the switch or node at a position, or null.
  #switch_under(x, y) {
    const { networks, nodes } = this.#network;
    const net = networks[this.#number];
    const { at, node_at } = this.#place;
    const near = (place) => {
      const [px, py] = this.#pixel(place);
      return Math.max(Math.abs(px - x), Math.abs(py - y)) <= Math.max(2, this.#room * 0.2);
    };
    for (let node = 0; node_at && node < nodes; node++) if (near(node_at(node))) return this.#describe_node(node);
    for (let number = 0; !node_at && number < net.switches; number++) {
      if (!near(at(number))) continue;
      const first = number * net.nodes_per_switch;
      if (first >= nodes) return `switch ${switch_name(net, number)}`;
      const of_switch = Array.from({ length: Math.min(net.nodes_per_switch, nodes - first) }, (_, index) => this.#describe_node(first + index));
      return `switch ${switch_name(net, number)}; ${of_switch.join('; ')}`;
    }
    return null;
  }
}

function stroke(context, { x0, y0, x1, y1, bend }) {
  context.beginPath();
  context.moveTo(x0, y0);
  if (bend === 0) context.lineTo(x1, y1);
  else {
    const length = Math.hypot(x1 - x0, y1 - y0);
    context.quadraticCurveTo((x0 + x1) / 2 - (y1 - y0) / length * bend, (y0 + y1) / 2 + (x1 - x0) / length * bend, x1, y1);
  }
  context.stroke();
}
