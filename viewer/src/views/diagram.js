// The diagram of a collective call's messages, a tree or a ring: ranks are circles, arrows have the numbers of their rounds.
import { select } from 'd3-selection';
import { bytes_text, counted } from '../base/format.js';
import { collective_pictures, rounds_of } from '../model/collective.js';
import { h, table } from './dom.js';
import { message_name } from './words.js';

const kWidth = 420;
const kRadius = 13;
const kLabelAt = 0.35;  // share of an edge's length, off the middle, so that labels of crossing edges do not overlap
const kDrawnMost = 64;  // ranks that are drawn
const kListed = 60;     // messages

/** "1–3, 7" for [1, 2, 3, 7]. */
export function rounds_text(rounds) {
  const sorted = [...new Set(rounds)].sort((a, b) => a - b);
  const parts = [];
  for (let i = 0; i < sorted.length;) {
    let j = i;
    while (j + 1 < sorted.length && sorted[j + 1] === sorted[j] + 1) j++;
    parts.push(i === j ? `${sorted[i]}` : `${sorted[i]}–${sorted[j]}`);
    i = j + 1;
  }
  return parts.length > 4 ? `${parts.slice(0, 3).join(', ')}, …` : parts.join(', ');
}

// The curve of an edge between two circles; bent, so that both directions are distinct.
function way(from, to) {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(dx, dy) || 1;
  const [ux, uy] = [dx / length, dy / length];
  const bend = Math.min(18, length / 7);
  const middle = { x: (from.x + to.x) / 2 - uy * bend, y: (from.y + to.y) / 2 + ux * bend };
  const start = { x: from.x + ux * kRadius - uy * 3, y: from.y + uy * kRadius + ux * 3 };
  const end = { x: to.x - ux * (kRadius + 5) - uy * 4, y: to.y - uy * (kRadius + 5) + ux * 4 };
  const at = (share) => {
    const [a, b, c] = [(1 - share) ** 2, 2 * share * (1 - share), share ** 2];
    return { x: a * start.x + b * middle.x + c * end.x, y: a * start.y + b * middle.y + c * end.y };
  };
  return { line: `M${start.x},${start.y} Q${middle.x},${middle.y} ${end.x},${end.y}`,
    label: at(kLabelAt) };
}

function draw(picture, choose) {
  const deep = picture.shape === 'tree' ? new Set(picture.nodes.map(({ y }) => y)).size : 4;
  const height = picture.shape === 'tree' ? Math.max(140, 74 * deep) : Math.min(kWidth, 220 + 4 * picture.nodes.length);
  const place = new Map(picture.nodes.map(({ rank, x, y }) => [rank, { x: x * kWidth, y: y * height }]));
  const svg = select(document.createElementNS('http://www.w3.org/2000/svg', 'svg')).attr('viewBox', `0 0 ${kWidth} ${height}`)
    .attr('class', 'diagram').attr('data-shape', picture.shape).attr('role', 'img')
    .attr('aria-label', `${picture.shape} of ${picture.nodes.length} ranks, ${picture.edges.length} arrows`);
  svg.append('defs').append('marker').attr('id', 'head').attr('viewBox', '0 0 8 8').attr('refX', 4).attr('refY', 4)
    .attr('markerWidth', 7).attr('markerHeight', 7).attr('orient', 'auto').append('path').attr('d', 'M0,0 L8,4 L0,8 Z');
  const edges = svg.selectAll('g.edge').data(picture.edges).join('g').attr('class', 'edge')
    .attr('data-rounds', (edge) => edge.rounds.join(' ')).on('click', (event, edge) => choose(edge.rows[0]));
  edges.each(function draw_edge(edge) {
    const { line, label } = way(place.get(edge.from), place.get(edge.to));
    const group = select(this);
    group.append('path').attr('d', line).attr('marker-end', 'url(#head)');
    group.append('text').attr('x', label.x).attr('y', label.y).attr('dy', '0.35em').text(rounds_text(edge.rounds));
    group.append('title').text(`${edge.from} to ${edge.to}: round ${rounds_text(edge.rounds)}`);
  });
  const nodes = svg.selectAll('g.node').data(picture.nodes).join('g').attr('class', 'node')
    .attr('transform', ({ rank }) => `translate(${place.get(rank).x},${place.get(rank).y})`);
  nodes.append('circle').attr('r', kRadius);
  nodes.append('text').attr('dy', '0.35em').text(({ rank }) => rank);
  return svg.node();
}

// A slider that highlights the messages of one round.
function round_slider(drawn, rounds_most) {
  const text = h('output', {}, 'all rounds');
  const show = (round) => {
    text.textContent = round === 0 ? 'all rounds' : `round ${round}`;
    for (const edge of drawn.flatMap((svg) => [...svg.querySelectorAll('.edge')])) {
      const mine = round === 0 || edge.dataset.rounds.split(' ').includes(String(round));
      edge.classList.toggle('dimmed', !mine);
    }
  };
  return h('label', { class: 'only-screen' }, 'Round ', h('input', {
    type: 'range', min: 0, max: rounds_most, value: 0, oninput: (event) => show(Number(event.target.value)) }), ' ', text);
}

const kShapes = { tree: 'A tree', ring: 'A ring', circle: 'Messages between the ranks' };

/**
 * @param {object} page {trace, actions}
 * @param {number} row of collectives  @param {number[]} rows of its call, all ranks  @param {number[]} sent rows of messages
 */
export function collective_diagram({ trace, actions }, row, rows, sent) {
  const { collectives, messages } = trace;
  const ranks = rows.map((each) => collectives.rank[each]);
  if (sent.length === 0) {
    return h('p', { class: 'note', id: 'no-messages' }, rows.length === 1 && trace.ranks.length === 1 ? 'A single rank needs no message.'
      : /shared/.test(trace.text(collectives.algorithm[row])) ? 'Through the node\u2019s memory, no message.'
        : 'The trace has none of its messages.');
  }
  const rounds = rounds_of(trace, sent);
  const pictures = collective_pictures(ranks, sent.map((message) => ({
    from: messages.source[message], to: messages.destination[message], round: rounds.get(message), row: message })), ({ row: message }) => messages.phase[message]);
  const shapes = pictures.length === 1 ? kShapes[pictures[0].shape] : pictures.map(({ shape }) => kShapes[shape]).join(', then ').replace(/, then [AM]/, (text) => text.toLowerCase());
  const parts = [h('p', { class: 'note' }, `${shapes}; the numbers at the arrows are rounds: a message belongs to the round after that of the last message that its sender had received.`)];
  if (pictures[0].nodes.length <= kDrawnMost) {
    const drawn = pictures.map((picture) => draw(picture, (message) => actions.select_message(message, false)));
    parts.push(...drawn);
    const most = pictures.flatMap((picture) => picture.edges.flatMap((edge) => edge.rounds)).reduce((a, b) => Math.max(a, b), 0);
    if (most > 1) parts.push(round_slider(drawn, most));
  } else parts.push(h('p', { class: 'note' }, `${counted(pictures[0].nodes.length, 'rank')}: too many to draw.`));
  const by_time = [...sent].sort((a, b) => messages.first[a] - messages.first[b]);
  parts.push(table(['round', 'message', 'bytes'], by_time.slice(0, kListed).map((message) => [
    String(rounds.get(message)), message_name(trace, message), bytes_text(messages.bytes[message])]), {
    numbers: [0, 2], caption: sent.length > kListed ? `The first ${kListed} of ${sent.length} messages, by time` : 'Its messages, by time',
    onrow: (index) => actions.select_message(by_time[index], false) }));
  return h('div', { class: 'collective' }, parts);
}
