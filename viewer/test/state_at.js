// A command that prints, as JSON, the state of a rank's portal and heap on a page at each arrival of a mark, that is,
// of a message to another of its portals:
//   node test/state_at.js PAGE RANK PORTAL MARKS
import { readFileSync } from 'node:fs';
import { read_trace } from '../src/data/trace.js';
import { heap_at, heaps_of, is_claimed, standing_entries, wanted_text } from '../src/model/instant.js';

const [path, ...numbers] = process.argv.slice(2);
const [rank, portal, marks] = numbers.map(Number);
const page = readFileSync(path, 'utf8');
const head = JSON.parse(/<script type="application\/json" id="margay-head">(.*)<\/script>/.exec(page)[1]);
const blobs = new Map([...page.matchAll(/<script type="text\/plain" id="margay-blob-(\d+)">([^<]*)<\/script>/g)].map(([, number, text]) => [Number(number), text]));
const trace = await read_trace(head, (number) => blobs.get(number));
const { messages, entries, heap } = trace;

const name_of = (row) => /^the entry "(.*)"$/.exec(trace.text(entries.name[row]))?.[1] ?? trace.text(entries.name[row]);
const bits_of = (row) => Number(/bits (0x[0-9a-f]+)/.exec(trace.text(messages.what[heap.message[row]]))?.[1]);

function state_at(time) {
  const { entries: chain, adopted, descriptor } = standing_entries(trace, rank, time).find((each) => each.portal === portal)
    ?? { entries: [], adopted: [], descriptor: false };
  const all = [...chain, ...adopted];
  const heaps = heaps_of(trace, rank).map(({ number }) => heap_at(trace, rank, time, number));
  const rows = heaps.flatMap((each) => each.rows);
  return {
    time,
    state: {
      list: chain.map(name_of), adopted: adopted.map(name_of).sort(), inactive: all.filter((row) => entries.inactive[row]).map(name_of),
      own: descriptor, queued: rows.filter((row) => !is_claimed(trace, row, time)).map(bits_of), bytes: heaps.reduce((sum, { bytes }) => sum + bytes, 0),
    },
    wanted: Object.fromEntries(all.map((row) => [name_of(row), wanted_text(trace, row)])),
    since: Object.fromEntries(all.map((row) => [name_of(row), entries.since[row]])),
  };
}

const times = [...messages.arrived].filter((_, row) => messages.destination[row] === rank && messages.portal[row] === marks).sort((a, b) => a - b);
console.log(JSON.stringify(times.map(state_at)));
