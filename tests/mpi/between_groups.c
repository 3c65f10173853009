// Tests of collectives between the groups of an intercommunicator (MPI 4.0, 6.2.3), in all forms: groups of one rank
// and all others, of halves, and of all others and one; every root of both groups (the other ranks of its group pass
// MPI_PROC_NULL); uneven and empty blocks.
// ranks: 2 3 5 8
// reference: 2 3
#include "call_begin.h"

static int rank, size;
static Group group;
static Reduction reductions[kReductions];

static void make_group(int lows) {
  MPI_Comm half;
  group = (Group){.between = 1, .side = rank >= lows};
  for (int r = 0; r < size; ++r) add_member(&group, rank, r, (r >= lows) == group.side);
  MPI_Comm_split(MPI_COMM_WORLD, group.side, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, group.side ? 0 : lows, 1, &group.comm);
  MPI_Comm_free(&half);
}

static void one_call(int number, int function, int form, int root_side, int root) {
  static const int kCounts[] = {1, 0, 40, 7, 700, 4000};
  // MPICH 4.0.2's MPI_Ibcast and MPI_Bcast_init from other roots than the first give nothing or end in an assertion,
  // and some persistent ones send the contents that the buffers had at their creation, or cannot be started again.
  if (!on_margay() && function == kBcast) form -= form % 3;
  ModelCall c = {.group = &group,
                 .reductions = reductions,
                 .number = number,
                 .function = function,
                 .form = form,
                 .which = (number + function) % kReductions,
                 .count = kCounts[(number / 2 + function) % 6],
                 .starts = is_persistent(form) && on_margay() ? kStarts : 1,
                 .root = root,
                 .root_side = root_side,
                 .seed = (unsigned)(number * 131),
                 .request = MPI_REQUEST_NULL};
  // MPICH 4.0.2 delivers more than 687 pairs only in part if it unpacks them from a message.
  if (!on_margay() && function < kReduce && c.which == kMinLoc) c.which = kOrdered;
  begin_call(&c);
  for (int start = 0; start < c.starts; ++start) {
    if (start > 0) {
      fill_call(&c, start);
      MPI_Start(&c.request);
    }
    await_collective(&c.request, number % 3 == 0);
    check_call(&c, start);
  }
  end_call(&c);
}

// Tests every root once, in a form that changes from root to root; the functions without roots in half of the forms.
static void every_function(int number) {
  for (int function = kBarrier; function < kScan; ++function) {
    const ModelCall rooted = {.function = function};
    if (!is_rooted(&rooted)) {
      for (int form = (number + function) % 2; form < kForms; form += 2) one_call(number++, function, form, 0, 0);
      continue;
    }
    for (int side = 0; side < 2; ++side)
      for (int root = 0; root < (side == group.side ? group.locals : group.remotes); ++root, ++number)
        one_call(number, function, (root + side * 2 + number + function) % kForms, side, root);
  }
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  rank = world_rank();
  size = world_size();
  make_reductions(reductions);
  // Those that are the same with few ranks are made once.
  const int lows[] = {1, size / 2, size - 1};
  for (int i = 0; i < 3; ++i) {
    if (i > 0 && lows[i] == lows[i - 1]) continue;
    make_group(lows[i]);
    every_function(i);
    MPI_Comm_free(&group.comm);
  }
  free_reductions(reductions);
  return suite_end("between_groups");
}
