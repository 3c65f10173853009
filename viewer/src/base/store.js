// The page's state and its listeners. Views read it, and change it only by `set`.

/**
 * @param {object} state the first state
 * @returns {{state: object, set: (patch: object) => void, on: (keys: string[], listener: () => void) => void}}
 *   `set` changes the named values, and calls each listener of a changed value once.
 */
export function create_store(state) {
  const listeners = [];
  return {
    state,
    set(patch) {
      const changed = new Set(Object.keys(patch).filter((key) => !Object.is(state[key], patch[key])));
      if (changed.size === 0) return;
      Object.assign(state, patch);
      for (const { keys, listener } of listeners) {
        if (keys.some((key) => changed.has(key))) listener();
      }
    },
    on(keys, listener) {
      listeners.push({ keys, listener });
    },
  };
}
