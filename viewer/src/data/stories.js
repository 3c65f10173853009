// The stories of messages, decoded block by block when one of them is shown.
import { decode_text } from './decode.js';

const kSeparator = '\x1e';
const kBlocksKept = 8;

/**
 * @param {{block: number, blobs: number[]}} stories
 * @param {(number: number) => string} blob text of a blob; asked again when a block was forgotten
 * @returns {(row: number) => Promise<string>} the story of a message's row; "" when the page has none
 */
export function story_reader({ block, blobs }, blob) {
  const kept = new Map();
  return async (row) => {
    const number = Math.floor(row / block);
    if (row < 0 || number >= blobs.length) return '';
    if (!kept.has(number)) {
      if (kept.size >= kBlocksKept) kept.delete(kept.keys().next().value);
      kept.set(number, decode_text(blob(blobs[number]), `stories from message ${number * block} on`)
        .then((text) => text.split(kSeparator)));
    }
    return ((await kept.get(number))[row % block] ?? '').replace(/^\n+|\s+$/g, '');
  };
}
