// OTF2's functions, loaded from its shared library on demand, so that the command does not depend on it.
#pragma once

#include <otf2/otf2.h>

#include "portals/base/status.hpp"

namespace margay::command {

// Pointers to the functions; all are set after a successful load_otf2().
struct Otf2Library {
  // The archive and its files.
  decltype(&OTF2_Archive_Open) archive_open = nullptr;
  decltype(&OTF2_Archive_Close) archive_close = nullptr;
  decltype(&OTF2_Archive_SetFlushCallbacks) archive_set_flush_callbacks = nullptr;
  decltype(&OTF2_Archive_SetSerialCollectiveCallbacks) archive_set_serial = nullptr;
  decltype(&OTF2_Archive_SetCreator) archive_set_creator = nullptr;
  decltype(&OTF2_Archive_OpenEvtFiles) archive_open_events = nullptr;
  decltype(&OTF2_Archive_CloseEvtFiles) archive_close_events = nullptr;
  decltype(&OTF2_Archive_GetEvtWriter) archive_event_writer = nullptr;
  decltype(&OTF2_Archive_CloseEvtWriter) archive_close_event_writer = nullptr;
  decltype(&OTF2_Archive_OpenDefFiles) archive_open_definitions = nullptr;
  decltype(&OTF2_Archive_CloseDefFiles) archive_close_definitions = nullptr;
  decltype(&OTF2_Archive_GetDefWriter) archive_definition_writer = nullptr;
  decltype(&OTF2_Archive_CloseDefWriter) archive_close_definition_writer = nullptr;
  decltype(&OTF2_Archive_GetGlobalDefWriter) archive_global_writer = nullptr;
  // Global definitions.
  decltype(&OTF2_GlobalDefWriter_WriteClockProperties) write_clock = nullptr;
  decltype(&OTF2_GlobalDefWriter_WriteString) write_string = nullptr;
  decltype(&OTF2_GlobalDefWriter_WriteAttribute) write_attribute = nullptr;
  decltype(&OTF2_GlobalDefWriter_WriteSystemTreeNode) write_node = nullptr;
  decltype(&OTF2_GlobalDefWriter_WriteLocationGroup) write_location_group = nullptr;
  decltype(&OTF2_GlobalDefWriter_WriteLocation) write_location = nullptr;
  decltype(&OTF2_GlobalDefWriter_WriteRegion) write_region = nullptr;
  decltype(&OTF2_GlobalDefWriter_WriteGroup) write_group = nullptr;
  decltype(&OTF2_GlobalDefWriter_WriteComm) write_communicator = nullptr;
  // Attributes of events.
  decltype(&OTF2_AttributeList_New) attributes_new = nullptr;
  decltype(&OTF2_AttributeList_Delete) attributes_delete = nullptr;
  decltype(&OTF2_AttributeList_AddStringRef) attributes_add_string = nullptr;
  // Events.
  decltype(&OTF2_EvtWriter_Enter) enter = nullptr;
  decltype(&OTF2_EvtWriter_Leave) leave = nullptr;
  decltype(&OTF2_EvtWriter_MpiSend) send = nullptr;
  decltype(&OTF2_EvtWriter_MpiRecv) receive = nullptr;
  // Errors.
  decltype(&OTF2_Error_GetDescription) describe_error = nullptr;
  decltype(&OTF2_Error_RegisterCallback) register_error = nullptr;
};

// Loads the library, which stays loaded to the end of the process. Errors: there is no library of the version that this
// program was built for, or a function is missing.
[[nodiscard]] portals::Status load_otf2(Otf2Library& library);

}  // namespace margay::command
