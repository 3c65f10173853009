// Categories of calls, by name. They choose the colour and pattern of a call's bar.

export const kCategories = [
  { id: 'send', label: 'send' },
  { id: 'receive', label: 'receive' },
  { id: 'complete', label: 'wait, test, probe' },
  { id: 'collective', label: 'collective' },
  { id: 'window', label: 'one-sided' },
  { id: 'other', label: 'other call' },
];

// Patterns of names without "MPI_", in lower case. The first match counts.
const kPatterns = [
  ['window', /^(win_|r?put$|r?get$|r?get_accumulate|r?accumulate|fetch_and_op|compare_and_swap)/],
  ['collective', /^i?(barrier|bcast|gather|scatter|allgather|alltoall|reduce|allreduce|scan|exscan|neighbor_)/],
  ['complete', /^(wait|test|i?m?probe|request_get_status|parrived)/],
  ['receive', /^(i?m?recv|precv)/],
  ['send', /^(i?[bsr]?send|psend|start|pready|buffer_)/],
];
const kReduceLocal = 'reduce_local';  // not collective, despite its name

/** The index in `kCategories` of a call's name. */
export function category_of(name) {
  const plain = name.replace(/^P?MPIX?_/, '').toLowerCase();
  const found = plain === kReduceLocal ? null : kPatterns.find(([, pattern]) => pattern.test(plain));
  return kCategories.findIndex((category) => category.id === (found ? found[0] : 'other'));
}
