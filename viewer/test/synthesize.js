// Writes a page with a synthetic run, by the same contract as `margay trace view`: ranks that compute, exchange with
// their neighbours and reduce along a tree. Also a command:
//   node test/synthesize.js --messages 100000 --ranks 16 --nodes 2 --seed 1 --output page.html
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { typed, type_bytes } from '../src/data/schema.js';
import { kTables } from '../src/data/tables.js';

const kDataLine = '<!-- margay:data -->\n';
const kRoundsPerCollective = 8;
const kShortLimit = 16384;
const kBlock = 256;

function random_numbers(seed) {  // mulberry32
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let value = state;
    value = Math.imul(value ^ (value >>> 15), value | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return ((value ^ (value >>> 14)) >>> 0) / 4294967296;
  };
}

class Strings {
  list = [''];
  #index = new Map([['', 0]]);
  at(text) {
    let index = this.#index.get(text);
    if (index === undefined) {
      index = this.list.length;
      this.list.push(text);
      this.#index.set(text, index);
    }
    return index;
  }
}

class Run {
  constructor({ messages, ranks, nodes, seed, bucket, start }) {
    this.bucket = bucket;
    this.random = random_numbers(seed);
    this.ranks = ranks;
    this.nodes = nodes;
    this.wanted = messages;
    this.strings = new Strings();
    this.tables = Object.fromEntries(Object.keys(kTables).map((name) => [name, { rows: 0, columns: {} }]));
    for (const [name, columns] of Object.entries(kTables)) for (const column of Object.keys(columns)) this.tables[name].columns[column] = [];
    this.clock = new Float64Array(ranks).fill(start);
    this.sequences = new Map();
    this.groups = 0;
  }

  add(name, values) {
    const table = this.tables[name];
    for (const [column, list] of Object.entries(table.columns)) {
      const value = values[column];
      list.push(value ?? kTables[name][column].missing);
    }
    return table.rows++;
  }

  text(string) {
    return this.strings.at(string);
  }

  node(rank) {
    return Math.floor((rank * this.nodes) / this.ranks);
  }

  run() {
    for (let rank = 0; rank < this.ranks; rank++) this.begin_rank(rank);
    for (let round = 0; this.tables.messages.rows < this.wanted; round++) {
      if (round % kRoundsPerCollective === kRoundsPerCollective - 1) this.reduce();
      else this.exchange(round);
    }
    if (this.bucket) this.scatter_and_ring();
    return this;
  }

  begin_rank(rank) {
    this.clock[rank] += 1000 * this.random();
    for (const name of ['unexpected short', 'unexpected long']) {
      this.add('entries', { rank, portal: 0, portal_name: this.text('receives'), name: this.text(`the entry "${name}"`),
        wanted: this.text(`any message that is ${name.slice(11)}`), from: 0 });
    }
  }

  compute(rank, ns) {
    this.clock[rank] += ns * (0.5 + this.random());
  }

  // Adds a message that is sent at `sent` and whose receive is posted at `posted`, with all rows that refer to it.
  // Returns its row.
  message(source, destination, tag, bytes, sent, posted, more) {
    const pair = source * this.ranks + destination;
    const sequence = (this.sequences.get(pair) ?? 0) + 1;
    this.sequences.set(pair, sequence);
    const same_node = this.node(source) === this.node(destination);
    const arrived = sent + (same_node ? 400 : 9000) * (0.8 + 0.4 * this.random());
    const long = bytes > kShortLimit;
    const unexpected = arrived < posted;
    const copy = bytes / 4;
    const received = Math.max(arrived, posted) + copy + 200 + (long && unexpected ? 1500 : 0);
    const row = this.add('messages', {
      source, destination, sequence, first: sent - 100, last: received + 50, sent, arrived, posted, taken: unexpected ? posted + 60 : NaN,
      received, completed: received + 50, bytes, tag, what: this.text(`${bytes / 8} x MPI_DOUBLE, tag ${tag} from ${source} in MPI_COMM_WORLD`),
      communicator: this.text('MPI_COMM_WORLD'), protocol: this.text(long ? 'long' : 'short'),
      how: this.text(unexpected ? (long ? 'unexpected, pulled' : 'unexpected') : 'expected'), wire: this.text(same_node ? 'shm' : 'tcp'),
      portal: 0, portal_name: this.text('receives'), taker: this.text(unexpected ? `the entry "unexpected ${long ? 'long' : 'short'}"` : 'a posted receive'), walked: unexpected ? (long ? 2 : 1) : 1 + Math.floor(3 * this.random()), ...more,
    });
    this.landing(row, destination, posted, arrived, tag, source, unexpected, long);
    if (long) this.pull(row, source, destination, arrived, posted, received, unexpected);
    return row;
  }

