// Tests of the word that stands for a service's name in a PMI line: one word, a field of its own, and a different word
// for each name.
#include "mpi/dynamic/service_name.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "sim/boot/pmi_message.hpp"

namespace margay::mpi {

TEST_CASE("service name: plain names are unchanged") {
  for (const char* const name : {"ocean", "my-service_1.2", "a/b:c#d$e", "~"}) CHECK_EQ(service_word(name), name);
}

TEST_CASE("service name: bytes that would end a word or a field are written as numbers") {
  CHECK_EQ(service_word("my service"), "my%20service");
  CHECK_EQ(service_word("a=b"), "a%3db");
  CHECK_EQ(service_word("100%"), "100%25");
  CHECK_EQ(service_word("\n\t\x7f\x80\xff"), "%0a%09%7f%80%ff");
  CHECK_EQ(service_word("ocean port=evil"), "ocean%20port%3devil");
}

TEST_CASE("service name: each name of one byte, and of the longest, is one field of a PMI line") {
  std::set<std::string> words;
  for (int byte = 1; byte < 256; ++byte) {
    const std::string word = service_word(std::string(1, static_cast<char>(byte)));
    CHECK(words.insert(word).second);
    sim::PmiMessage line;
    REQUIRE(sim::PmiMessage::parse("cmd=publish_name service=" + word + " port=p", line).ok());
    CHECK_EQ(line.text("service"), word);
    CHECK_EQ(line.text("port"), "p");
  }
  CHECK(service_word(std::string(kServiceNameBytesMax, '\n')).size() <= sim::kMaxPmiValue);
}

}  // namespace margay::mpi
