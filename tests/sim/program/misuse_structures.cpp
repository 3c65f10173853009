// The second half of program_misuse: descriptors, regions, entries, lists.
#include "misuse.hpp"

using namespace margay;
using namespace margay::portals;

namespace {

// A message in `heap`.
ArrivedMessage& arrived(Alone& run, DynamicBlock& heap) {
  if (!run.program->table().attach(5, heap, {}).ok() || !run.program->put({.portal = 5}).ok()) std::exit(2);
  if (!run.program->wait_until([&] { return heap.messages() == 1; }).ok()) std::exit(2);
  return *heap.first();
}

// The descriptors of the misused entries.
SingleBlock block(some());
DynamicBlock heap({memory.data() + 64, 1024});

}  // namespace

std::vector<Misuse> of_heaps() {
  return {
      {"heap_crooked", "multiple of 64 bytes",
       [] {
         DynamicBlock heap({memory.data() + 8, 1024});
         return done();
       }},
      {"heap_nowhere", "no address",
       [] {
         DynamicBlock heap({nullptr, 1024});
         return done();
       }},
      {"single_nowhere", "no address",
       [] {
         SingleBlock block({nullptr, 64});
         return done();
       }},
      {"release_twice", "has been released",
       [] {
         Alone run;
         DynamicBlock heap({memory.data() + 64, 1024});
         ArrivedMessage& message = arrived(run, heap);
         heap.release(message);
         heap.release(message);
         return done();
       }},
      {"release_elsewhere", "is not this dynamic block's",
       [] {
         Alone run;
         DynamicBlock heap({memory.data() + 64, 1024});
         DynamicBlock other({memory.data() + 2048, 1024});
         other.release(arrived(run, heap));
         return done();
       }},
      {"unlink_twice", "off the queue already",
       [] {
         Alone run;
         DynamicBlock heap({memory.data() + 64, 1024});
         ArrivedMessage& message = arrived(run, heap);
         heap.unlink(message);
         heap.unlink(message);
         return done();
       }},
  };
}

std::vector<Misuse> of_tables() {
  return {
      {"row_far", "does not have",
       [] {
         std::array<IndependentBuffer, 2> table;
         IndependentBlock(table, Progression::linear).release(2);
         return done();
       }},
      {"row_empty", "holds no message",
       [] {
         std::array<IndependentBuffer, 2> table;
         IndependentBlock(table, Progression::linear).release(1);
         return done();
       }},
      {"rewind_circular", "wraps by itself",
       [] {
         std::array<IndependentBuffer, 2> table;
         IndependentBlock(table, Progression::circular).rewind();
         return done();
       }},
      {"slice_far", "slice()",
       [] {
         static_cast<void>(Region(some()).slice(60, 5));
         return done();
       }},
      {"copy_longer", "shorter than its source",
       [] {
         copy(Region(memory.data(), 4), Region(memory.data() + 64, 5));
         return done();
       }},
  };
}

std::vector<Misuse> of_entries() {
  return {
      {"entry_gone", "declare the list after its entries",
       [] {
         MatchList list;
         MatchEntry entry({}, block, {});
         list.append(entry);
         return done();
       }},
      {"entry_changed", "is changed while it is in a match list",
       [] {
         MatchEntry entry({}, block, {});
         MatchList list;
         list.append(entry);
         entry.set_criteria({.match_bits = 1});
         return done();
       }},
      {"entry_options", "a dynamic block saves the header, or both",
       [] {
         MatchEntry entry({}, heap, {.save = Save::body});
         return done();
       }},
      {"overlay_nothing", "overlays one that has no descriptor",
       [] {
         MatchEntry empty;
         MatchEntry entry;
         entry.overlay(empty, {});
         return done();
       }},
  };
}

std::vector<Misuse> of_lists() {
  return {
      {"append_nothing", "without a descriptor",
       [] {
         MatchEntry entry;
         MatchList list;
         list.append(entry);
         return done();
       }},
      {"append_twice", "in one match list once",
       [] {
         MatchEntry entry({}, block, {});
         MatchList list;
         list.append(entry);
         list.append(entry);
         return done();
       }},
      {"insert_nowhere", "insert_before()",
       [] {
         MatchEntry place({}, block, {});
         MatchEntry entry({}, block, {});
         MatchList list;
         list.adopt(place);
         list.insert_before(place, entry);
         return done();
       }},
      {"remove_foreign", "is not in this match list",
       [] {
         MatchEntry entry({}, block, {});
         MatchList().remove(entry);
         return done();
       }},
      {"activate_foreign", "is not in this match list",
       [] {
         MatchEntry entry({}, block, {});
         MatchList().activate(entry);
         return done();
       }},
      {"next_of_foreign", "is not in this match list",
       [] {
         MatchEntry entry({}, block, {});
         static_cast<void>(MatchList().next(entry));
         return done();
       }},
  };
}
