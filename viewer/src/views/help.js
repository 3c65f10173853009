// The help that "?" opens: the signs of the timeline, and the keys.
import { h } from './dom.js';

const kSigns = [
  ['bar', 'an MPI call, with nested calls in its lower part. In the gaps between bars the program computes.'],
  ['hatched', 'waiting inside a call'],
  ['arrow', 'a message, from where its header was sent to where it arrived; thick: one side waited because the other was late'],
  ['dotted tail', 'the message waits at its target until the program receives it'],
  ['dashed with a cross', 'a message that was dropped, or has no arrival in the trace'],
  ['dash-dotted, open head', 'a one-sided access: a put or a get in the direction of its data, until its call returned; a diamond at the target: an accumulate, combined with the data there'],
  ['pale bar', 'several calls in one pixel; the less time they take, the paler. Zoom in.'],
];

/** @returns {{element: HTMLDialogElement, toggle: () => void}} */
export function help_dialog(keys) {
  const pairs = [];
  for (const { keys: names, text } of keys) if (names !== '') pairs.push(h('dt', {}, h('kbd', {}, names)), h('dd', {}, text));
  const element = h('dialog', { class: 'help', 'aria-labelledby': 'help-title' },
    h('form', { method: 'dialog' }, h('button', { 'aria-label': 'close', class: 'close' }, 'Close')),
    h('h2', { id: 'help-title' }, 'How to read and navigate this page'),
    h('dl', { class: 'signs' }, kSigns.flatMap(([sign, text]) => [h('dt', {}, sign), h('dd', {}, text)])),
    h('p', {}, 'Pointer: the wheel zooms, a drag moves, Shift with a drag zooms to a range; a drag on the time axis moves the cursor; a click selects.'),
    h('dl', { class: 'keys' }, pairs));
  return { element, toggle: () => (element.open ? element.close() : element.showModal()) };
}
