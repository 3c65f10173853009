import assert from 'node:assert/strict';
import { test } from 'node:test';
import { first_above, first_at_least, gallop } from '../../src/base/bisect.js';
import { bytes_text, count_text, instant_text, time_text } from '../../src/base/format.js';
import { create_store } from '../../src/base/store.js';
import { category_of, kCategories } from '../../src/model/categories.js';
import { next_time, times_of_rank } from '../../src/model/events.js';
import { filter_errors, filtered_rows, kNoFilter, values_of } from '../../src/model/filter.js';
import { by_powers_of_two, by_times } from '../../src/model/histogram.js';
import { collective_name } from '../../src/model/collective.js';
import { heap_at, heaps_of, held_at, is_claimed, kForm, next_arrival, next_message, passes_of, standing_entries, wanted_text } from '../../src/model/instant.js';
import { by_cost, by_site, not_known } from '../../src/model/late.js';
import { communication_matrix } from '../../src/model/matrix.js';
import { ranks_of_text, text_of_ranks } from '../../src/model/ranks_text.js';
import { all_rows, trace_of } from './trace_of.js';

test('searches find positions in sorted arrays', () => {
  const sorted = [1, 3, 3, 5];
  assert.deepEqual([0, 1, 2, 3, 5, 6].map((value) => first_at_least(sorted, value)), [0, 0, 1, 1, 3, 4]);
  assert.deepEqual([0, 1, 2, 3, 5, 6].map((value) => first_above(sorted, value)), [0, 1, 1, 3, 4, 4]);
  const many = Float64Array.from({ length: 1000 }, (_, index) => index * 2);
  for (const value of [-1, 0, 1, 777, 1998, 5000]) {
    for (const low of [0, 3, 400, 999]) assert.equal(gallop(many, value, low), Math.max(low, first_at_least(many, value)));
  }
});

test('numbers are formatted as texts', () => {
  assert.deepEqual([0, 999, 1000, 4780000, 2e9, -1500, NaN].map(time_text), ['0 ns', '999 ns', '1.00 us', '4.78 ms', '2.00 s', '-1.50 us', '–']);
  assert.deepEqual([4950283, 7606983274, 52808, 0, NaN].map(instant_text), ['4.950283 ms', '7.606983274 s', '52.808 us', '0.000 us', '–']);
  assert.deepEqual([1, 800000, 10239, 1 << 20].map(bytes_text), ['1 byte', '781 KiB', '10239 bytes', '1.0 MiB']);
  assert.equal(count_text(1234567), '1\u202f234\u202f567');
});

test('the store notifies listeners of each change once', () => {
  const store = create_store({ a: 1, b: 2 });
  const heard = [];
  store.on(['a', 'b'], () => heard.push('both'));
  store.on(['b'], () => heard.push('b'));
  store.set({ a: 5 });
  store.set({ a: 5, b: 2 });
  store.set({ a: 6, b: 3 });
  assert.deepEqual(heard, ['both', 'both', 'b']);
});

test('sets of ranks are parsed and formatted', () => {
  assert.equal(ranks_of_text('  '), null);
  assert.deepEqual([...ranks_of_text('0-2, 7')], [0, 1, 2, 7]);
  for (const wrong of ['a', '3-1', '1,,2', '-4', '0-99999999']) assert.equal(ranks_of_text(wrong), undefined, wrong);
  assert.equal(text_of_ranks([7, 0, 1, 2, 5]), '0-2,5,7');
});

test('a call has a category', () => {
  const sort = (name) => kCategories[category_of(name)].id;
  assert.deepEqual(['MPI_Send', 'MPI_Irsend', 'MPI_Sendrecv', 'MPI_Start', 'PMPI_Recv', 'MPI_Imrecv', 'MPI_Waitall', 'MPI_Improbe', 'MPI_Ibcast',
    'MPI_Reduce_local', 'MPI_Put', 'MPI_Get', 'MPI_Get_count', 'MPI_Win_fence', 'MPI_Comm_dup'].map(sort),
  ['send', 'send', 'send', 'send', 'receive', 'receive', 'complete', 'complete', 'collective', 'other', 'window', 'window', 'other', 'window', 'other']);
});

