// Tests of the independent block: "circular or linear buffer list; save message header only or save both header and
// body; acknowledge sender; read only or write only."
#include "portals/memory/independent_block.hpp"

#include <doctest/doctest.h>

#include <deque>

#include "tests/portals/portals_fixture.hpp"
#include "tests/portals/random.hpp"
#include "tests/support/seeds.hpp"

namespace margay::portals::testing {

TEST_SUITE_BEGIN("portals/memory/independent_block");

using State = IndependentBuffer::State;

namespace {

struct Independent {
  Independent(Progression progression, const Options& options) : block(rows, progression) {
    for (std::size_t row = 0; row < rows.size(); ++row) rows[row].memory = Region(memory.data() + 8 * row, 8);
    REQUIRE(kernel.table.attach(kPortal, block, options).ok());
  }
  Memory memory{24};
  std::array<IndependentBuffer, 3> rows;
  IndependentBlock block;
  Kernel kernel;
};

}  // namespace

TEST_CASE("linear: each row is used once, in order; released rows are used again after rewind") {
  Independent independent(Progression::linear, {});
  for (std::uint32_t row = 0; row < 3; ++row) CHECK(independent.kernel.send(0, "x").row == row);
  CHECK(independent.block.exhausted());
  CHECK(independent.kernel.send(0, "x").reason == DropReason::no_room);
  independent.block.release(1);
  independent.block.release(2);
  CHECK(independent.block.exhausted());
  CHECK(independent.kernel.send(0, "x").reason == DropReason::no_room);
  independent.block.rewind();
  CHECK_FALSE(independent.block.exhausted());
  // Row 0 was never released: its message is still there.
  CHECK(independent.kernel.send(0, "y").row == 1);
  CHECK(independent.kernel.send(0, "z").row == 2);
  CHECK(independent.memory.text().substr(0, 1) == "x");
  CHECK(independent.kernel.send(0, "x").reason == DropReason::no_room);
}

TEST_CASE("circular: the first row follows the last one, once it is released, and no row in use is passed") {
  Independent independent(Progression::circular, {});
  for (std::uint32_t row = 0; row < 3; ++row) CHECK(independent.kernel.send(0, "x").row == row);
  CHECK(independent.kernel.send(0, "x").reason == DropReason::no_room);
  independent.block.release(1);
  CHECK(independent.kernel.send(0, "x").reason == DropReason::no_room);
  independent.block.release(0);
  CHECK(independent.kernel.send(0, "x").row == 0);
  CHECK(independent.kernel.send(0, "x").row == 1);
  CHECK(independent.kernel.send(0, "x").reason == DropReason::no_room);
  independent.block.release(2);
  CHECK(independent.kernel.send(0, "x").row == 2);
}

TEST_CASE("save both: each row has a header, a body and its length") {
  Independent independent(Progression::linear, {});
  CHECK(independent.kernel.send(put(4, 3), "abc").saved == Saved::both);
  CHECK(independent.kernel.send(put(5, 0), "").saved == Saved::both);
  CHECK(independent.rows[0].header == put(4, 3));
  CHECK(independent.rows[0].bytes == 3);
  CHECK(independent.rows[1].header == put(5, 0));
  CHECK(independent.rows[1].bytes == 0);
  CHECK(independent.block.bytes() == 3);
  CHECK(independent.block.messages() == 2);
}

TEST_CASE("save the header only: it uses a row, whatever the body's length, and no body is kept") {
  Independent independent(Progression::linear, {.save = Save::header});
  const Verdict verdict = independent.kernel.send(put(4, 1000));
  CHECK(verdict.saved == Saved::header);
  CHECK(verdict.landing.bytes() == 0);
  CHECK(independent.rows[0].state == State::filled);
  CHECK(independent.rows[0].header == put(4, 1000));
  CHECK(independent.rows[0].bytes == 0);
}

TEST_CASE("too small refers to the available row only: a longer one after it does not count") {
  Independent independent(Progression::linear, {});
  independent.rows[0].memory = Region(independent.memory.data(), 2);
  CHECK(independent.kernel.send(0, "abc").reason == DropReason::too_small);
  CHECK(independent.kernel.send(0, "ab").row == 0);
  CHECK(independent.kernel.send(0, "abc").row == 1);
}

TEST_CASE("read only: each get is answered from the next row and uses it; a put is rejected") {
  Independent independent(Progression::linear, {.direction = Direction::read_only});
  std::memcpy(independent.memory.data(), "row 0...row 1...row 2...", 24);
  CHECK(independent.kernel.send(0, "x").reason == DropReason::read_only);
  for (std::uint32_t row = 0; row < 3; ++row) {
    const Verdict verdict = independent.kernel.send(get(row, 5));
    CHECK(verdict.outcome == Outcome::reply);
    CHECK(verdict.row == row);
    CHECK(text(verdict.landing) == "row " + std::to_string(row));
    CHECK(independent.rows[row].state == State::filled);
    CHECK(independent.rows[row].header == get(row, 5));
  }
  CHECK(independent.kernel.send(get(0, 5)).reason == DropReason::no_room);
  independent.block.release(0);
  independent.block.rewind();
  CHECK(independent.kernel.send(get(0, 9)).reason == DropReason::too_small);
  CHECK(independent.block.messages() == 3);
  CHECK(independent.block.bytes() == 15);
}

TEST_CASE("write only: a get is rejected") {
  Independent independent(Progression::linear, {});
  CHECK(independent.kernel.send(get(0, 1)).reason == DropReason::write_only);
}

TEST_CASE("acknowledge sender: the verdict requests an acknowledgment") {
  Independent independent(Progression::linear, {.acknowledge = true});
  Header header = put(1, 1);
  CHECK_FALSE(independent.kernel.send(header, "a").acknowledge);
  header.return_portal = 0;
  CHECK(independent.kernel.send(header, "a").acknowledge);
}

TEST_CASE("a table without rows never has room") {
  for (const Progression progression : {Progression::linear, Progression::circular}) {
    Kernel kernel;
    IndependentBlock block({}, progression);
    REQUIRE(kernel.table.attach(kPortal, block, {}).ok());
    CHECK(block.exhausted());
    CHECK(kernel.send(0, "").reason == DropReason::no_room);
  }
}

TEST_CASE("a reserved row is neither available nor filled; abandon makes it available") {
  Independent independent(Progression::linear, {});
  const Verdict first = independent.kernel.delivery.decide(put(1, 1));
  const Verdict second = independent.kernel.delivery.decide(put(2, 1));
  CHECK(independent.rows[0].state == State::reserved);
  independent.kernel.delivery.complete(second, put(2, 1));
  CHECK(independent.rows[1].state == State::filled);
  independent.kernel.delivery.abandon(first);
  CHECK(independent.rows[0].state == State::available);
  CHECK(independent.kernel.send(0, "x").row == 0);
  CHECK(independent.kernel.send(0, "x").row == 2);
  CHECK(independent.kernel.send(0, "x").reason == DropReason::no_room);
}

TEST_CASE("rows abandoned out of order are the first available again; released rows are not") {
  Kernel kernel;
  std::array<IndependentBuffer, 5> rows;
  IndependentBlock block(rows, Progression::linear);
  REQUIRE(kernel.table.attach(kPortal, block, {}).ok());
  std::vector<Verdict> verdicts;
  for (int at = 0; at < 4; ++at) verdicts.push_back(kernel.delivery.decide(put(0, 0)));
  kernel.delivery.complete(verdicts[3], put(0, 0));
  block.release(3);
  kernel.delivery.abandon(verdicts[0]);
  kernel.delivery.abandon(verdicts[2]);
  CHECK(kernel.delivery.decide(put(0, 0)).row == 0);
  CHECK(kernel.delivery.decide(put(0, 0)).row == 2);
  CHECK(kernel.delivery.decide(put(0, 0)).row == 4);
  CHECK(block.exhausted());
}

TEST_CASE("rewind begins with the first row, whatever was abandoned before") {
  Independent independent(Progression::linear, {});
  const Verdict first = independent.kernel.delivery.decide(put(0, 0));
  const Verdict second = independent.kernel.delivery.decide(put(0, 0));
  independent.kernel.send(0, "x");
  independent.kernel.delivery.complete(first, put(0, 0));
  independent.kernel.delivery.abandon(second);
  independent.block.release(0);
  independent.block.release(2);
  independent.block.rewind();
  for (std::uint32_t row = 0; row < 3; ++row) CHECK(independent.kernel.send(0, "x").row == row);
  CHECK(independent.block.exhausted());
}

TEST_CASE("circular rows with random messages, releases and lost senders keep their order") {
  // The model: rows are taken in turn; the last one taken may be returned.
  for (const std::uint64_t seed : margay::testing::Seeds(200 / kFewer + 1)) {
    CAPTURE(seed);
    Random random(seed);
    Kernel kernel;
    std::vector<IndependentBuffer> rows(1 + random.below(5));
    IndependentBlock block(rows, Progression::circular);
    REQUIRE(kernel.table.attach(kPortal, block, {}).ok());
    std::deque<Verdict> under_way;
    std::vector<bool> taken(rows.size());
    std::size_t turn = 0;
    for (int at = 0; at < 400; ++at) {
      const std::size_t row = random.below(rows.size());
      switch (random.below(4)) {
        case 0:
        case 1: {
          const Verdict verdict = kernel.delivery.decide(put(0, 0));
          REQUIRE((verdict.outcome == Outcome::deposit) == !taken[turn]);
          if (verdict.outcome == Outcome::drop) break;
          REQUIRE(verdict.row == turn);
          taken[turn] = true;
          turn = (turn + 1) % rows.size();
          under_way.push_back(verdict);
          break;
        }
        case 2:
          if (rows[row].state != State::filled) break;
          block.release(row);
          taken[row] = false;
          break;
        default: {
          if (under_way.empty()) break;
          const std::size_t which = random.below(under_way.size());
          const Verdict verdict = under_way[which];
          under_way.erase(under_way.begin() + static_cast<std::ptrdiff_t>(which));
          if (random.percent(60)) {
            kernel.delivery.complete(verdict, put(0, 0));
          } else {
            kernel.delivery.abandon(verdict);
            taken[verdict.row] = false;
            if ((verdict.row + 1) % rows.size() == turn) turn = verdict.row;
          }
        }
      }
    }
  }
}

TEST_SUITE_END();

}  // namespace margay::portals::testing
