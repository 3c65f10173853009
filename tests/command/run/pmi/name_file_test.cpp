// Tests of the file by which a job publishes a service: any service has a safe name, and every damage is seen.
#include "command/run/pmi/name_file.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>

namespace margay::command {
namespace {

NameFile sample() {
  return {{4711, 88123456}, "3f0c7a511b2c4d5e", "ocean", "margay-port:1:a:0:b:c"};
}

bool is_equal(const NameFile& one, const NameFile& other) {
  return one.launcher.pid == other.launcher.pid && one.launcher.start_ticks == other.launcher.start_ticks &&
         one.job == other.job && one.service == other.service && one.port == other.port;
}

bool is_safe(const std::string& name) {
  const auto is_safe_letter = [](unsigned char byte) {
    return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           byte == '-' || byte == '_' || byte == '%' || byte == '.';
  };
  return !name.empty() && name.size() <= 255 && name.front() != '.' && std::ranges::all_of(name, is_safe_letter);
}

}  // namespace

TEST_CASE("name file: each service has a safe name of its own") {
  CHECK(name_file_of("my-service_1") == "my-service_1");
  std::set<std::string> names;
  std::set<std::string> services = {
      "",       ".",       "..",     "../x",   "/",      "/etc/passwd", "a/b",
      "a%2fb",  "a%252fb", "key",    ".new-1", "hash.1", "%",           "%25",
      "Ocean",  "ocean",   "ocean ", " ocean", "a\nb",   "\xc3\xa9",    std::string(1, '\0'),
      "hash%2e"};
  for (const std::size_t length : {66, 67, 200, 201, 255, 300, 1024}) {
    services.insert(std::string(length, 'n'));
    services.insert(std::string(length, '/'));
    services.insert(std::string(length - 1, 'n') + "m");
  }
  for (int byte = 0; byte < 256; ++byte) services.insert(std::string(1, static_cast<char>(byte)));
  // A hash's own name as a service.
  services.insert(name_file_of(std::string(300, 'n')));
  for (const std::string& service : services) {
    CAPTURE(service);
    CHECK(is_safe(name_file_of(service)));
    CHECK(name_file_of(service) == name_file_of(service));
    CHECK(names.insert(name_file_of(service)).second);
  }
}

TEST_CASE("name file: what is written is read, for any service and port of one line") {
  for (const std::string& value : {std::string("ocean"), std::string(), std::string("a: b"), std::string("port: x"),
                                   std::string("\xff\x80"), std::string(1024, 's')}) {
    CAPTURE(value);
    NameFile written = sample();
    written.service = value;
    written.port = value;
    NameFile read;
    REQUIRE(parse_name_file(name_file_text(written), read));
    CHECK(is_equal(read, written));
  }
}

TEST_CASE("name file: a value of several lines, or too long, has no text") {
  for (const std::string& value : {std::string("a\nport: evil"), std::string(1, '\0'), std::string("a\x7f"),
                                   std::string(kNameFileBytesMax, 'p')}) {
    NameFile content = sample();
    content.port = value;
    CHECK(name_file_text(content).empty());
  }
}

TEST_CASE("name file: a damaged text is refused, and changes nothing") {
  const std::string good = name_file_text(sample());
  std::set<std::string> bad = {"",
                               "margay-name 2" + good.substr(13),
                               "margay-name 10" + good.substr(13),
                               good + "\n",
                               good + "port: again\n",
                               good + std::string(kNameFileBytesMax, '\n'),
                               std::string(kNameFileBytesMax, '\xff'),
                               "margay-name 1\nlauncher: 0 1\njob: a\nservice: s\nport: p\n",
                               "margay-name 1\nlauncher: -5 1\njob: a\nservice: s\nport: p\n",
                               "margay-name 1\nlauncher: 5\njob: a\nservice: s\nport: p\n",
                               "margay-name 1\nlauncher: 05 1\njob: a\nservice: s\nport: p\n",
                               "margay-name 1\nlauncher: 5 1 2\njob: a\nservice: s\nport: p\n",
                               "margay-name 1\nlauncher: 99999999999 1\njob: a\nservice: s\nport: p\n",
                               "margay-name 1\njob: a\nlauncher: 5 1\nservice: s\nport: p\n",
                               "margay-name 1\nlauncher: 5 1\njob: a\nservice: s\x01\nport: p\n"};
  for (std::size_t length = 0; length < good.size(); ++length) bad.insert(good.substr(0, length));
  for (const std::string& text : bad) {
    CAPTURE(text);
    NameFile read = sample();
    CHECK(!parse_name_file(text, read));
    CHECK(is_equal(read, sample()));
  }
  std::mt19937 random(7);
  for (int round = 0; round < 20000; ++round) {
    std::string text = good;
    text[random() % text.size()] = static_cast<char>(random());
    NameFile read;
    // A text is accepted only if it is the text of its content.
    if (parse_name_file(text, read)) CHECK(name_file_text(read) == text);
  }
}

}  // namespace margay::command