const some = () => trace_of({
  calls: [{ rank: 0, name: 'MPI_Send', site: 'heat.c:41' }, { rank: 1, name: 'MPI_Recv', site: 'heat.c:44' }],
  messages: [
    { source: 0, destination: 1, bytes: 8, tag: 7, communicator: 'MPI_COMM_WORLD', protocol: 'short', how: 'expected', wire: 'shm', send_call: 0, receive_call: 1, receiver_waited: 5 },
    { source: 1, destination: 0, bytes: 70400, sequence: 5, tag: 8, communicator: 'halo', protocol: 'long', how: 'unexpected', wire: 'tcp', what: '9 x MPI_INT', receiver_waited: 50, walked: 3 },
    { source: 2, destination: 1, bytes: 0, sequence: 3, tag: -1, communicator: 'halo', protocol: 'short', how: 'expected', wire: 'shm', internal: 1 },
    { source: 2, destination: 2, bytes: 64, tag: 7, communicator: 'halo', protocol: 'short', how: 'dropped', wire: 'self', send_call: 0, sender_waited: 9 }],
});

test('each field of the filter works, and several together', () => {
  const trace = some();
  const rows = (filter) => [...filtered_rows(trace, { ...kNoFilter, ...filter })];
  assert.deepEqual(rows({}), [0, 1, 3]);
  assert.deepEqual(rows({ internal: true }), [0, 1, 2, 3]);
  assert.deepEqual(rows({ ranks: '0' }), [0, 1]);
  assert.deepEqual(rows({ from: '1-2' }), [1, 3]);
  assert.deepEqual(rows({ to: '1', internal: true }), [0, 2]);
  assert.deepEqual(rows({ tag: '7' }), [0, 3]);
  assert.deepEqual(rows({ communicator: 'halo' }), [1, 3]);
  assert.deepEqual(rows({ protocol: 'long' }), [1]);
  assert.deepEqual(rows({ how: 'dropped' }), [3]);
  assert.deepEqual(rows({ wire: 'shm' }), [0]);
  assert.deepEqual(rows({ bytes: '64' }), [1, 3]);
  assert.deepEqual(rows({ bytes: '1k' }), [1]);
  assert.deepEqual(rows({ bytes: bytes_text(70400) }), [1], 'what is listed as 69 KiB is at least that');
  assert.deepEqual([rows({ bytes: '70k' }), rows({ bytes: '70401' }), rows({ bytes: '70400 bytes' })], [[], [], [1]]);
  assert.deepEqual(rows({ text: '0>1' }), [0]);

  assert.deepEqual(rows({ text: '1 > 0 #5' }), [1]);
  assert.deepEqual(rows({ text: '1>0 #4' }), []);
  assert.deepEqual([rows({ text: '2>1 #3' }), rows({ text: '2>1' }), rows({ text: '2>1', internal: true })], [[2], [], [2]], 'a name finds what is hidden');
  assert.deepEqual([rows({ text: '1:0:5' }), rows({ text: '1:0:4' })], [[1], []], 'as the commands write it');
  assert.deepEqual(rows({ text: 'Rank 2' }), [3]);
  assert.deepEqual(rows({ text: 'mpi_int' }), [1]);
  assert.deepEqual(rows({ text: 'MPI_SEND' }), [0, 3]);
  assert.deepEqual(rows({ text: 'heat.c:44' }), [0]);
  assert.deepEqual(rows({ text: 'mpi_send', communicator: 'halo' }), [3]);
  assert.deepEqual(rows({ text: 'nothing like this' }), []);
});

test('an invalid field counts as empty and has an error message', () => {
  const trace = some();
  const filter = { ...kNoFilter, ranks: 'x', tag: 'seven', bytes: 'much' };
  assert.deepEqual(Object.keys(filter_errors(filter)), ['ranks', 'tag', 'bytes']);
  assert.equal(filtered_rows(trace, filter).length, 3);
  assert.deepEqual(filter_errors(kNoFilter), {});
});

test('the filter lists the values to choose from', () => {
  assert.deepEqual(values_of(some(), 'wire'), ['self', 'shm', 'tcp']);
});

test('the communication matrix counts messages and bytes of the rows that pass', () => {
  const trace = some();
  const matrix = communication_matrix(trace, [[0], [1], [2]], filtered_rows(trace, kNoFilter));
  assert.deepEqual([...matrix.messages], [0, 1, 0, 1, 0, 0, 0, 0, 1]);
  assert.deepEqual([...matrix.bytes], [0, 8, 0, 70400, 0, 0, 0, 0, 64]);
});

