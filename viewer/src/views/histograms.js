// How the messages' sizes, walks and waiting times are spread.
import { axisBottom } from 'd3-axis';
import { scaleBand, scaleLinear } from 'd3-scale';
import { select } from 'd3-selection';
import { bytes_text, count_text, counted, time_text } from '../base/format.js';
import { by_powers_of_two, by_times } from '../model/histogram.js';
import { h } from './dom.js';

const kSize = { width: 420, height: 190, top: 18, bottom: 30, side: 8 };
const kNamesMost = 9;  // below the bars

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
  const every = Math.ceil(bars.length / kNamesMost);
  svg.append('g').attr('class', 'axis').attr('transform', `translate(0,${height - bottom})`)
    .call(axisBottom(x).tickValues(bars.map((_, index) => index).filter((index) => index % every === 0)).tickFormat((index) => name_of(bars[index])).tickSizeOuter(0));
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
    const time = (bar) => (bar.from === 0 ? '0' : time_text(bar.from));
    const until = (text) => (bar) => `from ${text(bar)} to less than ${text({ from: bar.to })}`;
    element.replaceChildren(
      part('Bytes of a message', by_powers_of_two(column(messages.bytes, rows)), size, until(size), 'No message.'),
      part('Entries walked over', by_powers_of_two(column(messages.walked, rows)), walk, until(walk), 'No message.'),
      part('Waiting of receivers for late senders', by_times(column(messages.receiver_waited, rows)), time, until(time), 'No receiver waited.'),
      part('Waiting of senders for late receivers', by_times(column(messages.sender_waited, rows)), time, until(time), 'No sender waited.'));
  };
  return { id: 'histograms', label: 'Histograms', element, show, keys: ['rows'] };
}
