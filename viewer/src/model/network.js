// The networks of a simulated run: the loads of their links and ports over time, and the places of their switches in a picture.

export const kLink = 0;
export const kInjection = 1;  // a node's port for sending
export const kEjection = 2;   // a node's port for receiving

/**
 * @param {object} file network.json (docs/trace_format.md), which the command has checked
 * @param {number} first_event_ns the time of the trace's first event, on the file's clock
 * @returns {object} the file; `begin` of the first bucket in the page's times; `buckets`, their number; the indices in `loads` of
 *   each bucket; and `in_use`, the numbers of networks that have channels
 */
export function make_network(file, first_event_ns) {
  const buckets = file.loads.bucket.reduce((most, bucket) => Math.max(most, bucket + 1), 1);
  const of_bucket = Array.from({ length: buckets }, () => []);
  file.loads.bucket.forEach((bucket, index) => of_bucket[bucket].push(index));
  const in_use = file.networks.map((_, number) => number).filter((number) => file.channels.network.includes(number));
  return { ...file, begin: file.begin_ns - first_event_ns, buckets, of_bucket, in_use };
}

/** The bucket at a time of the page: the nearest one for times before and after all. */
export function bucket_at(network, time) {
  return Math.min(network.buckets - 1, Math.max(0, Math.floor((time - network.begin) / network.bucket_ns)));
}

/** The times at which a bucket begins and ends. */
export function span_of_bucket(network, bucket) {
  return [network.begin + bucket * network.bucket_ns, network.begin + (bucket + 1) * network.bucket_ns];
}

/**
 * The loads of all channels.
 * @param {number | null} bucket null: of the whole run
 * @returns {{busy: Float64Array, bytes: Float64Array, blocked: Float64Array}} by channel: the share of the time for which it was busy,
 *   its bytes, and the ns for which messages waited for it
 */
export function loads_in(network, bucket) {
  const { loads, of_bucket, bucket_ns, buckets } = network;
  const count = network.channels.network.length;
  const result = { busy: new Float64Array(count), bytes: new Float64Array(count), blocked: new Float64Array(count) };
  const length = bucket === null ? buckets * bucket_ns : bucket_ns;
  for (const indices of bucket === null ? of_bucket : [of_bucket[bucket]]) {
    for (const index of indices) {
      const channel = loads.channel[index];
      result.busy[channel] += loads.busy_ns[index] / length;
      result.bytes[channel] += loads.bytes[index];
      result.blocked[channel] += loads.blocked_ns[index];
    }
  }
  return result;
}

/** The greatest share of time for which a channel of a network was busy in one of the buckets. */
export function busiest_share(network, number) {
  const { loads, channels, bucket_ns } = network;
  return loads.busy_ns.reduce((most, busy_ns, index) => (channels.network[loads.channel[index]] === number ? Math.max(most, busy_ns / bucket_ns) : most), 0);
}

/** The links, or the ports, of a network that had a load, the busiest first. */
export function busiest(network, number, are_links, { busy, bytes, blocked }, most) {
  const channels = [...busy.keys()].filter((channel) => network.channels.network[channel] === number
    && (network.channels.kind[channel] === kLink) === are_links && (busy[channel] > 0 || bytes[channel] > 0 || blocked[channel] > 0));
  return channels.sort((a, b) => busy[b] - busy[a] || blocked[b] - blocked[a] || a - b).slice(0, most);
}

/** The name of a switch, as `margay machines` has it: "(3,4)" of a mesh, "5" of a hypercube, "1:5" (level and number) of a fat tree. */
export function switch_name({ topology, shape, dimensions, switches }, number) {
  if (topology === 'fat_tree') return `${Math.floor(number / (switches / dimensions))}:${number % (switches / dimensions)}`;
  return shape.length === 0 ? String(number) : `(${coordinates(shape, number).join(',')})`;
}

/** "(3,4) → (4,4)"; of a port "node 7 → (7,0)". */
export function channel_name(network, channel) {
  const { network: of, kind, from, to } = network.channels;
  const net = network.networks[of[channel]];
  const name = (number, is_node) => (is_node ? `node ${number}` : net.topology === 'crossbar' ? 'switch' : `${switch_name(net, number)}`);
  return `${name(from[channel], kind[channel] === kInjection)} → ${name(to[channel], kind[channel] === kEjection)}`;
}

function coordinates(shape, number) {
  return shape.map((extent) => {
    const here = number % extent;
    number = Math.floor(number / extent);
    return here;
  });
}

// The position at which a number occurs in the sequence of Gray codes, in which neighbours differ in one bit.
function gray_position(code) {
  let position = 0;
  for (let rest = code; rest > 0; rest >>= 1) position ^= rest;
  return position;
}

/**
 * Places the switches, and the nodes of a crossbar, in units of a switch's room.
 * @returns {{width: number, height: number, at: (number: number) => [number, number], node_at: null | (node: number) => [number, number]}}
 */
export function place_switches({ topology, shape, dimensions, switches }, nodes) {
  if (topology === 'crossbar') {  // the nodes in a ring around the only switch
    const radius = Math.max(2, nodes / (2 * Math.PI));
    const middle = radius + 0.5;
    const node_at = (node) => {
      const angle = 2 * Math.PI * node / nodes - Math.PI / 2;
      return [middle + radius * Math.cos(angle), middle + radius * Math.sin(angle)];
    };
    return { width: 2 * middle, height: 2 * middle, at: () => [middle, middle], node_at };
  }
  if (topology === 'fat_tree') {  // a layer for each level, the roots on top
    const each = switches / dimensions;
    const gap = Math.max(2, each / 4 / dimensions);
    return { width: each, height: (dimensions - 1) * gap + 1, node_at: null,
      at: (number) => [number % each + 0.5, (dimensions - 1 - Math.floor(number / each)) * gap + 0.5] };
  }
  if (topology === 'hypercube') {  // half of the bits along each axis, so that most links lead to a neighbour or close to it
    const low = Math.ceil(dimensions / 2);
    return { width: 2 ** low, height: 2 ** (dimensions - low), node_at: null,
      at: (number) => [gray_position(number % 2 ** low) + 0.5, gray_position(number >> low) + 0.5] };
  }
  const [columns, lines = 1, ...others] = shape;  // a plane, or the planes of a grid of more dimensions side by side
  const planes = others.reduce((product, extent) => product * extent, 1);
  const in_row = Math.ceil(Math.sqrt(planes * lines / columns));
  const [wide, high] = planes > 1 ? [columns + 1, lines + 1] : [columns, lines];
  return { width: in_row * wide, height: Math.ceil(planes / in_row) * high, node_at: null,
    at: (number) => {
      const plane = Math.floor(number / (columns * lines));
      return [plane % in_row * wide + number % columns + 0.5, Math.floor(plane / in_row) * high + Math.floor(number / columns) % lines + 0.5];
    } };
}