test('with many ranks a cell of the matrix represents several', () => {
  const trace = trace_of({ messages: [{ source: 0, destination: 199, bytes: 5 }, { source: 1, destination: 198, bytes: 6 }] });
  const matrix = communication_matrix(trace, Array.from({ length: 200 }, (_, rank) => [rank]), all_rows(trace));
  assert.equal(matrix.groups.length, 50);
  assert.equal(matrix.bytes[49], 11);
});

test('histograms count values between bounds', () => {
  assert.deepEqual(by_powers_of_two([0, 1, 2, 3, 4, 7, NaN]),
    [{ from: 0, to: 1, count: 1 }, { from: 1, to: 2, count: 1 }, { from: 2, to: 4, count: 2 }, { from: 4, to: 8, count: 2 }]);
  assert.deepEqual(by_times([0, NaN, 5, 9, 10, 1000]).filter(({ count }) => count > 0),
    [{ from: 5, to: 10, count: 2 }, { from: 10, to: 20, count: 1 }, { from: 1000, to: 2000, count: 1 }]);
  assert.deepEqual(by_times([]), []);
  assert.deepEqual(by_powers_of_two([]), []);
});

test('late senders are listed by cost and by call site', () => {
  const trace = some();
  const { rows, total } = by_cost(trace, all_rows(trace), 'receiver_waited');
  assert.deepEqual([[...rows], total], [[1, 0], 55]);
  assert.deepEqual(by_site(trace, rows, 'receiver_waited'), [
    { site: 'call not known', cost: 50, messages: 1, worst: 1 }, { site: 'MPI_Send (heat.c:41)', cost: 5, messages: 1, worst: 0 }]);
  assert.deepEqual([...by_cost(trace, all_rows(trace), 'sender_waited').rows], [3]);
});

const portals = () => trace_of({
  messages: [{ source: 1, destination: 0, arrived: 50, bytes: 100 }, { source: 1, destination: 0, arrived: 80, bytes: 28, how: 'unexpected' },
    { source: 1, destination: 2, arrived: 60 }],
  entries: [
    { rank: 0, portal: 0, portal_name: 'receives', name: 'the entry "unexpected short"', from: 0 },
    { rank: 0, portal: 0, portal_name: 'receives', name: 'a posted receive', wanted: 'tag 2', from: 30, to: 90 },
    { rank: 0, portal: 0, portal_name: 'receives', name: 'a posted receive', wanted: 'tag 1', from: 20, to: 50, message: 0 },
    { rank: 2, portal: 0, portal_name: 'receives', name: 'a posted receive', from: 0 },
    { rank: 0, portal: 2, portal_name: 'bodies to be pulled', name: 'a send', from: 70, to: 75 }],
  heap: [{ rank: 0, message: 1, from: 80, to: 120 }, { rank: 0, message: 0, from: 100 }],
  passes: [{ message: 1, step: 2, time: 80, entry: 'b', reason: 'tag 3 differs' }, { message: 1, step: 1, time: 80, entry: 'a' }, { message: 0, step: 1, entry: 'c' }],
});

test('the entries at a time are in the order of the list, the catch-alls last', () => {
  const trace = portals();
  const at = (time) => standing_entries(trace, 0, time).map(({ portal, entries }) => [portal, entries]);
  assert.deepEqual(at(10), [[0, [0]], [2, []]]);
  assert.deepEqual(at(40), [[0, [2, 1, 0]], [2, []]]);
  assert.deepEqual(at(50), [[0, [2, 1, 0]], [2, []]], 'the message that comes at 50 finds its receive');
  assert.deepEqual(at(51), [[0, [1, 0]], [2, []]]);
  assert.deepEqual(at(72), [[0, [1, 0]], [2, [4]]]);
  assert.deepEqual(standing_entries(trace, 5, 10), []);
});

test('the heap at a time has its messages and their bytes', () => {
  const trace = portals();
  assert.deepEqual([80, 81, 110, 120, 121].map((time) => heap_at(trace, 0, time)), [{ rows: [], bytes: 0 }, { rows: [0], bytes: 28 },
    { rows: [0, 1], bytes: 128 }, { rows: [0, 1], bytes: 128 }, { rows: [1], bytes: 100 }]);
});

