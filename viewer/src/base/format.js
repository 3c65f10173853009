// Formats numbers for people.

/** Amounts of memory below it are shown in bytes. */
export const kExactBelow = 10240;

const kTimeUnits = [[1e9, 's'], [1e6, 'ms'], [1e3, 'us'], [1, 'ns']];

/** A duration in a suitable unit: 4780000 is "4.78 ms"; an unknown one is "–". */
export function time_text(ns) {
  if (!Number.isFinite(ns)) return '–';
  const size = Math.abs(ns);
  const [scale, unit] = kTimeUnits.find(([scale]) => size >= scale) ?? kTimeUnits.at(-1);
  const value = ns / scale;
  const digits = unit === 'ns' ? 0 : Math.max(0, 2 - Math.floor(Math.log10(Math.max(1, Math.abs(value)))));
  return `${value.toFixed(digits)} ${unit}`;
}

/** A time since the trace's first event in a suitable unit, with the digits of nanoseconds: "4.950283 ms". */
export function instant_text(ns) {
  if (!Number.isFinite(ns)) return '–';
  const [scale, unit] = kTimeUnits.find(([scale]) => Math.abs(ns) >= scale && scale >= 1e3) ?? [1e3, 'us'];
  return `${(ns / scale).toFixed(Math.round(Math.log10(scale)))} ${unit}`;
}

/** The widest texts of `instant_text` for times up to `longest`, one for each unit. */
export function widest_instants(longest) {
  const nines = 10 ** String(Math.ceil(longest)).length - 1;
  return [999999, 999999999, nines].map((ns) => instant_text(Math.min(ns, nines)));
}

/** An amount of memory: "800000 bytes" up to 10 KiB, else with a unit: "781 KiB". */
export function bytes_text(bytes) {
  if (!Number.isFinite(bytes)) return '–';
  if (bytes === 1) return '1 byte';
  if (bytes < kExactBelow) return `${bytes} bytes`;
  for (const [scale, unit] of [[1024 ** 3, 'GiB'], [1024 ** 2, 'MiB'], [1024, 'KiB']]) {
    if (bytes >= scale) return `${(bytes / scale).toFixed(bytes / scale < 10 ? 1 : 0)} ${unit}`;
  }
  return `${bytes} bytes`;
}

/** 1234567 is "1 234 567": a thin space cannot be mistaken for a decimal point. */
export function count_text(number) {
  return Math.round(number).toString().replace(/\B(?=(\d{3})+$)/g, '\u202f');
}

/** "1 message", "2 messages". */
export function counted(number, noun, plural = `${noun}s`) {
  return `${count_text(number)} ${number === 1 ? noun : plural}`;
}

/** A share of one as percent. */
export function percent_text(share) {
  return Number.isFinite(share) ? `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %` : '–';
}
