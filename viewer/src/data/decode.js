// Decodes the page's blobs, base64 of gzip, to bytes. Errors are sentences for the page's reader.

const kChunk = 1 << 20;  // characters; a multiple of 4, as base64 is decoded in chunks

function bytes_of_base64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const parts = [];
  let length = 0;
  const clean = /\s/.test(text) ? text.replace(/\s+/g, '') : text;
  for (let at = 0; at < clean.length; at += kChunk) {
    const binary = atob(clean.slice(at, at + kChunk));
    const part = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; i++) part[i] = binary.charCodeAt(i);
    parts.push(part);
    length += part.length;
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

async function gunzip(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).arrayBuffer();
}

/**
 * The bytes that `text` (base64 of gzip) encodes.
 * @param {string} text
 * @param {string} what names them in an error
 * @returns {Promise<ArrayBuffer>}
 * @throws Error with a sentence when the text is damaged
 */
export async function decode_blob(text, what) {
  try {
    return await gunzip(bytes_of_base64(text));
  } catch (error) {
    throw new Error(`${what}: the data in this page is damaged (${error.message}). `
      + 'Write the page again with `margay trace view`.');
  }
}

/** `decode_blob` as UTF-8 text. */
export async function decode_text(text, what) {
  return new TextDecoder().decode(await decode_blob(text, what));
}