  landing(message, rank, posted, arrived, tag, source, unexpected, long) {
    if (unexpected) {
      this.add('heap', { rank, message, from: arrived, to: posted + 60, bytes: long ? 0 : this.tables.messages.columns.bytes[message] });
      if (long) {
        this.add('passes', { message, time: arrived, step: 1, entry: this.text('the entry "unexpected short"'),
          reason: this.text('no match, it accepts any message that is short'), link: 0 });
      }
    } else {
      this.add('entries', { rank, portal: 0, portal_name: this.text('receives'), name: this.text('a posted receive'),
        wanted: this.text(`tag ${tag} from ${source} in MPI_COMM_WORLD`), from: posted, to: arrived, message });
    }
  }

  pull(message, source, destination, arrived, posted, received, unexpected) {
    const hop = (from, to, kind, sent) => this.add('hops', { message, source: from, destination: to, kind: this.text(kind), sent, arrived: sent + 300 });
    hop(destination, source, 'acknowledgment', arrived + 80);
    if (!unexpected) return;
    hop(destination, source, 'get', posted + 100);
    hop(source, destination, 'reply', Math.min(received - 400, posted + 500));
  }

  call(rank, name, site, begin, end, wait, depth = 0) {
    if (wait > 0) this.add('waits', { rank, begin: end - wait - 50, end: end - 50 });
    return this.add('calls', { rank, name: this.text(name), site: this.text(site), begin, end, depth, wait: Math.max(0, wait) });
  }

  // Each rank sends to the right and receives from the left.
  exchange(round) {
    const { ranks, clock } = this;
    const bytes = 8 * Math.floor(2 ** (14 * this.random()));
    for (let rank = 0; rank < ranks; rank++) this.compute(rank, 4000 + 20000 * (rank === round % ranks ? 1 : 0));
    const sends = Array.from(clock, (begin, rank) => this.call(rank, 'MPI_Send', 'heat.c:41', begin, begin + 700, 0));
    const sent = Array.from(clock, (begin) => begin + 300);
    for (let rank = 0; rank < ranks; rank++) clock[rank] += 700 + 2000 * this.random();
    const begins = Float64Array.from(clock);
    for (let rank = 0; rank < ranks; rank++) {
      const source = (rank + ranks - 1) % ranks;
      const posted = begins[rank] + 100;
      const row = this.message(source, rank, round % 10, bytes, sent[source], posted, { send_call: sends[source] });
      const columns = this.tables.messages.columns;
      const end = columns.received[row] + 100;
      const wait = Math.max(0, columns.received[row] - posted);
      columns.receive_call[row] = this.call(rank, 'MPI_Recv', 'heat.c:44', begins[rank], end, wait);
      columns.receiver_waited[row] = Math.max(0, sent[source] - posted);
      columns.sender_waited[row] = bytes > kShortLimit ? Math.max(0, posted - columns.arrived[row]) : 0;
      clock[rank] = end;
    }
  }

  // Along a binomial tree to rank 0 and back.
  reduce() {
    const { ranks, clock } = this;
    const group = this.groups++;
    for (let rank = 0; rank < ranks; rank++) this.compute(rank, 3000);
    const begin = Float64Array.from(clock);
    const ready = begin.map((time) => time + 200);
    const rows = Array.from(begin, (time, rank) => this.add('collectives', { rank, name: this.text('MPI_Allreduce'), communicator: this.text('MPI_COMM_WORLD'),
      number: group + 1, algorithm: this.text('tree'), bytes: 8, begin: time, end: time, group }));
    const steps = new Uint32Array(ranks);
    const send = (source, destination) => {
      const row = this.message(source, destination, -1, 8, ready[source], begin[destination] + 100,
        { collective: rows[source], step: ++steps[source] });
      ready[source] += 200;
      ready[destination] = Math.max(ready[destination], this.tables.messages.columns.received[row] + 100);
    };
    let top = 1;
    while (top < ranks) top *= 2;
    for (let bit = 1; bit < top; bit *= 2) for (let rank = 0; rank + bit < ranks; rank += 2 * bit) send(rank + bit, rank);
    for (let bit = top / 2; bit >= 1; bit /= 2) for (let rank = 0; rank + bit < ranks; rank += 2 * bit) send(rank, rank + bit);
    for (let rank = 0; rank < ranks; rank++) {
      clock[rank] = ready[rank] + 200;
      this.call(rank, 'MPI_Allreduce', 'heat.c:52', begin[rank], clock[rank], ready[rank] - begin[rank] - 100);
      this.tables.collectives.columns.end[rows[rank]] = clock[rank];
    }
  }

