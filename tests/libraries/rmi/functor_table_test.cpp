// Tests of the table of functors and of the identity of a program.
#include "margay/rmi/functor_table.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "margay/rmi/identity.hpp"

namespace margay::rmi {
class RequestView;
}

namespace margay::rmi::test {

struct Visible {};

namespace {

struct Hidden {};

void run(const RequestView& /*request*/, void* /*object*/, ReplySink* /*reply*/) {}

template <class Type>
FunctorEntry entry_of() {
  return {typeid(Type), typeid(Visible), typeid(Visible), &run};
}

template <int Number>
struct Numbered {};

template <int... Number>
std::vector<FunctorEntry*> numbered(std::integer_sequence<int, Number...> /*numbers*/) {
  return {new FunctorEntry(typeid(Numbered<Number>), typeid(Visible), typeid(Visible), &run)...};
}

TEST_CASE("rmi functor table: each functor is found by its hash, and an unknown hash is not found") {
  const std::vector<FunctorEntry*> entries = numbered(std::make_integer_sequence<int, 200>());
  const FunctorTable table(std::vector<const FunctorEntry*>(entries.begin(), entries.end()));
  for (const FunctorEntry* one : entries) {
    CHECK(table.find(one->hash()) == one);
    CHECK(table.find(one->hash() + 1) == nullptr);
    const FunctorEntry* at_once = table.find_at_once(one->hash());
    CHECK((at_once == nullptr || at_once == one));
  }
  CHECK(table.find(0) == nullptr);
  for (const FunctorEntry* one : entries) delete one;
}

TEST_CASE("rmi functor table: the same name twice in one module is refused with its name") {
  const FunctorEntry one = entry_of<Hidden>();
  const FunctorEntry other = entry_of<Hidden>();
  std::string found;
  try {
    const FunctorTable table({&one, &other});
  } catch (const error& refused) {
    found = refused.what();
  }
  CHECK(found.find("two functors have the same name: margay::rmi::test::(anonymous namespace)::Hidden") !=
        std::string::npos);
  const FunctorTable twice({&one, &one});
  CHECK(twice.find(one.hash()) == &one);
}

// A functor that a test may register as a program does.
struct Registered {
  using Object = Visible;
  using Method = int;
  static void execute(const RequestView& /*request*/, void* /*object*/, ReplySink* /*reply*/) {}
};

TEST_CASE("rmi functor table: a functor that is named anywhere is registered before main") {
  check_functors();
  const FunctorEntry& entry = Registration<Registered>::entry();
  REQUIRE(find_functor(entry.hash()) == &entry);
  CHECK(&entry.module() == modules().front());
  CHECK(entry.object() == typeid(Visible));
  CHECK(find_functor(entry.hash() + 1) == nullptr);
}

TEST_CASE("rmi identity: the same program has no difference, others are named") {
  const ProgramIdentity mine = program_identity();
  CHECK(mine.functor_count == all_functors().size());
  CHECK(difference(mine, 0, program_identity(), 1).empty());

  ProgramIdentity other = mine;
  other.program ^= 1;
  const std::string different = difference(mine, 0, other, 3);
  CHECK(different.find("different programs in one job: node 0 runs /") == 0);
  CHECK(different.find("node 3 runs /") != std::string::npos);
  CHECK(different.find(modules().front()->build_id.substr(0, 40)) != std::string::npos);

  other = mine;
  other.functors ^= 1;
  CHECK(difference(mine, 0, other, 3).find("different methods in one job") == 0);
  other.path.fill('x');  // a text without its end
  CHECK(difference(mine, 0, other, 3).size() < 1000);
}

}  // namespace
}  // namespace margay::rmi::test
