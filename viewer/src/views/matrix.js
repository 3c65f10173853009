// The panel of the communication matrix: messages or bytes by source and destination. A click filters by the pair.
import { scaleBand, scaleSequentialSqrt } from 'd3-scale';
import { interpolateBlues, interpolateCividis } from 'd3-scale-chromatic';
import { select } from 'd3-selection';
import { bytes_text, count_text, counted } from '../base/format.js';
import { communication_matrix } from '../model/matrix.js';
import { rows_of } from '../model/fold.js';
import { group_name, text_of_ranks } from '../model/ranks_text.js';
import { h, link_button, table } from './dom.js';

const kWritten = 12;  // the most rows for which each cell has its number
const kListed = 20;
const kMargin = 46;
const kNameMost = 7;     // characters of a row's name; a longer one is its first rank
const kListNameMost = 24;

function luminance(colour) {
  const parts = colour[0] === '#' ? colour.slice(1).match(/../g).map((part) => parseInt(part, 16)) : colour.match(/\d+/g).map(Number);
  const [red, green, blue] = parts.map((part) => part / 255)
    .map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function short_bytes(bytes) {
  for (const [scale, unit] of [[1024 ** 3, 'G'], [1024 ** 2, 'M'], [1024, 'k']]) {
    if (bytes >= scale) return `${(bytes / scale).toFixed(bytes / scale < 10 ? 1 : 0)}${unit}`;
  }
  return String(bytes);
}

function draw(svg, matrix, by_bytes, dark, choose) {
  const { groups, messages, bytes } = matrix;
  const count = groups.length;
  const values = by_bytes ? bytes : messages;
  const side = Math.max(180, Math.min(560, count * 44));
  const place = scaleBand(groups.map((_, index) => index), [0, side]).padding(count > 24 ? 0 : 0.04);
  const most = Math.max(1, ...values);
  const colour = dark ? scaleSequentialSqrt([0, most], (share) => interpolateCividis(0.1 + 0.9 * share))
    : scaleSequentialSqrt([0, most], (share) => interpolateBlues(0.08 + 0.92 * share));
  const names = groups.map(text_of_ranks);
  const total = side + kMargin + 8;
  const root = select(svg).attr('viewBox', `0 0 ${total} ${total}`).attr('width', total).attr('height', total)
    .attr('role', 'group').attr('aria-label', 'communication matrix');
  root.selectAll('*').remove();
  root.append('text').attr('class', 'axis-name').attr('x', kMargin + side / 2).attr('y', 12).attr('text-anchor', 'middle').text('to rank');
  root.append('text').attr('class', 'axis-name').attr('transform', `translate(11,${kMargin + side / 2}) rotate(-90)`)
    .attr('text-anchor', 'middle').text('from rank');
  const every = Math.ceil(count / 32);
  const shown = groups.map((_, index) => index).filter((index) => index % every === 0);
  for (const [kind, x, y] of [['to', (index) => kMargin + place(index) + place.bandwidth() / 2, () => kMargin - 6],
    ['from', () => kMargin - 6, (index) => kMargin + place(index) + place.bandwidth() / 2]]) {
    root.selectAll(`text.${kind}`).data(shown).join('text').attr('class', `name ${kind}`).attr('x', x).attr('y', y)
      .attr('text-anchor', kind === 'to' ? 'middle' : 'end').attr('dy', kind === 'to' ? 0 : '0.35em').text((index) => (names[index].length <= kNameMost ? names[index] : `${groups[index][0]}…`));
  }
  const cells = [];
  values.forEach((value, index) => cells.push({ value, index, source: Math.floor(index / count), destination: index % count }));
  const spoken = groups.map((group) => group_name(group, kListNameMost));
  const text_of = ({ index, source, destination }) => `from ${spoken[source]} to ${spoken[destination]}: `
    + `${counted(messages[index], 'message')}, ${bytes_text(bytes[index])}`;
  const cell = root.selectAll('g.cell').data(cells.filter(({ index }) => messages[index] > 0)).join('g').attr('class', 'cell')
    .attr('data-from', ({ source }) => names[source]).attr('data-to', ({ destination }) => names[destination])
    .attr('role', 'button').attr('tabindex', count <= kWritten ? 0 : -1).attr('aria-label', text_of)
    .attr('transform', ({ source, destination }) => `translate(${kMargin + place(destination)},${kMargin + place(source)})`)
    .on('click', (event, { source, destination }) => choose(names[source], names[destination]))
    .on('keydown', (event, { source, destination }) => {
      if (event.key === 'Enter' || event.key === ' ') choose(names[source], names[destination]);
    });
  cell.append('rect').attr('width', place.bandwidth()).attr('height', place.bandwidth()).attr('fill', ({ value }) => colour(value));
  cell.append('title').text(text_of);
  if (count > kWritten) return;
  cell.append('text').attr('x', place.bandwidth() / 2).attr('y', place.bandwidth() / 2).attr('dy', '0.35em').attr('text-anchor', 'middle')
    .attr('fill', ({ value }) => (luminance(colour(value)) > 0.18 ? '#000' : '#fff'))
    .text(({ index }) => (by_bytes ? short_bytes(bytes[index]) : count_text(messages[index])));
}

function largest(matrix, by_bytes, choose) {
  const { groups, messages, bytes } = matrix;
  const values = by_bytes ? bytes : messages;
  const order = [...values.keys()].filter((index) => messages[index] > 0).sort((a, b) => values[b] - values[a]).slice(0, kListed);
  const ends = (index) => [groups[Math.floor(index / groups.length)], groups[index % groups.length]];
  const name = (index) => ends(index).map((group) => group_name(group, kListNameMost));
  return table(['from', 'to', 'messages', 'bytes'], order.map((index) => [
    link_button(name(index)[0], () => choose(...ends(index).map(text_of_ranks))), name(index)[1], count_text(messages[index]), bytes_text(bytes[index])]),
  { numbers: [0, 1, 2, 3], caption: `The pairs with the most ${by_bytes ? 'bytes' : 'messages'}` });
}

/** @param {object} page {trace, store, actions} */
export function matrix_panel({ trace, store, actions }) {
  let by_bytes = false;
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('class', 'matrix');
  const list = h('div', {});
  const choose = (from, to) => actions.filter_by({ from, to });
  const element = h('div', { class: 'matrix-panel' });
  const show = () => {
    const { folding, unfolded, rows } = store.state;
    const members = rows_of(trace.ranks.map(({ rank }) => rank), folding, unfolded, -1).filter(({ heading }) => !heading);
    const matrix = communication_matrix(trace, members.map((row) => row.members), rows);
    draw(svg, matrix, by_bytes, store.state.theme === 'dark', choose);
    list.replaceChildren(largest(matrix, by_bytes, choose));
  };
  const radio = (label, value) => h('label', {}, h('input', { type: 'radio', name: 'matrix-of', checked: value === by_bytes,
    onchange: () => { by_bytes = value; show(); } }), ` ${label}`);
  element.append(h('div', { class: 'buttons only-screen' }, radio('messages', false), radio('bytes', true),
    h('span', { class: 'note' }, 'A click on a cell filters by its pair of ranks.')), h('div', { class: 'columns' }, svg, list));
  return { id: 'matrix', label: 'Matrix', element, show, keys: ['rows', 'theme', 'folding', 'unfolded'] };
}
