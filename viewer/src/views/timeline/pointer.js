// Wheel, drag and click on the timeline. d3-zoom keeps its transform equal to the store's view.
import { select } from 'd3-selection';
import { zoom, zoomIdentity } from 'd3-zoom';
import { whole_view } from '../actions.js';

/**
 * @param {HTMLCanvasElement} canvas
 * @param {object} context {trace, store, actions}
 * @param {object} view {scene(), scroller, hover(event), leave(), choose(event), range(x0, x1 | null)}
 * @returns {() => void} a function to call when the view or the size has changed
 */
export function attach_zoom(canvas, { trace, store, actions }, view) {
  const whole = whole_view(trace);
  const length = whole.to - whole.from;
  let applying = false;
  const behavior = zoom().filter((event) => (event.type === 'wheel' || !event.shiftKey) && !event.button)
    .on('zoom', (event) => {
      if (applying) return;
      const { k, x } = event.transform;
      const from = whole.from + (-x / view.scene().width / k) * length;
      actions.zoom(from, from + length / k);
      const pointer = event.sourceEvent;
      if (pointer?.type === 'mousemove' && pointer.movementY) view.scroller.scrollTop -= pointer.movementY;
    });
  const target = select(canvas).call(behavior).on('dblclick.zoom', null);
  return () => {
    const { width, height } = view.scene();
    const { from, to } = store.state;
    const k = length / (to - from);
    applying = true;  // the store already has this view
    behavior.extent([[0, 0], [width, height]]).translateExtent([[0, -Infinity], [width, Infinity]]).scaleExtent([1, length / 20]);
    target.call(behavior.transform, zoomIdentity.translate((-(from - whole.from) / length) * width * k, 0).scale(k));
    applying = false;
  };
}

/** Hover, click, and with the Shift key a range to zoom to. */
export function attach_pointer(canvas, { actions }, view) {
  let start = null;
  const place = (event) => event.clientX - canvas.getBoundingClientRect().left;
  canvas.addEventListener('pointermove', (event) => {
    if (start !== null) view.range(start, place(event));
    else if (event.buttons === 0) view.hover(event);
  });
  canvas.addEventListener('pointerleave', () => view.leave());
  canvas.addEventListener('pointerdown', (event) => {
    if (!event.shiftKey || event.button !== 0) return;
    start = place(event);
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener('pointerup', (event) => {
    if (start === null) return;
    const [x0, x1] = [start, place(event)].sort((a, b) => a - b);
    start = null;
    view.range(null, null);
    if (x1 - x0 > 3) actions.zoom(view.scene().time(x0), view.scene().time(x1));
  });
  canvas.addEventListener('click', (event) => {
    if (!event.shiftKey) view.choose(event);
  });
}

/** Press and drag on the axis moves the cursor. */
export function attach_scrubber(axis, { actions }, view) {
  let pressed = false;
  const move = (event) => actions.set_time(view.scene().time(event.clientX - axis.getBoundingClientRect().left));
  axis.addEventListener('pointerdown', (event) => {
    pressed = true;
    axis.setPointerCapture(event.pointerId);
    move(event);
  });
  axis.addEventListener('pointermove', (event) => {
    if (pressed) move(event);
  });
  axis.addEventListener('pointerup', () => { pressed = false; });
}
