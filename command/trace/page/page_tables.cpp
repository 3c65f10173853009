#include "command/trace/page/page_tables.hpp"

#include <algorithm>
#include <array>

#include "portals/base/header.hpp"

namespace margay::command {

namespace {

// Constructors of columns with the usual value for "not known" of each type: 0, no row, or no time.
constexpr PageColumn u8(std::string_view name, double not_known = 0) {
  return {name, "u8", not_known};
}
constexpr PageColumn u32(std::string_view name) {
  return {name, "u32", 0};
}
constexpr PageColumn i32(std::string_view name) {
  return {name, "i32", kNoRow};
}
// JavaScript's numbers are doubles, so times and lengths are too: exact up to 2^53, in nanoseconds 104 days.
constexpr PageColumn f64(std::string_view name, double not_known = kNoTime) {
  return {name, "f64", not_known};
}

// The columns of each table, in the order in which its writer adds them. A column of texts is a u32, the text's number
// in PageStrings. Number 0, the empty text, also stands for "not known".
constexpr std::array kCallColumns = {u32("rank"),  u8("thread"), u32("name"), u32("site"),
                                     f64("begin"), f64("end"),   u8("depth"), f64("wait", 0)};
constexpr std::array kWaitColumns = {u32("rank"), u8("thread"), f64("begin"), f64("end")};
constexpr std::array kMessageColumns = {u32("source"),
                                        u32("destination"),
                                        u32("sequence"),
                                        u32("way"),
                                        f64("first"),
                                        f64("last"),
                                        f64("sent"),
                                        f64("arrived"),
                                        f64("posted"),
                                        f64("taken"),
                                        f64("received"),
                                        f64("completed"),
                                        f64("held_until"),
                                        f64("probed"),
                                        f64("bytes", 0),
                                        i32("tag"),
                                        u32("what"),
                                        u32("communicator"),
                                        u32("protocol"),
                                        u32("how"),
                                        u32("wire"),
                                        u8("portal", portals::kNoPortal),
                                        u32("portal_name"),
                                        u8("internal"),
                                        u32("walked"),
                                        u32("taker"),
                                        i32("send_call"),
                                        i32("receive_call"),
                                        f64("sender_waited", 0),
                                        f64("receiver_waited", 0),
                                        i32("collective"),
                                        u32("step"),
                                        u8("phase")};
constexpr std::array kHopColumns = {i32("message"), u32("source"), u32("destination"),
                                    u32("kind"),    f64("sent"),   f64("arrived")};
constexpr std::array kPassColumns = {i32("message"), f64("time"), u32("step"), u32("entry"), u32("reason"), u8("link")};
constexpr std::array kEntryColumns = {u32("rank"), u8("portal"), u32("portal_name"), u32("name"),  u32("wanted"),
                                      f64("from"), f64("to"),    f64("since"),       f64("place"), i32("message"),
                                      u8("form"),  u32("heap"),  u8("inactive")};
constexpr std::array kHeapColumns = {u32("rank"),  i32("message"), f64("from"), f64("to"),
                                     f64("bytes"), f64("claimed"), u32("heap")};
constexpr std::array kHeapsColumns = {u32("rank"), u32("number"), f64("bytes")};
constexpr std::array kCollectiveColumns = {u32("rank"),  u32("name"),      u32("communicator"), i32("number"),
                                           f64("start"), u32("algorithm"), f64("bytes", 0),     f64("begin"),
                                           f64("end"),   i32("group"),     i32("call"),         u8("no_part")};
constexpr std::array kLockColumns = {u32("rank"), u32("window"), i32("target"), f64("from"), f64("to")};
constexpr std::array kAccessColumns = {u32("rank"),   u32("target"), u32("what"),  u32("way"),
                                       u32("copies"), u32("window"), u32("epoch"), i32("call"),
                                       f64("begin"),  f64("end"),    f64("bytes"), f64("offset")};
constexpr std::array kLibraryEventColumns = {u32("rank"), f64("time"), u32("text"), i32("call")};

// The names are those in viewer/src/data/tables.js.
constexpr std::array<PageTable, 12> kPageTables = {{{"calls", kCallColumns},
                                                    {"waits", kWaitColumns},
                                                    {"messages", kMessageColumns},
                                                    {"hops", kHopColumns},
                                                    {"passes", kPassColumns},
                                                    {"entries", kEntryColumns},
                                                    {"heap", kHeapColumns},
                                                    {"heaps", kHeapsColumns},
                                                    {"collectives", kCollectiveColumns},
                                                    {"locks", kLockColumns},
                                                    {"accesses", kAccessColumns},
                                                    {"library_events", kLibraryEventColumns}}};

}  // namespace

std::span<const PageTable> page_tables() {
  return kPageTables;
}

const PageTable* page_table(std::string_view name) {
  const auto* const found = std::find_if(kPageTables.begin(), kPageTables.end(),
                                         [name](const PageTable& table) { return table.name == name; });
  return found == kPageTables.end() ? nullptr : found;
}

}  // namespace margay::command
