// The types of the tables' columns (tables.js).
import { kTables } from './tables.js';

const kTypes = { u8: Uint8Array, u32: Uint32Array, i32: Int32Array, f64: Float64Array };

/** Bytes of one value of `type`, or undefined for an unknown type. */
export function type_bytes(type) {
  return kTypes[type]?.BYTES_PER_ELEMENT;
}

/** `buffer` as values of `type`. Requires: its length is a multiple of `type_bytes`. */
export function typed(type, buffer) {
  return new kTypes[type](buffer);
}

/** A column of `rows` values that all mean "not known". */
export function missing_column(table, column, rows) {
  const { type, missing } = kTables[table][column];
  const values = new kTypes[type](rows);
  return missing === 0 ? values : values.fill(missing);
}
