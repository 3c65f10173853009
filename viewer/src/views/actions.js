// The actions of clicks and keys: the only place that changes several values of the store together.
import { first_at_least } from '../base/bisect.js';
import { filtered_rows, mask_of } from '../model/filter.js';
import { span_of_call } from '../model/collective.js';
import { next_time, times_of_rank } from '../model/events.js';
import { folding_of, kFolds, rows_of } from '../model/fold.js';
import { moved } from '../model/rows.js';

const kMargin = 0.02;  // share of the duration, on both sides of the whole trace
const kLeastNs = 20;   // length of the shortest view

export function whole_view(trace) {
  return { from: -kMargin * trace.duration, to: (1 + kMargin) * trace.duration };
}

export function make_actions(trace, store) {
  const { messages } = trace;
  const times = new Map();
  const times_of = (rank) => {
    if (!times.has(rank)) times.set(rank, times_of_rank(trace, rank));
    return times.get(rank);
  };
  const foldings = new Map();
  // The rows of the timeline without headings.
  const rank_rows = () => {
    const { order, folding, unfolded, rank } = store.state;
    return rows_of(order, folding, unfolded, rank).filter(({ heading }) => !heading);
  };
  const actions = {
    /** Shows [from, to], within the trace. */
    zoom(from, to) {
      const whole = whole_view(trace);
      const length = Math.min(Math.max(to - from, kLeastNs), whole.to - whole.from);
      const start = Math.min(Math.max((from + to - length) / 2, whole.from), whole.to - length);
      store.set({ from: start, to: start + length });
    },
    zoom_by(factor, around = (store.state.from + store.state.to) / 2) {
      const { from, to } = store.state;
      actions.zoom(around - (around - from) * factor, around + (to - around) * factor);
    },
    /** The centre of a zoom: the cursor if it is in view, else the view's middle. */
    zoom_centre() {
      const { from, to, time } = store.state;
      return time >= from && time <= to ? time : (from + to) / 2;
    },
    pan(share) {
      const { from, to } = store.state;
      actions.zoom(from + share * (to - from), to + share * (to - from));
    },
    fit: () => store.set(whole_view(trace)),
    /** Moves the view to show [from, to]; zooms only if it does not fit. */
    reveal(from, to) {
      const view = store.state;
      if (from >= view.from && to <= view.to && to - from > (view.to - view.from) / 500) return;
      const length = to - from > 0 ? to - from : view.to - view.from;
      actions.zoom(from - length, to + length);
    },
    select_message(row, reveal = true) {
      const [sent, arrived] = [messages.sent[row], messages.arrived[row]];
      const came = !Number.isNaN(arrived);  // a message that never arrived is shown at its sender
      store.set({ selected: { kind: 'message', row }, time: came ? arrived : Number.isNaN(sent) ? messages.first[row] : sent,
        rank: came ? messages.destination[row] : messages.source[row] });
      if (reveal) actions.reveal(messages.first[row], Math.max(messages.first[row], messages.last[row]));
    },
    select_call(row, reveal = false) {
      const { rank, begin, end } = trace.calls;
      store.set({ selected: { kind: 'call', row }, rank: rank[row] });
      if (reveal) actions.reveal(begin[row], end[row] >= begin[row] ? end[row] : trace.duration);
    },
    select_collective(row, reveal = true) {
      store.set({ selected: { kind: 'collective', row }, rank: trace.collectives.rank[row] });
      if (reveal) actions.reveal(...span_of_call(trace, row));
    },
    select_access(row, reveal = true) {
      const { rank, begin, end } = trace.accesses;
      store.set({ selected: { kind: 'access', row }, time: begin[row], rank: rank[row] });
      if (reveal) actions.reveal(begin[row], end[row] >= begin[row] ? end[row] : begin[row]);
    },
    clear_selection: () => store.set({ selected: null }),
    zoom_to_selected() {
      const { selected } = store.state;
      if (!selected) return;
      const { row } = selected;
      const { accesses, calls } = trace;
      const [from, to] = { message: () => [messages.first[row], messages.last[row]], call: () => [calls.begin[row], calls.end[row]],
        collective: () => span_of_call(trace, row), access: () => [accesses.begin[row], accesses.end[row]] }[selected.kind]();
      const length = Math.max(kLeastNs, (to > from ? to : from) - from);
      actions.zoom(from - length / 4, from + 1.25 * length);
    },
    /** Selects the next (1) or previous (-1) message that passes the filter. */
    step_message(step) {
      const { rows, selected, time } = store.state;
      if (rows.length === 0) return;
      let at;
      if (selected?.kind === 'message') {
        at = first_at_least(rows, selected.row);
        if (step > 0 && rows[at] === selected.row) at++;
        if (step < 0) at--;
      } else {
        at = 0;
        while (at < rows.length - 1 && messages.first[rows[at]] < time) at++;
      }
      if (at >= 0 && at < rows.length) actions.select_message(rows[at]);
    },
    filter_by(patch) {
      const filter = { ...store.state.filter, ...patch };
      const rows = filtered_rows(trace, filter);
      store.set({ filter, rows, mask: mask_of(messages.rows, rows) });
    },
    set_time(time) {
      store.set({ time: Math.min(trace.duration, Math.max(0, time)) });
    },
    step_time(step) {
      const time = next_time(times_of(store.state.rank), store.state.time, step);
      store.set({ time });
      const { from, to } = store.state;
      if (time < from || time > to) actions.zoom(time - (to - from) / 2, time + (to - from) / 2);
    },
    step_rank(step) {
      const rows = rank_rows();
      const at = rows.findIndex(({ rank }) => rank === store.state.rank) + step;
      if (rows.length > 0) store.set({ rank: rows[Math.min(rows.length - 1, Math.max(0, at))].rank });
    },
    move_rank(step) {
      const rows = rank_rows();
      const members = new Map(rows.map((row) => [row.rank, row.members]));
      const order = moved([...members.keys()], store.state.rank, step);
      store.set({ order: order.flatMap((rank) => members.get(rank)), sorting: 'own' });
    },
    /** Folds the rows by 'none', 'node' or 'behaviour'. */
    fold_by(fold) {
      if (!foldings.has(fold)) foldings.set(fold, folding_of(trace, fold));
      store.set({ folding: foldings.get(fold), unfolded: new Set() });
    },
    fold_by_next() {
      const at = kFolds.findIndex(([fold]) => fold === store.state.folding.fold);
      actions.fold_by(kFolds[(at + 1) % kFolds.length][0]);
    },
    /** Folds or unfolds a group: that of the selected rank, unless one is named. */
    toggle_group(group = store.state.folding.group_of.get(store.state.rank)) {
      if (group.length === 1) return;
      const unfolded = new Set(store.state.unfolded);
      if (!unfolded.delete(group)) unfolded.add(group);
      store.set({ unfolded });
    },
  };
  return actions;
}
