// Tests of the notes at the top of the page.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { joined_notes, page_notes, waiting_notes } from '../../src/model/notes.js';
import { trace_of } from './trace_of.js';

const hang = {
  calls: [{ rank: 0, name: 'MPI_Isend', site: 'hang.c:8', begin: 10, end: 20 }, { rank: 0, name: 'MPI_Recv', site: 'hang.c:9', begin: 30 },
    { rank: 1, name: 'MPI_Barrier', site: 'hang.c:10', begin: 40 }],
  waits: [{ rank: 1, begin: 60 }, { rank: 0, begin: 50 }, { rank: 0, begin: 12, end: 15 }],
  entries: [{ rank: 0, name: 'the entry "unexpected short"', from: 0 }, { rank: 0, name: 'a posted receive', wanted: 'tag 3 from 1 in MPI_COMM_WORLD', from: 5 },
    { rank: 0, name: 'a posted receive', wanted: 'tag 5 from 1 in MPI_COMM_WORLD', from: 45 }, { rank: 0, name: 'a posted receive', wanted: 'tag 6', from: 45, to: 48 }],
  collectives: [{ rank: 1, name: 'MPI_Barrier', communicator: 'c', number: 2, begin: 41, group: 0 },
    { rank: 3, name: 'MPI_Barrier', communicator: 'c', number: 2, begin: 42, group: 0 },
    { rank: 4, name: 'MPI_Barrier', communicator: 'c', number: 2, begin: 42, group: 1 }],  // in the other half, whose communicator has the same name
  messages: [{ source: 1, destination: 0, what: '1 x MPI_INT, tag 20' }],
  heap: [{ rank: 0, message: 0, from: 20 }],
};

test('a note names the ranks that still waited at the end of the recording, with the awaited events', () => {
  assert.deepEqual(waiting_notes(trace_of(hang)), [
    'Rank 0 still waited in MPI_Recv (hang.c:9) when the recording ended, since 0.050 us; its receive accepts tag 5 from 1 in MPI_COMM_WORLD; '
      + 'a message is in its heap, not received: 1 x MPI_INT, tag 20.',
    'Rank 1 still waited in MPI_Barrier (hang.c:10) when the recording ended, since 0.060 us; the ranks 1,3 had entered it.']);
});

test('a wait in a completion call may be for any of the posted receives', () => {
  const calls = hang.calls.map((call) => (call.name === 'MPI_Recv' ? { ...call, name: 'MPI_Waitall' } : call));
  assert.match(waiting_notes(trace_of({ ...hang, calls }))[0], /in MPI_Waitall .*; its 2 receives accept tag 3 from 1 in MPI_COMM_WORLD; tag 5 from 1/);
});

test('a complete trace has no such note', () => {
  const waits = hang.waits.map((wait) => ({ ...wait, end: 100 }));
  assert.deepEqual(page_notes(trace_of({ ...hang, waits })), []);
});

test('for ranks that did not close, notes name the first one to end and those that did not wait', () => {
  // The time of rank 1's last event, which follows its last call, is recorded in its file only.
  const ranks = [[0, 310], [1, 250], [2, 410]].map(([rank, last]) => ({ rank, last, node: 0, file: true, lost: 0, closed: false }));
  const notes = [0, 1, 2].map((rank) => `Rank ${rank} did not close its trace: it still runs, or was ended.`);
  const trace = trace_of({
    calls: [{ rank: 0, name: 'MPI_Recv', begin: 300 }, { rank: 1, name: 'MPI_Send', begin: 100, end: 200 }, { rank: 2, name: 'MPI_Recv', begin: 400 }],
    waits: [{ rank: 0, begin: 310 }, { rank: 2, begin: 410 }] }, { ranks, notes });
  const said = page_notes(trace);
  assert.equal(said[0], 'Ranks 0-2: each did not close its trace: it still runs, or was ended.');
  assert.deepEqual(said.slice(-2), ['Rank 1\u2019s recording ends first, at 0.250 us, 160 ns before that of rank 2.',
    'Not waiting when the recording ended: rank 1 between its calls, at 0.250 us.']);
});

test('different notes are not joined', () => {
  const notes = ['Rank 1 lost 3 events.', 'Rank 2 has no file.', 'Other 4.', 'Other 5.'];
  assert.deepEqual(joined_notes(notes), notes);
});

test('notes that differ only by an amount are joined, with its range', () => {
  const notes = [[0, 70823], [1, 79067], [2, 72591]].map(([rank, count]) => `Rank ${rank}: its first ${count} events were overwritten; not all of its lists are shown.`);
  assert.deepEqual(joined_notes(notes).map((note) => note.replaceAll('\u202f', ',')),
    ['Ranks 0-2: their first 70,823 to 79,067 events were overwritten; not all of their lists are shown.']);
  assert.deepEqual(joined_notes(['Rank 0: 3 damaged events are left out.', 'Rank 4: 3 damaged events are left out.']), ['Ranks 0,4: 3 damaged events are left out.']);
});
