// Epochs with all kinds of synchronisation, and the comparison of memory afterwards, for random.c.
#pragma once

#include "random_perform.h"

// Whether any rank writes into this rank's window in this epoch.
static int is_written(const struct History* h) {
  for (int i = 0; i < h->accesses; ++i) {
    const struct Access* const access = &h->access[i];
    if (access->target == h->rank && access->kind != kGet && access->kind != kLoad) return 1;
  }
  return 0;
}

static int owner_stores(const struct History* h) {
  for (int i = 0; i < h->member[h->rank].slots; ++i) {
    if (h->member[h->rank].slot[i].role == kOwn) return 1;
  }
  return 0;
}

static void store_own(struct History* h) {
  for (int i = 0; i < h->member[h->rank].slots; ++i) {
    if (h->member[h->rank].slot[i].role != kOwn) continue;
    memcpy(h->memory + i * h->slot_bytes, slot_memory(h, h->rank, i), (size_t)h->slot_bytes);
  }
}

static void fence_epoch(struct History* h) {
  struct Random* const random = &h->random;
  const int opens = one_in(random, 2) ? MPI_MODE_NOPRECEDE : 0, closes = one_in(random, 2) ? MPI_MODE_NOSUCCEED : 0;
  const int says = one_in(random, 2);
  MPI_Win_fence(opens | (says && !is_written(h) ? MPI_MODE_NOPUT : 0), h->win);
  store_own(h);
  perform_all(h, -1);
  MPI_Win_fence(closes | (says && !owner_stores(h) ? MPI_MODE_NOSTORE : 0), h->win);
}

// The ranks that this rank accesses, or with `as_target` those that access it.
static MPI_Group group_of(struct History* h, int as_target) {
  int ranks[kMembersMax], number = 0;
  for (int i = 0; i < h->size; ++i) {
    if (as_target ? h->reaches[i][h->rank] : h->reaches[h->rank][i]) ranks[number++] = i;
  }
  MPI_Group all, made;
  MPI_Comm_group(h->comm, &all);
  MPI_Group_incl(all, number, ranks, &made);
  MPI_Group_free(&all);
  return made;
}

static void post_epoch(struct History* h) {
  struct Random* const random = &h->random;
  const int unchecked = one_in(random, 3) ? MPI_MODE_NOCHECK : 0, asks = one_in(random, 2);
  const int says = one_in(random, 2) && !is_written(h) ? MPI_MODE_NOPUT : 0;
  MPI_Group origins = group_of(h, 1), targets = group_of(h, 0);
  MPI_Win_post(origins, unchecked | says, h->win);
  if (unchecked) MPI_Barrier(h->comm);
  store_own(h);
  MPI_Win_start(targets, unchecked, h->win);
  MPI_Group_free(&targets);
  MPI_Group_free(&origins);
  perform_all(h, -1);
  MPI_Win_complete(h->win);
  int done = 0;
  while (asks && !done) MPI_Win_test(h->win, &done);
  if (!asks) MPI_Win_wait(h->win);
}

static int has_access(const struct History* h, int target) {
  for (int i = 0; i < h->accesses; ++i) {
    if (h->access[i].origin == h->rank && h->access[i].target == target) return 1;
  }
  return (h->number + h->rank + target) % 4 == 0;
}

// MPICH 4.0.2 grants no exclusive lock any more after an MPI_MODE_NOCHECK.
static int unchecked_lock(const struct History* h) {
  return on_margay() && h->epoch_number % 2 == 0 ? MPI_MODE_NOCHECK : 0;
}

static void take_lock(struct History* h, int target) {
  const int exclusive =
      h->locks == kExclusiveLocks || (h->locks == kMixedLocks && (h->rank + target + h->epoch_number) % 2 == 0);
  const int unchecked = h->locks == kSharedLocks ? unchecked_lock(h) : 0;
  MPI_Win_lock(exclusive ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, target, unchecked, h->win);
}

static void give_lock(struct History* h, int target) {
  MPI_Win_unlock(target, h->win);
  settle_all(h, target);
}

// Locks several targets at once. All ranks do so in the order of ranks, which avoids a deadlock.
static void lock_epoch(struct History* h) {
  for (int target = 0; target < h->size; ++target) {
    if (!has_access(h, target)) continue;
    take_lock(h, target);
    if (h->nested) continue;
    perform_all(h, target);
    give_lock(h, target);
  }
  store_own(h);
  if (!h->nested) return;
  perform_all(h, -1);
  for (int target = h->size - 1; target >= 0; --target) {
    if (has_access(h, target)) give_lock(h, target);
  }
}

static void lock_all_epoch(struct History* h) {
  MPI_Win_lock_all(unchecked_lock(h), h->win);
  store_own(h);
  perform_all(h, -1);
  MPI_Win_unlock_all(h->win);
}

// Before the epoch: stores the initial values of accumulates.
static void store_first(struct History* h) {
  const size_t bytes = (size_t)h->member[h->rank].bytes;
  if (passes(h)) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, h->rank, 0, h->win);
  if (bytes > 0) memcpy(h->memory, h->member[h->rank].reference, bytes);
  if (!passes(h)) return;
  MPI_Win_unlock(h->rank, h->win);
  MPI_Barrier(h->comm);
}

