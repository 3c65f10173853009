// The tables of a page and the types of their columns. A column that the page does not have is filled with what stands for "not known".

const kTypes = {
  u8: { array: Uint8Array, missing: 0 },
  u32: { array: Uint32Array, missing: 0 },
  i32: { array: Int32Array, missing: -1 },
  f64: { array: Float64Array, missing: NaN },
};

// Where "not known" is another value than the type's.
const kMissing = {
  'calls.wait': 0, 'messages.bytes': 0, 'messages.sender_waited': 0, 'messages.receiver_waited': 0,
  'messages.portal': 255, 'collectives.bytes': 0,
};

export const kTables = {
  calls: { rank: 'u32', thread: 'u8', name: 'u32', site: 'u32', begin: 'f64', end: 'f64', depth: 'u8', wait: 'f64' },
  waits: { rank: 'u32', thread: 'u8', begin: 'f64', end: 'f64' },
  messages: {
    source: 'u32', destination: 'u32', sequence: 'u32', first: 'f64', last: 'f64', sent: 'f64', arrived: 'f64', posted: 'f64',
    taken: 'f64', received: 'f64', completed: 'f64', held_until: 'f64', probed: 'f64', bytes: 'f64', tag: 'i32', what: 'u32', communicator: 'u32', protocol: 'u32',
    how: 'u32', wire: 'u32', portal: 'u8', portal_name: 'u32', internal: 'u8', walked: 'u32', taker: 'u32', send_call: 'i32',
    receive_call: 'i32', sender_waited: 'f64', receiver_waited: 'f64', collective: 'i32', step: 'u32', phase: 'u8',
  },
  hops: { message: 'i32', source: 'u32', destination: 'u32', kind: 'u32', sent: 'f64', arrived: 'f64' },
  passes: { message: 'i32', time: 'f64', step: 'u32', entry: 'u32', reason: 'u32', link: 'u8' },
  entries: {
    rank: 'u32', portal: 'u8', portal_name: 'u32', name: 'u32', wanted: 'u32', from: 'f64', to: 'f64', since: 'f64', message: 'i32', place: 'f64',
    form: 'u8', heap: 'u32', inactive: 'u8',
  },
  heap: { rank: 'u32', message: 'i32', from: 'f64', to: 'f64', bytes: 'f64', claimed: 'f64', heap: 'u32' },
  heaps: { rank: 'u32', number: 'u32', bytes: 'f64' },
  collectives: {
    rank: 'u32', name: 'u32', communicator: 'u32', number: 'i32', start: 'f64', algorithm: 'u32', bytes: 'f64', begin: 'f64', end: 'f64',
    group: 'i32', call: 'i32', no_part: 'u8',
  },
  locks: { rank: 'u32', window: 'u32', target: 'i32', from: 'f64', to: 'f64' },
  accesses: {
    rank: 'u32', target: 'u32', what: 'u32', way: 'u32', copies: 'u32', window: 'u32', epoch: 'u32', call: 'i32', begin: 'f64', end: 'f64',
    bytes: 'f64', offset: 'f64',
  },
  steps: { rank: 'u32', message: 'i32', time: 'f64', text: 'u32' },
};

/** Bytes of one value of `type`, or undefined when there is no such type. */
export function type_bytes(type) {
  return kTypes[type]?.array.BYTES_PER_ELEMENT;
}

/** `buffer` as values of `type`. Requires: its length is a multiple of `type_bytes`. */
export function typed(type, buffer) {
  return new kTypes[type].array(buffer);
}

/** A column that the page does not have, `rows` long. */
export function missing_column(table, column, rows) {
  const { array, missing } = kTypes[kTables[table][column]];
  const value = kMissing[`${table}.${column}`] ?? missing;
  const values = new array(rows);
  return value === 0 ? values : values.fill(value);
}
