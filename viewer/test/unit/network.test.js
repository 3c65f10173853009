import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bucket_at, busiest, busiest_share, channel_name, loads_in, make_network, place_switches, span_of_bucket, switch_name } from '../../src/model/network.js';

const kMesh = { name: 'net', topology: 'mesh', shape: [3, 2], dimensions: 2, switches: 6, nodes_per_switch: 1 };

// Two links and a port, with loads in buckets 0 and 3.
function network() {
  return make_network({
    machine: 'test', nodes: 6, begin_ns: 5000, bucket_ns: 100, networks: [kMesh, { ...kMesh, name: 'other' }],
    channels: { network: [0, 0, 0], kind: [0, 0, 1], from: [0, 1, 0], to: [1, 4, 0], messages: [2, 1, 1], most_at_once: [2, 1, 1] },
    loads: { channel: [0, 0, 1, 2], bucket: [0, 3, 3, 0], bytes: [10, 20, 30, 40], busy_ns: [50, 100, 25, 80], blocked_ns: [0, 70, 0, 0] },
  }, 5040);
}

test('the loads of a bucket, and of the whole run', () => {
  const loads = loads_in(network(), 3);
  assert.deepEqual([...loads.busy], [1, 0.25, 0]);
  assert.deepEqual([...loads.bytes], [20, 30, 0]);
  assert.deepEqual([...loads.blocked], [70, 0, 0]);
  const whole = loads_in(network(), null);
  assert.deepEqual([...whole.busy], [150 / 400, 25 / 400, 80 / 400]);
  assert.deepEqual([...whole.bytes], [30, 30, 40]);
  assert.deepEqual([...loads_in(network(), 1).busy], [0, 0, 0]);
});

test('buckets begin with the run, which may be before the first event', () => {
  assert.deepEqual(span_of_bucket(network(), 1), [60, 160]);
  assert.deepEqual([-1000, 0, 59, 60, 10000].map((time) => bucket_at(network(), time)), [0, 0, 0, 1, 3]);
});

test('the busiest channels of a network come first', () => {
  assert.deepEqual(busiest(network(), 0, true, loads_in(network(), null), 9), [0, 1]);
  assert.deepEqual(busiest(network(), 0, false, loads_in(network(), null), 9), [2]);
  assert.deepEqual(busiest(network(), 0, true, loads_in(network(), 3), 1), [0]);
  assert.deepEqual(busiest(network(), 1, true, loads_in(network(), null), 9), []);
  assert.equal(busiest_share(network(), 0), 1);
  assert.equal(busiest_share(network(), 1), 0);
  assert.deepEqual(network().in_use, [0]);
});

test('channels are named by their ends', () => {
  assert.deepEqual([0, 1, 2].map((channel) => channel_name(network(), channel)), ['(0,0) → (1,0)', '(1,0) → (1,1)', 'node 0 → (0,0)']);
  assert.equal(switch_name({ topology: 'fat_tree', shape: [], dimensions: 3, switches: 12 }, 6), '1:2');
  assert.equal(switch_name({ topology: 'hypercube', shape: [], dimensions: 3, switches: 8 }, 6), '6');
});

test('every switch has a place of its own, inside of the picture', () => {
  const nets = [kMesh, { topology: 'mesh', shape: [7], switches: 7 }, { topology: 'torus', shape: [3, 4, 2, 2], switches: 48 },
    { topology: 'hypercube', shape: [], dimensions: 5, switches: 32 }, { topology: 'fat_tree', shape: [], dimensions: 3, switches: 12 }];
  for (const net of nets) {
    const place = place_switches(net, 6);
    const places = Array.from({ length: net.switches }, (_, number) => place.at(number));
    assert.equal(new Set(places.map(String)).size, net.switches, net.topology);
    for (const [x, y] of places) assert.ok(x > 0 && x < place.width && y > 0 && y < place.height, `${net.topology}: ${x} ${y}`);
  }
});

test('neighbours of a grid and of a hypercube are adjacent', () => {
  const distance = ([x0, y0], [x1, y1]) => Math.hypot(x1 - x0, y1 - y0);
  const mesh = place_switches(kMesh, 6);
  assert.equal(distance(mesh.at(1), mesh.at(4)), 1);
  const cube = place_switches({ topology: 'hypercube', shape: [], dimensions: 4, switches: 16 }, 16);
  const lengths = [0, 1, 2, 3].flatMap((bit) => Array.from({ length: 16 }, (_, number) => distance(cube.at(number), cube.at(number ^ (1 << bit)))));
  assert.ok(lengths.filter((length) => length === 1).length >= lengths.length / 2);
});

test('the nodes of a crossbar are a ring around the switch', () => {
  const { at, node_at, width } = place_switches({ topology: 'crossbar', shape: [], dimensions: 0, switches: 1 }, 8);
  const [x, y] = at(0);
  const radii = Array.from({ length: 8 }, (_, node) => Math.hypot(node_at(node)[0] - x, node_at(node)[1] - y));
  for (const radius of radii) assert.ok(Math.abs(radius - radii[0]) < 1e-9 && radius < width / 2);
});
