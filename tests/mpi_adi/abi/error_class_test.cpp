#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "mpi_adi/object/error_class.hpp"

namespace margay::mpi_adi {

TEST_CASE("every class has a name and a text; unused numbers have none") {
  int named = 0;
  for (int value = -1; value <= kErrorClassMask; ++value) {
    CHECK(error_class_name(value).empty() == error_class_text(value).empty());
    named += error_class_name(value).empty() ? 0 : 1;
  }
  // 0 to 78 without 54, and five extensions.
  CHECK(named == 83);
  CHECK(error_class_name(MPI_ERR_TRUNCATE) == "MPI_ERR_TRUNCATE");
  CHECK(error_class_name(54).empty());
}

TEST_CASE("a created code keeps its class and message until kKeptSentences newer ones exist") {
  ErrorTable table;
  const int code = table.make(MPI_ERR_TAG, "MPI_Send: tag -5 is negative");
  CHECK(code != MPI_ERR_TAG);
  CHECK(table.class_of(code) == MPI_ERR_TAG);
  CHECK(table.text_of(code) == "MPI_ERR_TAG: MPI_Send: tag -5 is negative");
  for (std::size_t i = 1; i < kKeptSentences; ++i) CHECK(table.make(MPI_ERR_RANK, "another") != code);
  CHECK(table.text_of(code) == "MPI_ERR_TAG: MPI_Send: tag -5 is negative");
  CHECK(table.make(MPI_ERR_RANK, "one more") != code);
  CHECK(table.class_of(code) == MPI_ERR_TAG);
  CHECK(table.text_of(code) == "MPI_ERR_TAG: " + std::string(error_class_text(MPI_ERR_TAG)));
}

TEST_CASE("a plain class is a code with the class's text; success stays success") {
  ErrorTable table;
  CHECK(table.class_of(MPI_ERR_COMM) == MPI_ERR_COMM);
  CHECK(table.text_of(MPI_SUCCESS) == "MPI_SUCCESS: no error");
  CHECK(table.make(MPI_SUCCESS, "never seen") == MPI_SUCCESS);
  CHECK(table.make(MPI_ERR_COMM, {}) == MPI_ERR_COMM);
  CHECK(table.class_of(table.make(54, "no such class")) == MPI_ERR_OTHER);
}

TEST_CASE("values that are not codes are reported as such") {
  const ErrorTable table;
  for (const int value : {-1, 54, 1 << 7, kFirstAddedCode, MPI_ERR_LASTCODE, 79}) {
    CHECK(table.class_of(value) == MPI_ERR_UNKNOWN);
    CHECK_FALSE(table.is_code(value));
    CHECK(table.text_of(value) == std::to_string(value) + " is not an error code of MPI");
  }
  CHECK(table.is_code(MPI_ERR_UNKNOWN));
}

TEST_CASE("a long message is truncated to the length that MPI_Error_string may return") {
  ErrorTable table;
  const std::string text = table.text_of(table.make(MPI_ERR_ARG, std::string(2000, 'x')));
  CHECK(text.size() == MPI_MAX_ERROR_STRING - 1);
  CHECK(text.ends_with("..."));
}

TEST_CASE("serial numbers restart within the range of codes") {
  ErrorTable table;
  int code = 0;
  for (std::uint32_t i = 0; i < kMaxErrorSerial + 2; ++i) code = table.make(MPI_ERR_IO, "x");
  CHECK(code == (MPI_ERR_IO | (2 << kErrorClassBits)));
}

TEST_CASE("a program adds classes, codes and their strings") {
  ErrorTable table;
  CHECK(table.last_used_code() == MPI_ERR_LASTCODE);
  const int own_class = table.add_class();
  CHECK(own_class > MPI_ERR_LASTCODE);
  const int own_code = table.add_code(own_class);
  const int code_of_io = table.add_code(MPI_ERR_IO);
  CHECK(table.last_used_code() == code_of_io);
  CHECK(table.class_of(own_class) == own_class);
  CHECK(table.class_of(own_code) == own_class);
  CHECK(table.class_of(code_of_io) == MPI_ERR_IO);
  CHECK(table.text_of(own_code).empty());
  CHECK(table.set_text(own_code, "the valve is stuck"));
  CHECK(table.text_of(own_code) == "the valve is stuck");
  CHECK_FALSE(table.set_text(MPI_ERR_IO, "mine now"));
  CHECK(table.add_code(own_code) == MPI_ERR_UNKNOWN);
  CHECK(table.add_code(54) == MPI_ERR_UNKNOWN);
}

TEST_CASE("an added class is removed after its codes; neither number is used again") {
  ErrorTable table;
  const int error_class = table.add_class();
  const int code = table.add_code(error_class);
  CHECK(!table.remove(error_class));
  CHECK(table.remove(code));
  CHECK(!table.remove(code));
  CHECK(!table.is_code(code));
  CHECK(table.remove(error_class));
  CHECK(!table.is_code(error_class));
  CHECK(!table.remove(MPI_ERR_TAG));
  CHECK(table.add_class() > code);
}

TEST_CASE("a code of one of the library's classes, or of a class with other codes, is removed alone") {
  ErrorTable table;
  const int error_class = table.add_class();
  const int of_ours = table.add_code(MPI_ERR_IO);
  const int first = table.add_code(error_class);
  const int second = table.add_code(error_class);
  CHECK(table.remove(of_ours));
  CHECK(table.remove(second));
  CHECK_FALSE(table.remove(error_class));
  CHECK(table.class_of(first) == error_class);
  CHECK(table.remove(first));
  CHECK(table.remove(error_class));
  CHECK(table.last_used_code() == second);
}

TEST_CASE("removing a class takes as long with a hundred thousand others as with few") {
  ErrorTable table;
  constexpr int kClasses = 100000;
  const int first = table.add_class();
  for (int i = 1; i < kClasses; ++i) static_cast<void>(table.add_class());
  // One after the other; with a scan of all of them this would take hours.
  for (int i = 0; i < kClasses; ++i) REQUIRE(table.remove(first + i));
}

}  // namespace margay::mpi_adi
