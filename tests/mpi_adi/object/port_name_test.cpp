// Tests of the text of port names: what is written is read again, and any other text is an error with its reason.
#include "mpi_adi/object/port_name.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace margay::mpi_adi {

namespace {

const PortName kName{0x00c0'ffee'00c0'ffee, 3, 0x0123'4567'89ab'cdef, "127.0.0.1,41234"};

// The reason why a text is no port name; empty if it is one.
std::string reason(const std::string& text) {
  PortName name;
  return parse_port_name(text, name).sentence();
}

}  // namespace

TEST_CASE("port name: a text is read again as the same name") {
  constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();
  const PortName longest{kAll, 0xffff'ffff, kAll, std::string(kPortAddressBytesMax, 'f')};
  for (const PortName& name : {kName, PortName{}, longest, PortName{1, 65'536, kAll - 1, "fe80::1%eth0,65535"}}) {
    PortName read{7, 7, 7, "7"};
    const std::string text = port_name_text(name);
    CHECK_MESSAGE(parse_port_name(text, read).ok(), text);
    CHECK(read == name);
    CHECK(text.size() <= kPortNameBytesMax);
    CHECK_EQ(text.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyz:.,%-"), std::string::npos);
  }
  CHECK_EQ(port_name_text(longest).size(), kPortNameBytesMax);
  CHECK_EQ(port_name_text(kName).substr(0, 66), "margay-port:2:00c0ffee00c0ffee:3:0123456789abcdef:127.0.0.1,41234:");
  CHECK_EQ(port_name_text({1, 2, 3, {}}).substr(49, 3), ":-:");
}

TEST_CASE("port name: an address is made of a TCP wire's card, and back") {
  struct Row {
    std::string card;
    std::string address;
  };
  for (const Row& row : std::vector<Row>{{"tcp#127.0.0.1:41234", "127.0.0.1,41234"}, {"tcp#[::1]:9", "::1,9"}}) {
    CHECK_EQ(port_address_of_card(row.card), row.address);
    CHECK_EQ(card_of_port_address(row.address), row.card);
  }
  for (const char* const card : {"", "udp#127.0.0.1:1", "tcp#127.0.0.1", "tcp#a b:1", "tcp#;:1"}) {
    CHECK_EQ(port_address_of_card(card), "");
  }
  CHECK_EQ(card_of_port_address("127.0.0.1"), "");
}

TEST_CASE("port name: each damaged byte, and each truncation, is an error") {
  const std::string text = port_name_text(kName);
  for (std::size_t at = 0; at < text.size(); ++at) {
    CHECK_NE(reason(text.substr(0, at)), "");
    for (const char other : {'0', '1', 'f', 'F', ':', ' ', '\n', '\0', '\x80', 'x'}) {
      std::string damaged = text;
      if (damaged[at] == other) continue;
      damaged[at] = other;
      CHECK_MESSAGE(!reason(damaged).empty(), damaged);
    }
  }
  for (const char* const more : {":", "0", " ", ":00000000", "\n"}) CHECK_NE(reason(text + more), "");
}

TEST_CASE("port name: foreign texts are errors, with the reason") {
  struct Row {
    std::string text;
    const char* reason;
  };
  const std::vector<Row> rows{
      {"", "is not a name that margay's MPI_Open_port made"},
      {"nowhere", "is not a name"},
      {"tag#0$description#host$port#40000$ifname#127.0.0.1$", "is not a name"},
      {"Margay-port:1:", "is not a name"},
      {"margay-port", "is not a name"},
      {"margay-port:", "is truncated"},
      {"margay-port:2", "is truncated"},
      {"margay-port:2:00c0ffee00c0ffee:3:0123456789abcdef", "is truncated"},
      {"margay-port:1:00c0ffee00c0ffee:3:0123456789abcdef:00000000", "another version of margay"},
      {"margay-port:3:00c0ffee00c0ffee:3:0123456789abcdef:-:00000000", "another version of margay"},
      {"margay-port:2:00c0ffee00c0ffee:3:0123456789abcdef:-:00000000", "is damaged"},
      {"margay-port:2:00c0ffee00c0ffee:-3:0123456789abcdef:-:00000000", "is damaged"},
      {"margay-port:2:00c0ffee00c0ffee:4294967296:0123456789abcdef:-:00000000", "is damaged"},
      {"margay-port:2:00c0ffee00c0ffee:3:0123456789abcdef:$(id):00000000", "is damaged"},
      {"margay-port:2:::::::::", "is damaged"},
      {"margay-port:2:C0FFEE:3:0:-:0", "is damaged"},
      {std::string(100'000, 'x'), "is not a name"},
      {"margay-port:2:" + std::string(100'000, ':'), "is damaged"},
  };
  for (const Row& row : rows) {
    const std::string found = reason(row.text);
    CHECK_MESSAGE(found.find(row.reason) != std::string::npos, found);
    CHECK(found.size() < 200);
  }
  // Foreign bytes do not reach the terminal.
  CHECK_EQ(reason("\033[31m\n\x80").find_first_of("\033\n\x80"), std::string::npos);
}

}  // namespace margay::mpi_adi