// The numbers that all accesses to one slot fetched: each of first, first + 1 and so on once, and those of one rank
// increase.
static void check_tickets(struct History* h, int target, int number, const int64_t* fetched) {
  const struct Slot* const slot = &h->member[target].slot[number];
  int seen[kAccessesMax] = {0}, users = 0, wrong = 0;
  int64_t last[kMembersMax];
  for (int i = 0; i < kMembersMax; ++i) last[i] = -1;
  for (int i = 0; i < h->accesses; ++i) {
    const struct Access* const access = &h->access[i];
    if (access->target != target || access->slot != number) continue;
    const int64_t ticket = fetched[i] - (int64_t)slot->first;
    wrong += ticket < 0 || ticket >= kAccessesMax || seen[ticket]++ > 0 || ticket <= last[access->origin];
    last[access->origin] = ticket;
    ++users;
  }
  for (int i = 0; i < users; ++i) wrong += seen[i] != 1;
  CHECK(wrong == 0,
        "seed %u, window %d (%s), epoch %d (%s): of rank %d's slot %d (role %d, %s) %d of %d tickets are wrong",
        h->seed, h->number, kFlavourNames[h->flavour], h->epoch_number, kEpochNames[h->epoch], target, number,
        slot->role, slot->element->name, wrong, users);
}

// One swap found the first value; all others found the value that it stored.
static void check_election(struct History* h, int target, int number, const int64_t* fetched) {
  const struct Slot* const slot = &h->member[target].slot[number];
  int winners = 0, users = 0, wrong = 0;
  int64_t won = (int64_t)slot->first;
  for (int i = 0; i < h->accesses; ++i) {
    if (h->access[i].target != target || h->access[i].slot != number || fetched[i] != (int64_t)slot->first) continue;
    ++winners;
    won = 2000 + i;
  }
  for (int i = 0; i < h->accesses; ++i) {
    if (h->access[i].target != target || h->access[i].slot != number) continue;
    ++users;
    wrong += fetched[i] != (int64_t)slot->first && fetched[i] != won;
  }
  CHECK(winners == (users > 0) && wrong == 0,
        "seed %u, window %d (%s), epoch %d (%s): rank %d's slot %d (%s) has %d winners of %d swaps, %d see another",
        h->seed, h->number, kFlavourNames[h->flavour], h->epoch_number, kEpochNames[h->epoch], target, number,
        slot->element->name, winners, users, wrong);
  store_integer(slot->element, slot_memory(h, target, number), (uint64_t)won);
}

static void check_numbers(struct History* h) {
  int64_t fetched[kAccessesMax] = {0};
  for (int i = 0; i < h->accesses; ++i) {
    const struct Access* const access = &h->access[i];
    const enum Role role = slot_of(h, access)->role;
    if (access->origin == h->rank && role >= kTickets && role <= kGuarded)
      fetched[i] = (int64_t)load_integer(access->here, access->got.bytes);
  }
  if (h->accesses > 0) MPI_Allreduce(MPI_IN_PLACE, fetched, h->accesses, MPI_INT64_T, MPI_SUM, h->comm);
  for (int target = 0; target < h->size; ++target) {
    for (int number = 0; number < h->member[target].slots; ++number) {
      const enum Role role = h->member[target].slot[number].role;
      if (role == kTickets || role == kGuarded) check_tickets(h, target, number, fetched);
      if (role == kElection) check_election(h, target, number, fetched);
    }
  }
}

static void check_memory(struct History* h) {
  const struct Member* const mine = &h->member[h->rank];
  if (passes(h)) MPI_Win_lock(MPI_LOCK_SHARED, h->rank, 0, h->win);
  for (MPI_Aint at = 0; at < mine->bytes; ++at) {
    if (h->memory[at] == mine->reference[at] || !mine->looked_at[at]) continue;
    const int number = (int)(at / h->slot_bytes);
    CHECK(0, "seed %u, window %d (%s), epoch %d (%s): byte %ld of slot %d (role %d, %s, %s, origin %d) is %d, not %d",
          h->seed, h->number, kFlavourNames[h->flavour], h->epoch_number, kEpochNames[h->epoch],
          (long)(at % h->slot_bytes), number, mine->slot[number].role, mine->slot[number].element->name,
          kOpNames[mine->slot[number].op], mine->slot[number].origin, h->memory[at], mine->reference[at]);
    at = (number + 1) * h->slot_bytes - 1;  // at most one report for each slot
  }
  if (passes(h)) MPI_Win_unlock(h->rank, h->win);
}

static void run_epoch(struct History* h) {
  static void (*const epochs[])(struct History*) = {fence_epoch, post_epoch, lock_epoch, lock_all_epoch};
  draw_epoch(h);
  be_late(h, 1000);
  store_first(h);
  draw_accesses(h);
  be_late(h, 1001);
  epochs[h->epoch](h);
  settle_all(h, -1);
  // Other ranks' locks are released, and their accesses are complete. Other epochs end with this guarantee for this
  // rank's memory, so the check follows without communication.
  if (passes(h)) MPI_Barrier(h->comm);
  int numbers = 0;
  for (int i = 0; i < h->accesses; ++i) numbers |= slot_of(h, &h->access[i])->role == kElection;
  if (numbers) check_numbers(h);
  check_memory(h);
  if (!numbers) check_numbers(h);
  for (int i = 0; i < h->accesses; ++i) free_access(&h->access[i]);
}
