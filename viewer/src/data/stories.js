// The stories of messages, decoded by blocks when one of them is shown.
import { decode_text } from './decode.js';

const kSeparator = '\x1e';  // between the parts of a block
const kBlocksKept = 8;
const kPlaces = /[\x01\x02]/g;  // in a form: a value, and a value that is padded to the width of times
const kPadded = '\x02';
const kPaddedWidth = 12;

/** A block's stories. The page has the forms of their lines, and for each form the values of its places
 *  (command/trace/page/story_block.hpp). */
export function stories_of_block(text) {
  const [forms, shapes, stories, columns] = text.split(kSeparator).map((part) => part.split('\n'));
  let column = 0;
  const places = forms.map((form) => (form.match(kPlaces) ?? []).map(() => columns[column++].split(' ')));
  const uses = new Uint32Array(forms.length);
  const line_of = (form) => {
    const use = uses[form]++;
    let at = 0;
    return forms[form].replace(kPlaces, (place) => {
      const values = places[form][at++];
      return (values.length === 1 ? values[0] : values[use]).padStart(place === kPadded ? kPaddedWidth : 0);
    });
  };
  return stories[0].split(' ').map((shape) => shapes[shape].split(' ').map(line_of).join('\n'));
}

/**
 * @param {{block: number, blobs: number[]}} stories
 * @param {(number: number) => string} blob text of a blob; called again for a block that is no longer kept
 * @returns {(row: number) => Promise<string>} the story of a message's row; "" if the page has none
 */
export function story_reader({ block, blobs }, blob) {
  const kept = new Map();
  return async (row) => {
    const number = Math.floor(row / block);
    if (row < 0 || number >= blobs.length) return '';
    if (!kept.has(number)) {
      if (kept.size >= kBlocksKept) kept.delete(kept.keys().next().value);
      kept.set(number, decode_text(blob(blobs[number]), `stories from message ${number * block} on`)
        .then(stories_of_block));
    }
    return ((await kept.get(number))[row % block] ?? '').replace(/^\n+|\s+$/g, '');
  };
}
