// The networks of a simulated run, decoded when their view is shown.
import { make_network } from '../model/network.js';
import { decode_text } from './decode.js';

/**
 * @param {{blob: number, first_event_ns: number} | undefined} head of the page's data; undefined: the run was not simulated
 * @param {(number: number) => string} blob text of a blob
 * @returns {null | () => Promise<object>} the network of `make_network`, decoded once; null: there is none
 */
export function network_reader(head, blob) {
  if (!head) return null;
  let network = null;
  return () => {
    network ??= decode_text(blob(head.blob), 'the network').then((text) => make_network(JSON.parse(text), head.first_event_ns));
    return network;
  };
}
