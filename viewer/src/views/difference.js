// The panel of the difference between this run, A, and another one, B: the tables of `margay trace diff`.
import { count_text, counted, percent_text, time_text } from '../base/format.js';
import { h, table } from './dom.js';

const kListed = 50;  // rows of a section
const kPathListed = 60;  // ranks of a critical path
const kRatioLeast = 10;  // from this ratio on a change is shown as a ratio and not in percent

const value_text = (value, unit) => (unit === 'ns' ? time_text(value) : count_text(value));

// "+12 (+17 %)", "+990 (x 100)"; without a share if A has none.
function change_text(a, b, unit) {
  const sign = b > a ? '+' : '\u2212';
  const by = Math.abs(b - a);
  const share = b / a >= kRatioLeast ? `x ${count_text(b / a)}` : sign + percent_text(by / a);
  return sign + value_text(by, unit) + (a === 0 ? '' : ` (${share})`);
}

/** The lines of a row's measures that differ: [name, measure, A, B, change]; the name only in the first. */
export function difference_lines({ measures }, { name, a, b }) {
  const lines = measures.map((measure, i) => [measure.name, value_text(a[i], measure.unit), value_text(b[i], measure.unit), change_text(a[i], b[i], measure.unit)])
    .filter((_, i) => a[i] !== b[i]);
  return lines.map((line, i) => [i === 0 ? name : '', ...line]);
}

function section_part(section) {
  const rows = section.rows.map((row) => difference_lines(section, row)).filter((lines) => lines.length > 0);
  if (rows.length === 0) return null;
  const equal = section.rows.length - rows.length;
  const counts = [rows.length > kListed ? `the ${kListed} of ${count_text(rows.length)} that differ most` : '', equal > 0 ? `${counted(equal, 'row is', 'rows are')} equal` : ''];
  const more = counts.filter((text) => text !== '').join('; ');
  return h('section', { 'data-section': section.id },
    table(['', '', 'A', 'B', 'B \u2212 A'], rows.slice(0, kListed).flat(), { numbers: [2, 3, 4], caption: section.title + (more ? ` (${more})` : '') }));
}

function run_line(letter, { folder, ranks, clock, notes }) {
  return h('p', { class: 'note' }, `${letter}: ${folder}, ${counted(ranks, 'rank')}, ${clock} time`, notes.map((note) => `; ${note}`).join(''));
}

function path_line(letter, { path }) {
  const more = path.length > kPathListed ? ` \u2026 (${count_text(path.length - kPathListed)} more)` : '';
  return h('p', { class: 'note' }, `The critical path of ${letter} passes the ranks ${path.slice(0, kPathListed).join(' \u203a ')}${more}`);
}

function verdict({ equal_counts, equal_times }) {
  if (!equal_counts) return 'The runs differ.';
  return equal_times ? 'The runs are equal, in all counts and times.' : 'The runs are equal in all counts, and differ in times.';
}

/** @param {object} page {trace}, with a difference as in docs/trace_diff.md */
export function difference_panel({ trace }) {
  const element = h('div', { class: 'difference' });
  const show = () => {
    if (element.childElementCount > 0) return;
    const { difference } = trace;
    const ranks_differ = difference.a.ranks !== difference.b.ranks;
    const paths = difference.a.path.join() === difference.b.path.join() ? [] : [path_line('A', difference.a), path_line('B', difference.b)];
    element.append(...[
      h('p', { class: 'verdict' }, verdict(difference)), run_line('A', difference.a), run_line('B', difference.b),
      ranks_differ ? h('p', { class: 'note' }, 'The numbers of ranks differ, so pairs and ranks are not compared.') : null,
      h('div', { class: 'columns' }, difference.sections.map(section_part)), ...paths,
    ].filter((part) => part !== null));
  };
  return { id: 'difference', label: 'Difference', element, show };
}