  // A broadcast by bucket from rank 2: it scatters slices, which then go round.
  scatter_and_ring() {
    const { ranks } = this;
    const [root, kSlice] = [2, 30000];
    const begin = Math.max(...this.clock);
    const group = this.groups++;
    const rows = Array.from(this.clock, (_, rank) => this.add('collectives', { rank, name: this.text('MPI_Bcast'), communicator: this.text('MPI_COMM_WORLD'),
      number: group + 1, algorithm: this.text('bucket'), bytes: ranks * kSlice, begin, end: begin + 1e6, group }));
    for (let rank = 0; rank < ranks; rank++) {
      if (rank !== root) this.message(root, rank, -1, kSlice, begin + 100 * rank, begin, { collective: rows[root], step: rank + 1, phase: 0 });
    }
    for (let step = 1; step < ranks; step++) {
      for (let rank = 0; rank < ranks; rank++) {
        if ((rank + 1) % ranks === root) continue;  // it has all data
        const sent = begin + 50000 * step + rank;
        this.message(rank, (rank + 1) % ranks, -1, kSlice, sent, sent - 10, { collective: rows[rank], step: ranks + step, phase: 1 });
      }
    }
    this.clock.fill(begin + 1e6);
  }

  /** Sorts messages by their first event, as the contract requires, and updates the rows that refer to them. */
  sort_messages() {
    const { columns, rows } = this.tables.messages;
    const order = Int32Array.from({ length: rows }, (_, row) => row).sort((a, b) => columns.first[a] - columns.first[b]);
    const place = new Int32Array(rows);
    order.forEach((row, index) => { place[row] = index; });
    for (const [name, list] of Object.entries(columns)) columns[name] = Array.from(order, (row) => list[row]);
    for (const name of ['hops', 'passes', 'entries', 'heap']) {
      const list = this.tables[name].columns.message;
      for (let row = 0; row < list.length; row++) if (list[row] >= 0) list[row] = place[list[row]];
    }
  }

