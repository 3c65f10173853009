// Tests of the parser of stories written by `margay trace story`.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { story_parts } from '../../src/model/story_text.js';

const line = (time, rank, actor, text) => `${time.padStart(16)}  rank ${String(rank).padEnd(4)} ${actor.padEnd(14)} ${text}`;
const story = ['0>12 #1: 4 bytes', line('0.000', 0, '', 'calls MPI_Send (a.c:3)'), line('0.621', 0, 'the message', 'sends 4 bytes'),
  line('64.336', 12, 'the message', 'is taken by the entry "unexpected short"; header and body are kept'),
  line('70.000', 12, 'acknowledgment', 'acknowledges it'), '- The header was on its way for 63 us.', '- Nothing received it.'].join('\n');

test('a story has conclusions and steps, columns as narrow as possible, and the time from which it counts', () => {
  const parts = story_parts(story, 14151);
  assert.equal(parts.name, '0>12 #1: 4 bytes');
  assert.deepEqual(parts.conclusions, ['- The header was on its way for 63 us.', '- Nothing received it.']);
  assert.equal(parts.origin, 13530);
  assert.deepEqual(parts.steps, [' 0.000 rank 0                 calls MPI_Send (a.c:3)', ' 0.621 rank 0  the message    sends 4 bytes',
    '64.336 rank 12 the message    is taken by the entry "unexpected short"; header and body are kept', '70.000 rank 12 acknowledgment acknowledges it']);
  for (const [index, first] of [[0, 'calls'], [2, 'is'], [3, 'acknowledges']]) assert.ok(parts.steps[index].slice(parts.text_at).startsWith(first));
});

test('a text that is not a story is not changed', () => {
  const parts = story_parts('This page has no story of this message.', 5);
  assert.deepEqual([parts.name, parts.steps, parts.conclusions, parts.origin], ['This page has no story of this message.', [], [], NaN]);
});
