// The panel of a simulated run's network: its switches and links, with their loads over time.
import { scaleSequentialSqrt } from 'd3-scale';
import { interpolateBlues, interpolateCividis } from 'd3-scale-chromatic';
import { bytes_text, count_text, counted, instant_text, percent_text, time_text } from '../base/format.js';
import { bucket_at, busiest, busiest_share, channel_name, kLink, loads_in, span_of_bucket } from '../model/network.js';
import { text_of_ranks } from '../model/ranks_text.js';
import { h, table } from './dom.js';
import { NetworkPicture } from './network_picture.js';

const kListed = 10;

function topology_text({ name, topology, shape, dimensions, switches }) {
  const size = topology === 'hypercube' ? ` of ${counted(dimensions, 'dimension')}` : topology === 'fat_tree' ? ` of ${counted(dimensions, 'level')}`
    : shape.length > 0 ? ` of ${shape.join(' × ')}` : '';
  return `${name}: ${topology.replace('_', ' ')}${size}, ${counted(switches, 'switch', 'switches')}`;
}

// Sentences about contention in the whole run.
function contention_text(network, number, whole) {
  const { channels } = network;
  const mine = [...channels.network.keys()].filter((channel) => channels.network[channel] === number);
  const used = mine.filter((channel) => channels.messages[channel] > 0);
  const links = used.filter((channel) => channels.kind[channel] === kLink);
  const ports = used.filter((channel) => channels.kind[channel] !== kLink);
  const waited = (some) => some.reduce((sum, channel) => sum + whole.blocked[channel], 0);
  const most = links.reduce((best, channel) => (best < 0 || channels.most_at_once[channel] > channels.most_at_once[best] ? channel : best), -1);
  const of_links = waited(links) === 0 ? 'No message waited for a link that another pair of nodes used: the run is free of contention.'
    : `Messages waited ${time_text(waited(links))} in total for links that other pairs of nodes used; at most ${counted(channels.most_at_once[most], 'pair')} at a time on ${channel_name(network, most)}.`;
  const of_ports = waited(ports) === 0 ? '' : ` At the ports of nodes they waited ${time_text(waited(ports))}.`;
  return `${counted(links.length, 'link')} and ${counted(ports.length, 'port')} carried messages. ${of_links}${of_ports}`;
}

function busiest_table(network, number, are_links, loads, when, choose) {
  const { channels } = network;
  const rows = busiest(network, number, are_links, loads, kListed);
  const what = are_links ? 'links' : 'ports';
  if (rows.length === 0) return h('p', { class: 'note' }, `No message was on the ${what} of the network ${when}.`);
  return table([are_links ? 'link' : 'port', 'busy', 'bytes', 'messages waited', 'messages in the run', 'most pairs at a time'], rows.map((channel) => [
    channel_name(network, channel), percent_text(loads.busy[channel]), bytes_text(loads.bytes[channel]),
    loads.blocked[channel] > 0 ? time_text(loads.blocked[channel]) : '–', count_text(channels.messages[channel]), count_text(channels.most_at_once[channel])]),
  { numbers: [1, 2, 3, 4, 5], caption: `The busiest ${what} ${when}`, onrow: (index) => choose(rows[index]) });
}

