// The help that "?" opens: what the signs mean, and the keys.
import { h } from './dom.js';

const kSigns = [
  ['bar', 'an MPI call; what is called inside of it is drawn in its lower part. The gaps between are the program computing.'],
  ['hatched', 'waiting inside of a call'],
  ['arrow', 'a message, from where its header was sent to where it arrived; thick: somebody waited because the other was late'],
  ['dotted tail', 'the message lies at its target until the program has it'],
  ['dashed with a cross', 'a message that was dropped, or never arrived as far as the trace tells'],
  ['dash-dotted, open head', 'a one-sided access: a put or a get as its data goes, until its call returned; a diamond at the target: it is combined with what was there'],
  ['pale bar', 'several calls in one pixel; the paler the less of it they take. Zoom in.'],
];

/** @returns {{element: HTMLDialogElement, toggle: () => void}} */
export function help_dialog(keys) {
  const pairs = [];
  for (const { keys: names, text } of keys) if (names !== '') pairs.push(h('dt', {}, h('kbd', {}, names)), h('dd', {}, text));
  const element = h('dialog', { class: 'help', 'aria-labelledby': 'help-title' },
    h('form', { method: 'dialog' }, h('button', { 'aria-label': 'close', class: 'close' }, 'Close')),
    h('h2', { id: 'help-title' }, 'How to read and move this page'),
    h('dl', { class: 'signs' }, kSigns.flatMap(([sign, text]) => [h('dt', {}, sign), h('dd', {}, text)])),
    h('p', {}, 'Pointer: the wheel zooms, a drag moves, Shift with a drag zooms to a range; a drag on the times moves the cursor; a click chooses.'),
    h('dl', { class: 'keys' }, pairs));
  return { element, toggle: () => (element.open ? element.close() : element.showModal()) };
}
