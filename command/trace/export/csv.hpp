// Tables as values between commas (RFC 4180), with a line of names first.
#pragma once

#include <ostream>
#include <string_view>
#include <vector>

#include "command/trace/export/timeline.hpp"

namespace margay::command {

// Times are microseconds since the trace's first event. A field that an event or a message does not have is empty.
void write_events_csv(const ExportSource& source, std::ostream& out);
void write_messages_csv(const ExportSource& source, const std::vector<MessageStory>& stories, std::ostream& out);
void write_calls_csv(const ExportSource& source, std::ostream& out);

// A field, in quotes where it needs them.
[[nodiscard]] std::string csv_field(std::string_view text);

}  // namespace margay::command
