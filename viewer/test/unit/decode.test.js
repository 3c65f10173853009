import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { decode_blob, decode_text } from '../../src/data/decode.js';
import { stories_of_block, story_reader } from '../../src/data/stories.js';
import { read_trace } from '../../src/data/trace.js';
import { story_block, synthesize } from '../synthesize.js';

const base64 = (bytes) => gzipSync(bytes).toString('base64');

function texts_of({ blobs }) {
  return (number) => blobs[number].toString('base64');
}

test('a blob is base64 of gzip, with or without line breaks', async () => {
  const bytes = Uint8Array.from({ length: 300000 }, (_, index) => (index * 7) % 251);
  const text = base64(bytes).replace(/(.{76})/g, '$1\n');
  assert.deepEqual(new Uint8Array(await decode_blob(text, 'x')), bytes);
  assert.equal(await decode_text(base64(Buffer.from('größe')), 'x'), 'größe');
});

test('a damaged blob is an error that names it', async () => {
  const text = base64(Buffer.from('some content that is long enough to be cut'));
  for (const damaged of [text.slice(0, 24), 'AAAA', '%%%%']) {
    await assert.rejects(decode_blob(damaged, 'table calls, column end'), /^Error: table calls, column end: .*damaged.*margay trace view/s);
  }
});

test('a synthetic page is read: lengths, types, sorted messages, references', async () => {
  const data = synthesize({ messages: 500, ranks: 5 });
  const trace = await read_trace(data.head, texts_of(data));
  assert.equal(trace.messages.rows, data.head.tables.messages.rows);
  assert.ok(trace.messages.sent instanceof Float64Array);
  assert.ok(trace.messages.first.every((first, row) => row === 0 || first >= trace.messages.first[row - 1]));
  for (let row = 0; row < trace.entries.rows; row++) {
    const message = trace.entries.message[row];
    if (message >= 0) assert.equal(trace.messages.destination[message], trace.entries.rank[row]);
  }
  assert.equal(trace.text(trace.messages.communicator[0]), 'MPI_COMM_WORLD');
  assert.equal(trace.ranks.length, 5);
});

test('texts may be in a blob', async () => {
  const data = synthesize({ messages: 20, strings_in_blob: true });
  const trace = await read_trace(data.head, texts_of(data));
  assert.equal(trace.strings[0], '');
  assert.ok(trace.strings.includes('MPI_Send'));
});

test('missing tables and columns are "not known"', async () => {
  const data = synthesize({ messages: 20 });
  delete data.head.tables.calls;
  delete data.head.tables.messages.columns.taken;
  delete data.head.tables.messages.columns.collective;
  delete data.head.tables.messages.columns.receiver_waited;
  const trace = await read_trace(data.head, texts_of(data));
  assert.equal(trace.calls.rows, 0);
  assert.ok(trace.messages.taken.every(Number.isNaN));
  assert.ok(trace.messages.collective.every((row) => row === -1));
  assert.ok(trace.messages.receiver_waited.every((waited) => waited === 0));
});

test('a column with a wrong length, type or format is rejected', async () => {
  const short = synthesize({ messages: 20 });
  short.head.tables.messages.rows += 1;
  await assert.rejects(read_trace(short.head, texts_of(short)), /table messages, column \w+: \d+ bytes where \d+ rows take \d+/);
  const type = synthesize({ messages: 20 });
  type.head.tables.messages.columns.sent.type = 'f16';
  await assert.rejects(read_trace(type.head, texts_of(type)), /column sent: its type f16 is not known/);
  const format = synthesize({ messages: 20 });
  format.head.format = 3;
  await assert.rejects(read_trace(format.head, texts_of(format)), /format 3, its script reads 2/);
});

test('ranks without a file that exchange messages with others are included', async () => {
  const data = synthesize({ messages: 40, ranks: 4 });
  data.head.ranks.splice(2, 1);
  const trace = await read_trace(data.head, texts_of(data));
  assert.deepEqual(trace.ranks.map(({ rank, file }) => [rank, file]), [[0, true], [1, true], [2, false], [3, true]]);
});

test('stories are found by row, across blocks; a block is decoded once', async () => {
  const blobs = [['a\n', 'b'], ['', 'd'], ['e']].map((block) => base64(Buffer.from(story_block(block))));
  const asked = [];
  const story_of = story_reader({ block: 2, blobs: [0, 1, 2] }, (number) => {
    asked.push(number);
    return blobs[number];
  });
  assert.deepEqual(await Promise.all([0, 1, 2, 3, 4, 9].map(story_of)), ['a', 'b', '', 'd', 'e', '']);
  assert.deepEqual(asked, [0, 1, 2]);
});

test('a block contains each form of line once; the values are put into the places of the forms', () => {
  const block = ['sends \x01 bytes\n\x02.\x01 rank \x01\n', '0 1 1\n0', '0 1 0', '64 128 8\n0 12345 12345678901 999\n000\n2'].join('\x1e');
  assert.deepEqual(stories_of_block(block), [
    'sends 64 bytes\n           0.000 rank 2\n       12345.000 rank 2', 'sends 128 bytes',
    'sends 8 bytes\n 12345678901.000 rank 2\n         999.000 rank 2',
  ]);
});

test('a synthetic block is decoded letter by letter', () => {
  const stories = ['1>2 #3: 64 x MPI_BYTE\n           0.000  rank 1\n- It took 4.60 us.\n', 'bits 0x1f and 0x, 7\n', '', '           0.000  rank 1'];
  assert.deepEqual(stories_of_block(story_block(stories)), stories);
});
