// The panel of histograms: the messages' sizes, walks and waiting times.
import { scaleBand, scaleLinear } from 'd3-scale';
import { select } from 'd3-selection';
import { bytes_text, count_text, counted, time_text } from '../base/format.js';
import { by_powers_of_two, by_times } from '../model/histogram.js';
import { h } from './dom.js';

const kSize = { width: 420, height: 190, top: 18, bottom: 30, side: 24 };
const kNamesMost = 7;   // bounds that are labelled below the bars
const kTick = 5;

// Draws the axis: a bar counts the values between the bounds on its left and right.
function draw_bounds(svg, x, names) {
  const { width, height, bottom, side } = kSize;
  const every = Math.ceil((names.length - 1) / kNamesMost);
  const axis = svg.append('g').attr('class', 'axis').attr('transform', `translate(0,${height - bottom})`);
  axis.append('path').attr('d', `M${side},0H${width - side}`);
  const half_gap = (x.step() - x.bandwidth()) / 2;
  const place = (index) => (index < names.length - 1 ? x(index) - half_gap : x(index - 1) + x.bandwidth() + half_gap);
  const bounds = axis.selectAll('g.bound').data(names.map((_, index) => index)).join('g').attr('class', 'bound')
    .attr('transform', (index) => `translate(${place(index)},0)`);
  bounds.append('line').attr('y2', kTick);
  bounds.filter((index) => index % every === 0).append('text').attr('y', kTick + 12)
    .attr('text-anchor', 'middle').text((index) => names[index]);
}

function histogram(bars, name_of, range_of) {
  const { width, height, top, bottom, side } = kSize;
  const svg = select(document.createElementNS('http://www.w3.org/2000/svg', 'svg')).attr('viewBox', `0 0 ${width} ${height}`).attr('class', 'histogram');
  const x = scaleBand(bars.map((_, index) => index), [side, width - side]).padding(0.12);
  const y = scaleLinear([0, Math.max(...bars.map(({ count }) => count))], [height - bottom, top]);
  const bar = svg.selectAll('g.bar').data(bars).join('g').attr('class', 'bar').attr('transform', (_, index) => `translate(${x(index)},0)`);
  bar.append('rect').attr('width', x.bandwidth()).attr('y', ({ count }) => y(count)).attr('height', ({ count }) => height - bottom - y(count));
  bar.append('title').text((each) => `${range_of(each)}: ${count_text(each.count)}`);
  bar.filter(({ count }) => count > 0).append('text').attr('x', x.bandwidth() / 2).attr('y', ({ count }) => y(count) - 4)
    .attr('text-anchor', 'middle').text(({ count }) => (count < 1e4 ? count : `${Math.round(count / 1000)}k`));
  draw_bounds(svg, x, [...bars.map(({ from }) => from), bars.at(-1).to].map((from) => name_of({ from })));
  return svg.node();
}

function* column(values, rows) {
  for (let i = 0; i < rows.length; i++) yield values[rows[i]];
}

function part(title, bars, name_of, range_of, none) {
  const count = bars.reduce((sum, bar) => sum + bar.count, 0);
  return h('figure', {}, h('figcaption', {}, `${title}${count > 0 ? ` (${counted(count, 'message')})` : ''}`),
    count === 0 ? h('p', { class: 'note' }, none) : histogram(bars, name_of, range_of));
}

/** @param {object} page {trace, store} */
export function histograms_panel({ trace, store }) {
  const element = h('div', { class: 'histograms' });
  const show = () => {
    const { rows } = store.state;
    const { messages } = trace;
    const size = (bar) => (bar.from === 0 ? '0' : bytes_text(bar.from).replace(' bytes', '').replace(' byte', ''));
    const walk = (bar) => count_text(bar.from);
    const time = (bar) => (bar.from === 0 ? '0' : time_text(bar.from).replace(/\.0+ /, ' '));
    const until = (text) => (bar) => `from ${text(bar)} to less than ${text({ from: bar.to })}`;
    element.replaceChildren(
      part('Bytes of a message', by_powers_of_two(column(messages.bytes, rows)), size, until(size), 'No message.'),
      part('Entries walked over', by_powers_of_two(column(messages.walked, rows)), walk, until(walk), 'No message.'),
      part('Time that receivers waited for late senders', by_times(column(messages.receiver_waited, rows)), time, until(time), 'No receiver waited.'),
      part('Time that senders waited for late receivers', by_times(column(messages.sender_waited, rows)), time, until(time), 'No sender waited.'));
  };
  return { id: 'histograms', label: 'Histograms', element, show, keys: ['rows'] };
}
