// The time axis above the timeline. A drag on it moves the cursor.
import { axisTop } from 'd3-axis';
import { scaleLinear } from 'd3-scale';
import { select } from 'd3-selection';
import { instant_text } from '../../base/format.js';

const kTickWidth = 110;  // least pixels for a tick
const kTicksWanted = 4;  // on a narrow axis, if they fit
const kDigitWidth = 7;  // of a label
const kTickGap = 14;
const kBeside = 8;  // of the panel beside the axis
const kUnits = [[1e9, 's'], [1e6, 'ms'], [1e3, 'us'], [1, 'ns']];

// Formats all ticks of an axis in one unit, with enough digits to distinguish neighbours.
function tick_text(step, largest) {
  const [scale, unit] = kUnits.find(([scale]) => largest >= scale) ?? kUnits.at(-1);
  const digits = Math.max(0, Math.min(9, -Math.floor(Math.log10(step / scale) + 1e-9)));
  return (time) => `${(time / scale).toFixed(digits)} ${unit}`;
}

// As many ticks as their labels leave room for, which grow with the zoom; at least two if they fit, so that a duration can be read.
function ticks_of(scale, scene, duration) {
  for (let count = Math.max(kTicksWanted, Math.floor(scene.width / kTickWidth)); ; count--) {
    const steps = scale.ticks(count);
    const step = steps.length > 1 ? steps[1] - steps[0] : scene.to - scene.from;
    const text = tick_text(step, Math.max(Math.abs(scene.from), Math.abs(scene.to)));
    const label = kDigitWidth * text(scene.to).length + kTickGap;
    if (count <= 1 || step * scene.scale >= label) return { ticks: steps.filter((tick) => tick >= 0 && tick <= duration), text };
  }
}

/** Draws the axis of `scene` into the SVG element, with the cursor's time; ticks from 0 to `duration`. */
export function draw_axis(svg, scene, time, duration) {
  const scale = scaleLinear([scene.from, scene.to], [0, scene.width]);
  const { ticks, text } = ticks_of(scale, scene, duration);
  const cut = (tick) => scale(tick) + kDigitWidth * text(tick).length / 2 > scene.width + kBeside;
  const root = select(svg).attr('width', scene.width).attr('viewBox', `0 0 ${scene.width} 40`).attr('preserveAspectRatio', 'none');
  root.selectAll('g.axis').data([null]).join('g').attr('class', 'axis').attr('transform', 'translate(0,39)')
    .call(axisTop(scale).tickValues(ticks).tickFormat((tick) => (cut(tick) ? '' : text(tick))).tickSizeOuter(0));
  const x = scene.x(time);
  const shown = x >= 0 && x <= scene.width;
  root.selectAll('g.cursor').data(shown ? [null] : []).join((enter) => {
    const group = enter.append('g').attr('class', 'cursor');
    group.append('path').attr('d', 'M-5,31 L5,31 L0,39 Z');
    group.append('text').attr('y', 11);
    return group;
  }).attr('transform', `translate(${x},0)`).select('text').text(instant_text(time))
    .attr('text-anchor', x < 60 ? 'start' : x > scene.width - 70 ? 'end' : 'middle');
}