test('the next message is found, with the entries passed over', () => {
  const trace = portals();
  const all = new Uint8Array(3).fill(1);
  assert.deepEqual([0, 50, 51, 81].map((time) => next_message(trace, all, 0, time)), [0, 0, 1, -1]);
  assert.equal(next_message(trace, Uint8Array.of(0, 1, 1), 0, 0), 1, 'a message that the filter hides is not the next');
  assert.deepEqual(passes_of(trace, 1), [1, 0]);
});

test('the arrow keys step through the times of a rank\u2019s events', () => {
  const times = times_of_rank(portals(), 0);
  assert.deepEqual([...times], [0, 20, 30, 50, 70, 75, 80, 90, 100, 120]);
  assert.deepEqual([[60, 1], [70, 1], [70, -1], [0, -1], [120, 1]].map(([time, step]) => next_time(times, time, step)), [70, 75, 50, 0, 120]);
});

test('entries are ordered by their places if these are known, with the catch-alls at the end', () => {
  const trace = trace_of({ entries: [{ rank: 0, portal: 0, name: 'the entry "unexpected short"', from: 0, place: 2e15, wanted: 'any message that is short' }, { rank: 0, portal: 0, name: 'a', from: 10, place: 9 },
    { rank: 0, portal: 0, name: 'b', from: 20 }, { rank: 0, portal: 0, name: 'c', from: 30, place: 4, wanted: 'tag 4' }] });
  assert.deepEqual(standing_entries(trace, 0, 50)[0].entries, [3, 2, 1, 0]);
  assert.deepEqual([0, 1, 3].map((row) => wanted_text(trace, row)), ['what no posted receive takes', '', 'tag 4']);
});

test('a portal without a match list has a descriptor, while it has no entry', () => {
  const trace = trace_of({ messages: [{ source: 1, destination: 0 }, { source: 1, destination: 2 }],
    passes: [{ message: 0, time: 40, entry: 'the descriptor of portal 4 (cage)', reason: 'too small' }],
    entries: [{ rank: 0, portal: 4, portal_name: 'portal 4 (cage)', name: 'the entry "asleep"', from: 60, to: 70 }] });
  const at = (rank, time) => standing_entries(trace, rank, time).map(({ portal, descriptor, entries }) => [portal, descriptor, entries.length]);
  assert.deepEqual([10, 50, 65, 80].map((time) => at(0, time)), [[[4, true, 0]], [[4, true, 0]], [[4, false, 1]], [[4, false, 0]]]);
  assert.deepEqual(at(2, 10), []);
});

test('a message taken by a matched probe is still in the heap, for its receive only', () => {
  const trace = trace_of({ heap: [{ rank: 0, from: 10, to: 50, bytes: 8, claimed: 30 }, { rank: 0, from: 10, to: 50, bytes: 8 }] });
  assert.deepEqual([30, 31, 50].map((time) => heap_at(trace, 0, time).rows.map((row) => is_claimed(trace, row, time))), [[false, false], [true, false], [true, false]]);
});

test('the waits of ranks with several threads are not attributed', () => {
  const ranks = [0, 1, 2].map((rank) => ({ rank, threads: rank === 1 ? 2 : 1 }));
  assert.equal(not_known(trace_of({}, { ranks })), 'Not known for ranks 1: several threads call MPI.');
  assert.equal(not_known(trace_of({}, { ranks: [ranks[0]] })), '');
});

test('the heap keeps no bytes of a message with only its header there', () => {
  const trace = trace_of({ messages: [{ bytes: 40000 }, { bytes: 28 }, { bytes: 5 }],
    heap: [{ rank: 0, message: 0, from: 1, bytes: 0 }, { rank: 0, message: 1, from: 2, bytes: 28 }, { rank: 0, message: 2, from: 3 }] });
  assert.deepEqual(heap_at(trace, 0, 10), { rows: [0, 1, 2], bytes: 33 });
});

test('an agreement among some members of a communicator has no number', () => {
  const trace = trace_of({ collectives: [{ name: 'MPI_Comm_create_group: the agreement with tag 7', number: -1, communicator: '2 ranks of MPI_COMM_WORLD' }] });
  assert.equal(collective_name(trace, 0), 'MPI_Comm_create_group: the agreement with tag 7 on 2 ranks of MPI_COMM_WORLD');
});

test('a persistent collective call is named with its start', () => {
  const trace = trace_of({ collectives: [{ name: 'persistent bcast', number: 3, start: 2049, communicator: 'half' }, { name: 'MPI_Bcast', number: 4 }] });
  assert.deepEqual([0, 1].map((row) => collective_name(trace, row)), ['persistent bcast number 3, start 2049 on half', 'MPI_Bcast number 4']);
});

