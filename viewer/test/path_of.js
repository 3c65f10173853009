// A command that prints, as JSON, the times of a page's critical path:
//   node test/path_of.js PAGE
import { readFileSync } from 'node:fs';
import { read_trace } from '../src/data/trace.js';
import { critical_path } from '../src/model/critical_path.js';

const page = readFileSync(process.argv[2], 'utf8');
const head = JSON.parse(/<script type="application\/json" id="margay-head">(.*)<\/script>/.exec(page)[1]);
const blobs = new Map([...page.matchAll(/<script type="text\/plain" id="margay-blob-(\d+)">([^<]*)<\/script>/g)].map(([, number, text]) => [Number(number), text]));
const { totals, by_rank } = critical_path(await read_trace(head, (number) => blobs.get(number)));
console.log(JSON.stringify({ totals, by_rank: Object.fromEntries(by_rank) }));