/** @param {object} page {trace, store, actions, network_of: () => Promise<object>} */
export function network_panel({ trace, store, actions, network_of }) {
  const ranks_of_node = new Map();
  for (const { rank, node } of trace.ranks) ranks_of_node.set(node, [...(ranks_of_node.get(node) ?? []), rank]);
  const element = h('div', { class: 'network-panel' }, h('p', { role: 'status' }, 'Reading the network …'));
  let shown = null;  // what `build` made of the network
  const build = (network) => {
    let number = network.in_use[0];
    let is_whole = true;
    const colours = (most, dark) => (dark ? scaleSequentialSqrt([0, most], (share) => interpolateCividis(0.1 + 0.9 * share))
      : scaleSequentialSqrt([0, most], (share) => interpolateBlues(0.15 + 0.85 * share)));
    const under = h('p', { class: 'note network-under', role: 'status' });
    const describe = (channel, loads) => `${channel_name(network, channel)}: ${percent_text(loads.busy[channel])} busy, ${bytes_text(loads.bytes[channel])}`
      + `${loads.blocked[channel] > 0 ? `, messages waited ${time_text(loads.blocked[channel])}` : ''}; at most ${counted(network.channels.most_at_once[channel], 'pair')} of nodes at a time`;
    const describe_node = (node) => `node ${node}: ranks ${text_of_ranks(ranks_of_node.get(node) ?? [])}`;
    const picture = new NetworkPicture({ network, describe, describe_node, tell: (text) => { under.textContent = text; } });
    const name = h('p', {});
    const contention = h('p', {});
    const list = h('div', {});
    const legend = h('p', { class: 'note' });
    const when = h('output', { for: 'network-time' });
    const slider = h('input', { type: 'range', id: 'network-time', min: 0, max: network.buckets - 1, step: 1, 'aria-label': 'time',
      oninput: (event) => {
        is_whole = false;
        const [begin, end] = span_of_bucket(network, Number(event.target.value));
        actions.set_time((begin + end) / 2);
        show();
      } });
    const radio = (label, value) => h('label', {}, h('input', { type: 'radio', name: 'network-when', value: value ? 'whole' : 'cursor', checked: value === is_whole,
      onchange: () => { is_whole = value; show(); } }), ` ${label}`);
    const radios = [radio('the whole run', true), radio('at the cursor', false)];
    const select = h('select', { 'aria-label': 'network', onchange: (event) => { number = Number(event.target.value); show(); } },
      network.in_use.map((each) => h('option', { value: each }, network.networks[each].name)));
    const show = () => {
      const bucket = is_whole ? null : bucket_at(network, store.state.time);
      const loads = loads_in(network, bucket);
      const whole = is_whole ? loads : loads_in(network, null);
      const [begin, end] = bucket === null ? [0, trace.duration] : span_of_bucket(network, bucket);
      for (const label of radios) label.firstChild.checked = (label.firstChild.value === 'whole') === is_whole;
      slider.value = bucket_at(network, store.state.time);
      const span = `from ${instant_text(Math.max(0, begin))} to ${instant_text(end)}`;
      slider.setAttribute('aria-valuetext', span);
      when.textContent = span;
      name.textContent = topology_text(network.networks[number]);
      contention.textContent = contention_text(network, number, whole);
      // The scale is the same for all times.
      const most = is_whole ? loads.busy.reduce((a, b) => Math.max(a, b), 0) : busiest_share(network, number);
      legend.textContent = `Darkest and thickest: busy for ${percent_text(most)} of the time. A red mark across a link: messages waited for it, the longer the more. `
        + 'A square is a switch, with the load of its nodes\u2019 ports.';
      picture.draw(number, loads, most, colours(most, store.state.theme === 'dark'));
      list.replaceChildren(...[true, false].map((are_links) => busiest_table(network, number, are_links, loads, is_whole ? 'in the whole run' : span,
        (channel) => picture.mark(channel))));
    };
    element.replaceChildren(h('div', { class: 'buttons only-screen' }, network.in_use.length > 1 ? select : null, ...radios, slider, when), name, contention,
      legend,
      h('div', { class: 'columns' }, h('div', {}, picture.element, under), list));
    return { show };
  };
  const show = () => {
    if (shown) shown.show();
    else {
      network_of().then((network) => {
        if (shown) return;
        if (network.in_use.length === 0) {
          element.replaceChildren(h('p', { class: 'note' }, `All ranks were on one node of ${network.machine}: no network was in use.`));
          shown = { show: () => {} };
          return;
        }
        shown = build(network);
        shown.show();
      }).catch((error) => element.replaceChildren(h('p', { class: 'failure', role: 'alert' }, error.message)));
    }
  };
  return { id: 'network', label: 'Network', element, show, keys: ['time', 'theme'] };
}
