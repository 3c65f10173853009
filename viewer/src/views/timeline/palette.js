// Colours and patterns of the canvas. Colours are the page's CSS variables, so a theme is defined in one place.
import { kCategories } from '../../model/categories.js';

function tile(size, draw) {
  const canvas = document.createElement('canvas');
  canvas.width = size;
  canvas.height = size;
  draw(canvas.getContext('2d'), size);
  return canvas;
}

function lines(context, from_to, colour, width) {
  context.strokeStyle = colour;
  context.lineWidth = width;
  for (const [x0, y0, x1, y1] of from_to) {
    context.beginPath();
    context.moveTo(x0, y0);
    context.lineTo(x1, y1);
    context.stroke();
  }
}

// A pattern for each category, so that bars differ in more than hue; waits are a hatching over them.
const kTiles = {
  receive: (colour) => tile(6, (context) => { context.fillStyle = colour; context.fillRect(1, 1, 1.6, 1.6); }),
  complete: (colour) => tile(5, (context) => lines(context, [[2.5, 0, 2.5, 5]], colour, 1)),
  collective: (colour) => tile(5, (context) => lines(context, [[0, 2.5, 5, 2.5]], colour, 1)),
  window: (colour) => tile(8, (context) => lines(context, [[0, 4, 8, 4], [4, 0, 4, 8]], colour, 1)),
};

/** @param {CanvasRenderingContext2D} context the canvas for which patterns are made */
export function read_palette(context) {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(`--${name}`).trim();
  const pattern = (image) => context.createPattern(image, 'repeat');
  const on_bar = colour('on-bar');
  return {
    paper: colour('paper'), ink: colour('ink'), faint: colour('faint'), line: colour('line'), stripe: colour('stripe'),
    accent: colour('accent'), arrow: colour('arrow'), lost: colour('lost'), access: colour('call-window'), path: colour('path'), band: colour('band'), on_bar,
    categories: kCategories.map(({ id }) => ({
      fill: colour(`call-${id}`),
      pattern: kTiles[id] ? pattern(kTiles[id](`color-mix(in srgb, ${on_bar} 35%, transparent)`)) : null,
    })),
    waiting: pattern(tile(8, (image) => {
      image.fillStyle = `color-mix(in srgb, ${colour('paper')} 62%, transparent)`;
      image.fillRect(0, 0, 8, 8);
      lines(image, [[-2, 10, 10, -2], [-2, 2, 2, -2], [6, 10, 10, 6]], colour('hatch'), 1.4);
    })),
  };
}