test('a message held on its wire is not in the heap yet', () => {
  const trace = trace_of({ messages: [{ destination: 0, arrived: 10, held_until: 30 }, { destination: 0, arrived: 5, held_until: Infinity },
    { destination: 0, arrived: 10 }, { destination: 1, arrived: 1, held_until: 99 }], heap: [{ rank: 0, message: 0, from: 30, bytes: 8 }] });
  assert.deepEqual([9, 20, 31].map((time) => held_at(trace, 0, time)), [[1], [1, 0], [1]]);
  assert.deepEqual([20, 31].map((time) => heap_at(trace, 0, time).rows), [[], [0]]);
});

test('the next arrival may also be a reply, an acknowledgment or a get', () => {
  const trace = trace_of({ messages: [{ source: 0, destination: 1, arrived: 10 }, { source: 1, destination: 0, arrived: 40 }],
    hops: [{ message: 0, source: 1, destination: 0, kind: 'get', arrived: 20 }, { message: 0, source: 0, destination: 1, kind: 'reply', arrived: 30 }] });
  const all = Uint8Array.from([1, 1]);
  assert.deepEqual([10, 11, 31].map((time) => next_arrival(trace, all, 1, time)), [{ message: 0, hop: -1, arrived: 10 }, { message: 0, hop: 1, arrived: 30 }, null]);
  assert.deepEqual([0, 21].map((time) => next_arrival(trace, all, 0, time)?.arrived), [20, 40]);
  assert.equal(next_arrival(trace, Uint8Array.from([0, 1]), 1, 11), null);  // its message does not pass the filter
});

test('a program\u2019s list has its order, with adopted entries separate, MPI\u2019s names allowed, and a recorded descriptor', () => {
  const { chained, adopted, portal } = kForm;
  const entry = (form, name, from, more = {}) => ({ rank: 0, portal: 4, form, name, from, since: from, ...more });
  const trace = trace_of({ entries: [entry(chained, 'the entry "unexpected short"', 10, { place: 2, wanted: 'bits 0x1' }), entry(chained, 'a', 30, { place: 1 }),
    entry(adopted, 'spare', 10, { to: 50 }), entry(chained, 'b', 30, { place: 3, to: 40 }), entry(chained, 'b', 40, { place: 4, since: 30, inactive: 1 }),
    { rank: 0, portal: 5, form: portal, from: 20, to: 60 }] });
  const at = (time) => standing_entries(trace, 0, time).map(({ entries, adopted: others, descriptor }) => [entries, others, descriptor]);
  assert.deepEqual(at(9), [[[], [], false], [[], [], false]]);
  assert.deepEqual(at(20), [[[0], [2], false], [[], [], true]]);
  assert.deepEqual(at(40), [[[1, 0, 4], [2], false], [[], [], true]]);
  assert.deepEqual(at(60), [[[1, 0, 4], [], false], [[], [], false]]);
  assert.equal(wanted_text(trace, 0), 'bits 0x1');
});

test('a program\u2019s heaps have their messages and the entries that fill them', () => {
  const trace = trace_of({ entries: [{ rank: 0, portal: 4, form: kForm.chained, name: 'overflow', heap: 2 }, { rank: 0, portal: 4, form: kForm.adopted, name: 'late', heap: 2 }],
    heaps: [{ rank: 0, number: 1, bytes: 64 }, { rank: 0, number: 2, bytes: 128 }, { rank: 1, number: 1, bytes: 32 }],
    heap: [{ rank: 0, heap: 2, from: 10, to: 50, bytes: 8 }, { rank: 0, heap: 1, from: 10, bytes: 4 }] }, { ranks: [{ rank: 0, heap: 0 }, { rank: 1, heap: 0 }] });
  assert.deepEqual(heaps_of(trace, 0), [{ number: 1, bytes: 64, entries: [] }, { number: 2, bytes: 128, entries: ['overflow', 'late'] }]);
  assert.deepEqual([1, 2].map((number) => heap_at(trace, 0, 20, number)), [{ rows: [1], bytes: 4 }, { rows: [0], bytes: 8 }]);
  assert.deepEqual(heaps_of(trace_of({}, { ranks: [{ rank: 3, heap: 65536 }] }), 3), [{ number: 0, bytes: 65536, entries: [] }]);
});
