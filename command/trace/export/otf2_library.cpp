#include "command/trace/export/otf2_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>

namespace margay::command {

namespace {

// Debian's name, and OTF2's own. The number is that of OTF2 3.0's interface.
constexpr std::array kOtf2Names = {"libopen-trace-format2.so.10", "libotf2.so.10"};

// Looks up functions and remembers the first missing one.
class FunctionFinder {
 public:
  explicit FunctionFinder(void* library) : library_(library) {}
  template <typename Function>
  void find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(library_, name));
    // One name suffices for the message: another version of OTF2 usually lacks several.
    if (function == nullptr && missing_ == nullptr) missing_ = name;
  }
  [[nodiscard]] const char* missing() const { return missing_; }

 private:
  void* library_;
  const char* missing_ = nullptr;
};

void find_archive(FunctionFinder& finder, Otf2Library& library) {
  finder.find(library.archive_open, "OTF2_Archive_Open");
  finder.find(library.archive_close, "OTF2_Archive_Close");
  finder.find(library.archive_set_flush_callbacks, "OTF2_Archive_SetFlushCallbacks");
  finder.find(library.archive_set_serial, "OTF2_Archive_SetSerialCollectiveCallbacks");
  finder.find(library.archive_set_creator, "OTF2_Archive_SetCreator");
  finder.find(library.archive_open_events, "OTF2_Archive_OpenEvtFiles");
  finder.find(library.archive_close_events, "OTF2_Archive_CloseEvtFiles");
  finder.find(library.archive_event_writer, "OTF2_Archive_GetEvtWriter");
  finder.find(library.archive_close_event_writer, "OTF2_Archive_CloseEvtWriter");
  finder.find(library.archive_open_definitions, "OTF2_Archive_OpenDefFiles");
  finder.find(library.archive_close_definitions, "OTF2_Archive_CloseDefFiles");
  finder.find(library.archive_definition_writer, "OTF2_Archive_GetDefWriter");
  finder.find(library.archive_close_definition_writer, "OTF2_Archive_CloseDefWriter");
  finder.find(library.archive_global_writer, "OTF2_Archive_GetGlobalDefWriter");
  finder.find(library.describe_error, "OTF2_Error_GetDescription");
  finder.find(library.register_error, "OTF2_Error_RegisterCallback");
}

void find_records(FunctionFinder& finder, Otf2Library& library) {
  finder.find(library.write_clock, "OTF2_GlobalDefWriter_WriteClockProperties");
  finder.find(library.write_string, "OTF2_GlobalDefWriter_WriteString");
  finder.find(library.write_attribute, "OTF2_GlobalDefWriter_WriteAttribute");
  finder.find(library.write_node, "OTF2_GlobalDefWriter_WriteSystemTreeNode");
  finder.find(library.write_location_group, "OTF2_GlobalDefWriter_WriteLocationGroup");
  finder.find(library.write_location, "OTF2_GlobalDefWriter_WriteLocation");
  finder.find(library.write_region, "OTF2_GlobalDefWriter_WriteRegion");
  finder.find(library.write_group, "OTF2_GlobalDefWriter_WriteGroup");
  finder.find(library.write_communicator, "OTF2_GlobalDefWriter_WriteComm");
  finder.find(library.attributes_new, "OTF2_AttributeList_New");
  finder.find(library.attributes_delete, "OTF2_AttributeList_Delete");
  finder.find(library.attributes_add_string, "OTF2_AttributeList_AddStringRef");
  finder.find(library.enter, "OTF2_EvtWriter_Enter");
  finder.find(library.leave, "OTF2_EvtWriter_Leave");
  finder.find(library.send, "OTF2_EvtWriter_MpiSend");
  finder.find(library.receive, "OTF2_EvtWriter_MpiRecv");
}

}  // namespace

// The first name that loads is used; a wrong version lacks a function.
portals::Status load_otf2(Otf2Library& library) {
  void* handle = nullptr;
  for (const char* const name : kOtf2Names) {
    // RTLD_LOCAL keeps OTF2's symbols from those of other libraries. The library is never closed: the functions are
    // used until the process ends.
    if (handle == nullptr) handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  }
  if (handle == nullptr) {
    return portals::Status::error(fmt::format(
        "trace: OTF2's library {} is not on this machine (Debian: libopen-trace-format2-10); install it, or "
        "choose another --format",
        kOtf2Names[0]));
  }
  FunctionFinder finder(handle);
  find_archive(finder, library);
  find_records(finder, library);
  if (finder.missing() == nullptr) return {};
  return portals::Status::error(
      fmt::format("trace: OTF2's library has no {}: it is another version than this margay was "
                  "built for; build it again, or choose another --format",
                  finder.missing()));
}

}  // namespace margay::command