  story(row) {
    const { columns } = this.tables.messages;
    const line = (column, rank, words) => `${((columns[column][row] - columns.first[row]) / 1000).toFixed(3).padStart(16)}  rank ${String(rank).padEnd(4)} the message    ${words}\n`;
    const [source, destination] = [columns.source[row], columns.destination[row]];
    const what = this.strings.list[columns.what[row]];
    const protocol = this.strings.list[columns.protocol[row]];
    const unexpected = this.strings.list[columns.how[row]].startsWith('unexpected');
    return `${source}>${destination} #${columns.sequence[row]}: ${what}
${line('first', source, `sends ${what} to rank ${destination}`)}${line('sent', source, `puts its header on ${this.strings.list[columns.wire[row]]}`)
}${line('arrived', destination, 'its header arrives')}${unexpected ? line('arrived', destination, `is taken by the entry "unexpected ${protocol}"; header and body are kept`) : ''
}${line('received', destination, `the message is in the receive's memory, ${columns.bytes[row]} bytes`)}- From the send to the receive's memory it took ${Math.round(columns.received[row] - columns.sent[row])} ns.
`;
  }
}

const kValue = /(^ +(?=\d))?(0x[0-9a-f]+|\d+)/g;

/** Stories in the format of a block (command/trace/page/story_block.hpp). */
export function story_block(stories) {
  const forms = new Map();  // by text: {number, columns}
  const shapes = new Map();
  const number_of = (map, text, make = () => ({})) => {
    if (!map.has(text)) map.set(text, { number: map.size, ...make() });
    return map.get(text);
  };
  const numbers = stories.map((story) => number_of(shapes, story.split('\n').map((line) => {
    const values = [];
    const form = number_of(forms, line.replace(kValue, (found, blanks, value) => {
      values.push(value);
      return blanks === undefined ? '\x01' : found.length === 12 ? '\x02' : `${blanks}\x01`;
    }), () => ({ columns: values.map(() => []) }));
    values.forEach((value, place) => form.columns[place].push(value));
    return form.number;
  }).join(' ')).number);
  const columns = [...forms.values()].flatMap((form) => form.columns.map((values) => (new Set(values).size === 1 ? values[0] : values.join(' '))));
  return [[...forms.keys()].join('\n'), [...shapes.keys()].join('\n'), numbers.join(' '), columns.join('\n')].join('\x1e');
}

/**
* A synthetic run of at least `messages` messages, which begins `start` ns after the first event; `accesses`: one-sided accesses, {rank, target, what, way, ...}, with texts as strings;
 * `rows`: more rows of any table, {entries: [...]}, in the same form; `network`: the file of a simulated run's network.
 * @returns {{head: object, blobs: Buffer[]}} according to the contract of the page's data
 */
export function synthesize({ messages = 1000, ranks = 4, nodes = 2, seed = 1, notes = [], strings_in_blob = false, bucket = false, accesses = [], rows = {}, network = null, start = 0 } = {}) {
  const run = new Run({ messages, ranks, nodes, seed, bucket, start }).run();
  const numbered = (value) => (typeof value === 'string' ? run.strings.at(value) : value);
  for (const [table, list] of Object.entries({ accesses, ...rows })) {
    for (const row of list) run.add(table, Object.fromEntries(Object.entries(row).map(([name, value]) => [name, numbered(value)])));
  }
  run.sort_messages();
  const blobs = [];
  const blob = (bytes) => blobs.push(gzipSync(bytes, { level: 1 })) - 1;
  const tables = {};
  for (const [name, { rows, columns }] of Object.entries(run.tables)) {
    tables[name] = { rows, columns: {} };
    for (const [column, { type }] of Object.entries(kTables[name])) {
      const values = typed(type, new ArrayBuffer(rows * type_bytes(type)));
      values.set(columns[column]);
      tables[name].columns[column] = { type, blob: blob(new Uint8Array(values.buffer)) };
    }
  }
  const stories = [];
  for (let begin = 0; begin < tables.messages.rows; begin += kBlock) {
    const count = Math.min(kBlock, tables.messages.rows - begin);
    stories.push(blob(Buffer.from(story_block(Array.from({ length: count }, (_, index) => run.story(begin + index))))));
  }
  const head = {
    format: 2, title: 'traces/invented', started: '2026-11-25 13:00:00 UTC', duration_ns: Math.max(...run.clock), notes,
    ranks: Array.from({ length: ranks }, (_, rank) => ({ rank, size: ranks, node: run.node(rank), process: 100 + rank, events: 100, lost: 0,
      left_out: 0, closed: true, threads: 1, last: run.clock[rank], heap: 65536 })),
    tables, stories: { block: kBlock, blobs: stories },
  };
  if (strings_in_blob) head.strings_blob = blob(Buffer.from(JSON.stringify(run.strings.list)));
  else head.strings = run.strings.list;
  if (network) head.network = { blob: blob(Buffer.from(JSON.stringify(network))), first_event_ns: 1e9 };
  return { head, blobs };
}

/** Puts the data into the built page, as the command does. */
export function write_page(path, { head, blobs }, frame = join(dirname(fileURLToPath(import.meta.url)), '..', 'dist', 'viewer.html')) {
  const [before, after] = readFileSync(frame, 'utf8').split(kDataLine);
  const file = openSync(path, 'w');
  writeSync(file, `${before}<script type="application/json" id="margay-head">${JSON.stringify(head).replaceAll('<', '\\u003c')}</script>\n`);
  blobs.forEach((bytes, number) => writeSync(file, `<script type="text/plain" id="margay-blob-${number}">${bytes.toString('base64')}</script>\n`));
  writeSync(file, after);
  closeSync(file);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const option = (name, usual) => {
    const at = process.argv.indexOf(`--${name}`);
    return at < 0 ? usual : process.argv[at + 1];
  };
  const number = (name, usual) => Number(option(name, usual));
  const output = option('output', 'page.html');
  const data = synthesize({ messages: number('messages', 1000), ranks: number('ranks', 4), nodes: number('nodes', 2), seed: number('seed', 1) });
  write_page(output, data);
  console.log(`${output}: ${data.head.tables.messages.rows} messages`);
}
