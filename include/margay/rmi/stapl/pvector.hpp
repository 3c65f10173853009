// The distributed vector of STAPL (paper 004, sections 4 and 5.3). "The user sees a single object; at run-time the
// pContainer creates one sub-pContainer object per node in which to actually store data."
//
// Its methods follow the paper's three patterns (5.3):
//   access         sync_rmi        `x = v[i]`, read(), the copy into a std::vector
//   update         async_rmi       `v[i] = x`, push_back(), write()
//   group update   broadcast_rmi   resize()
// An operation on elements of the calling node makes no request. Updates are complete after the next rmi_fence(), which
// also separates the updates of one node from the accesses of another.
//
//   pvector<int> values(1000, 0);                   // collective: each node stores a part
//   if (get_node_id() == 0) values[999] = 4;        // an update: a request to the last node, its owner
//   rmi_fence();                                    // from here on all nodes read 4
//   const int x = values[999];                      // an access
//   const std::span<int> mine = values.local();     // this node's elements, in place
//
// The requests of the calls, where the elements are on other nodes:
//
//   call                       requests                              waits
//   v[i] = x, push_back        1, asynchronous                       no
//   x = v[i]                   1, synchronous                        for the element
//   read, copy to a vector     1 to each owner, synchronous          for all, at most 64 at once
//   write                      1 to each owner, asynchronous         no
//   resize                     1 to node 0, a broadcast, the moves   no
//   local, parts, size         none                                  no
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <iterator>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "margay/rmi/call.hpp"
#include "margay/rmi/collective.hpp"
#include "margay/rmi/containers.hpp"
#include "margay/rmi/error.hpp"
#include "margay/rmi/object.hpp"
#include "margay/rmi/run.hpp"
#include "margay/rmi/stapl/address_translator.hpp"

namespace margay::rmi {

namespace detail {

// A class with push_back(), such as std::vector, and the type that it appends.
template <class T>
concept Appendable = requires(T& whole, const typename T::value_type& value) {
  whole.push_back(value);
};
// The type of push_back()'s argument where the elements have no push_back(); never constructed.
struct NotAppendable {};
// `type`: what push_back() appends to an element of type T.
template <class T>
struct Appended {
  using type = NotAppendable;
};
template <Appendable T>
struct Appended<T> {
  using type = typename T::value_type;
};

// Reports, at compile time, an element type of which a pvector cannot be made. True if it can.
template <class T>
constexpr bool check_element() {
  constexpr Refusal why = refusal_of_elements<T>();
  static_assert(why == Refusal::none,
                "margay::rmi: the elements of a pvector cannot travel; the next error has the reason");
  check_reason<T, why>();
  static_assert(std::is_copy_constructible_v<T> && std::is_copy_assignable_v<T>,
                "margay::rmi: the elements of a pvector are copied: add a copy constructor and a copy assignment");
  static_assert(!std::is_same_v<T, bool>, "margay::rmi: a pvector of bool has no spans of elements; take char");
  return true;
}

// The monitor of a container, held during an operation on the calling node's elements if a communication thread runs
// the container's methods meanwhile. Otherwise, and inside a method of the container, does nothing.
template <class Container>
class OwnAccess {
 public:
  explicit OwnAccess(const rmi_object<Container>& container)
      : object_(core::here != nullptr && core::here->beside ? core::enter_unless_held("pvector", container.id())
                                                            : core::kNoObject) {}
  ~OwnAccess() {
    if (object_ != core::kNoObject) core::leave_monitor(object_);
  }
  OwnAccess(const OwnAccess&) = delete;
  OwnAccess& operator=(const OwnAccess&) = delete;

 private:
  const std::uint32_t object_;
};

}  // namespace detail

// A vector of `size` elements in parts of equal size, one on each node, in the order of nodes.
//
// - Elements: copyable, and able to travel (travel.hpp); otherwise a compile-time error gives the reason.
// - Threads: those of RMI, one a node. Beside a communication thread, each operation holds the pvector's monitor while
//   it uses this node's elements. local() and pRange::local() do not: the program holds an rmi_monitor of the pvector
//   while it uses elements that other nodes may update.
// - Ownership: each node owns its part. Neither copied nor moved, because requests name it by its address. It ends when
//   no request for it is on its way: after a fence, or after stop().
// - Errors: an index out of range throws `error` before anything is sent ("pvector::operator[]: invalid index 12; the
//   size is 10"). An error at an owner is thrown as RMI does: by the next fence after an update, at once by an access.
// - Consistency: a node's later accesses see its own updates, because requests of one node to another are in order.
//   Other nodes see them after a fence.
template <class T>
class pvector {
  static_assert(detail::check_element<T>());

 public:
  using value_type = T;
  // What push_back() appends to an element.
  using appended_type = typename detail::Appended<T>::type;

  // An element of a pvector that is not const: assignment is an update, conversion to T an access. It refers to the
  // pvector; `auto x = v[i]` copies this reference, not the element.
  class reference {
   public:
    // For pvector::operator[], which has checked the index. Valid as long as the pvector.
    reference(pvector& whole, std::size_t index) : whole_(&whole), index_(index) {}
    reference(const reference&) = default;
    ~reference() = default;

    // See pvector::operator[] const.
    operator T() const { return std::as_const(*whole_)[index_]; }
    // Without a wait: at most one asynchronous request.
    reference& operator=(const T& value) {
      whole_->set(index_, value);
      return *this;
    }
    // Copies the element.
    reference& operator=(const reference& other) { return *this = static_cast<T>(other); }
    // See pvector::push_back(). The paper's footnote 3 asks for it.
    void push_back(const appended_type& value) requires detail::Appendable<T> { whole_->push_back(index_, value); }

   private:
    pvector* whole_;
    std::size_t index_;
  };

  // Collective, outside of a method: all nodes give the same size. Each node makes its part, of copies of `initial`.
  // Cost: a registration, which ends with a barrier, so that each part is there when the first node returns.
  explicit pvector(std::size_t size = 0, const T& initial = T())
      : parts_(size, get_num_nodes()),
        node_(get_node_id()),
        own_(parts_.part_of(node_)),
        mine_(own_.count, initial),
        handle_(*this) {}
  // Local. Before it, a fence ends the requests of other nodes.
  ~pvector() = default;
  pvector(const pvector&) = delete;
  pvector& operator=(const pvector&) = delete;

  // The number of elements of all nodes, from this node's copy: between a resize() and a fence, nodes may differ.
  [[nodiscard]] std::size_t size() const {
    const OwnAccess access(handle_);
    return parts_.size();
  }
  // The nodes of the elements. Valid until a resize().
  [[nodiscard]] const address_translator& parts() const { return parts_; }
  // The elements of this node, in place. Valid until a resize(). No monitor protects them: the program uses them where
  // no request for them can run, as outside of calls of RMI with explicit polling.
  [[nodiscard]] std::span<T> local() { return mine_; }
  [[nodiscard]] std::span<const T> local() const { return mine_; }

  // An access (paper, 4): a copy of the element. One synchronous request, none if it is local. Throws `error` for an
  // index out of range, and as sync_rmi().
  [[nodiscard]] T operator[](std::size_t index) const {
    int owner = 0;
    {
      const OwnAccess access(handle_);
      const location at = locate("operator[]", index);
      if (at.node == node_) return mine_[at.offset];
      owner = at.node;
    }
    return sync_rmi(owner, handle_, method<&pvector::element>, index);
  }
  // An element to read or write. Checks the index; makes no request by itself.
  [[nodiscard]] reference operator[](std::size_t index) {
    const OwnAccess access(handle_);
    static_cast<void>(locate("operator[]", index));
    return {*this, index};
  }
  // An update: appends to the element `index`, which is a container. At most one asynchronous request. As a method of
  // async_rmi() it is the one of the paper's sample sort (4, line 17).
  void push_back(std::size_t index, const appended_type& value) requires detail::Appendable<T> {
    const int owner = update("push_back", index, [&](T& element) { element.push_back(value); });
    if (owner != node_) async_rmi(owner, handle_, method<&pvector::push_back>, index, value);
  }

  // Copies of `count` elements from `first`. One synchronous request to each owner, up to 64 at once, so that it takes
  // the time of a few. Throws `error` for a range that is out of bounds, and if a resize without a fence has moved
  // elements.
  [[nodiscard]] std::vector<T> read(std::size_t first, std::size_t count) const {
    std::vector<subrange> pieces;
    parts_for("read", first, count).for_each_part(first, count, [&](const subrange& piece) {
      pieces.push_back(piece);
    });
    std::deque<rmi_handle<std::vector<T>>> asked;
    std::vector<T> values;
    values.reserve(count);
    auto next = pieces.begin();
    for (const subrange& piece : pieces) {
      for (; next != pieces.end() && asked.size() < kAskedMost; ++next) {
        if (next->node == node_) continue;
        asked.push_back(
            sync_rmi_nonblocking(next->node, handle_, method<&pvector::elements>, next->first, next->count));
      }
      append(values, piece, asked);
    }
    return values;
  }
  // All elements. The paper's "splitter privatization" (4, line 13): std::vector<int> splitters(global_splitters).
  explicit operator std::vector<T>() const { return read(0, size()); }

  // An update of values.size() elements from `first`. One asynchronous request to each owner, which has copies of them;
  // the own elements are copied at once. Throws `error` for a range that is out of bounds.
  void write(std::size_t first, std::span<const T> values) {
    const address_translator parts = parts_for("write", first, values.size());
    parts.for_each_part(first, values.size(), [&](const subrange& piece) {
      const std::span<const T> theirs = values.subspan(piece.first - first, piece.count);
      if (piece.node != node_) {
        async_rmi(piece.node, handle_, method<&pvector::write>, piece.first, theirs);
        return;
      }
      const OwnAccess access(handle_);
      std::copy(theirs.begin(), theirs.end(), stored(piece.first, piece.count).begin());
    });
  }

  // A group update: changes the number of elements, and moves elements so that parts have equal sizes again. Not
  // collective. Complete after the next fence; between the two, elements have any of their values, but other resizes
  // may be called: they take effect in one order, that of their arrival on node 0.
  //
  // Kept elements keep their index; new ones are copies of `initial`. Invalidates local(), parts() and ranges. One
  // request to node 0, a broadcast, and one request from each node to each that stores elements of it from then on: at
  // most two if the vector grows.
  void resize(std::size_t size, const T& initial = T()) {
    async_rmi(0, handle_, method<&pvector::order_resize>, size, initial);
  }

 private:
  using OwnAccess = detail::OwnAccess<pvector>;
  // At most so many results of read() are awaited at once, below RMI's own limit.
  static constexpr std::size_t kAskedMost = 64;

  // Invariants of resizes:
  // 1. All nodes begin the same resizes in the same order, which is node 0's. `resizes_` counts those begun here.
  // 2. A resize begins only when no element of the one before is missing, so each moves complete parts.
  // 3. Moved elements have the number of their resize. Those of a resize that has not begun here are kept in `moved_`.

  // A resize that has been ordered: its size in elements, and the value of new ones.
  struct Resize {
    std::size_t size;
    T initial;
  };
  // Elements that a resize has moved to this node; they may arrive before it.
  struct Moved {
    std::size_t resize;
    std::size_t first;
    std::vector<T> values;
  };

  // The place of an element. Throws `error` for an index that is out of range, in the name of the caller's call.
  // Requires: OwnAccess.
  [[nodiscard]] location locate(const char* call, std::size_t index) const {
    if (index >= parts_.size()) [[unlikely]] {
      fail(std::string("pvector::") + call + ": invalid index " + std::to_string(index) + "; the size is " +
           std::to_string(parts_.size()));
    }
    // Most accesses are local; find() divides.
    if (index - own_.first < own_.count) return {node_, index - own_.first};
    return parts_.find(index);
  }
  // Calls change(element) if this node stores the element. Returns its node.
  template <class Change>
  int update(const char* call, std::size_t index, Change&& change) {
    const OwnAccess access(handle_);
    const location at = locate(call, index);
    if (at.node == node_) change(mine_[at.offset]);
    return at.node;
  }
  // The nodes of `count` elements from `first`: a copy, because a resize may change the member while the caller sends.
  // Throws `error` for a range that is out of bounds, in the name of the caller's call. The comparison cannot overflow.
  [[nodiscard]] address_translator parts_for(const char* call, std::size_t first, std::size_t count) const {
    const OwnAccess access(handle_);
    if (first <= parts_.size() && count <= parts_.size() - first) [[likely]]
      return parts_;
    fail(std::string("pvector::") + call + ": invalid range of " + std::to_string(count) + " elements from index " +
         std::to_string(first) + "; the size is " + std::to_string(parts_.size()));
  }
  // `count` elements from `first`, in place. Throws `error` if this node does not store them: the caller's indices are
  // checked before, those of requests are not.
  [[nodiscard]] std::span<T> stored(std::size_t first, std::size_t count) {
    return local().subspan(offset_of(first, count), count);
  }
  [[nodiscard]] std::span<const T> stored(std::size_t first, std::size_t count) const {
    return local().subspan(offset_of(first, count), count);
  }
  // The offset of element `first` in this node's part. Throws as stored().
  [[nodiscard]] std::size_t offset_of(std::size_t first, std::size_t count) const {
    if (first < own_.first || first > own_.end() || count > own_.end() - first)
      fail("pvector: elements have moved to another node because of a resize; add a fence between resize and access");
    return first - own_.first;
  }

  // The next piece of read(): from this node, or from the first request.
  void append(std::vector<T>& values, const subrange& piece, std::deque<rmi_handle<std::vector<T>>>& asked) const {
    if (piece.node == node_) {
      const OwnAccess access(handle_);
      const std::span<const T> mine = stored(piece.first, piece.count);
      values.insert(values.end(), mine.begin(), mine.end());
      return;
    }
    std::vector<T> theirs = asked.front().wait();
    asked.pop_front();
    std::move(theirs.begin(), theirs.end(), std::back_inserter(values));
  }

  // --- Requests. Updates are methods of their own requests: an owner that has resized meanwhile passes them on. ---

  // Method of an assignment, and the assignment itself.
  void set(std::size_t index, const T& value) {
    const int owner = update("operator[]", index, [&](T& element) { element = value; });
    if (owner != node_) async_rmi(owner, handle_, method<&pvector::set>, index, value);
  }
  // The methods of accesses. Copies leave the node, because results travel by value.
  [[nodiscard]] const T& element(std::size_t index) const { return stored(index, 1)[0]; }
  [[nodiscard]] std::vector<T> elements(std::size_t first, std::size_t count) const {
    const std::span<const T> asked = stored(first, count);
    return {asked.begin(), asked.end()};
  }

  // On node 0: broadcasts have an order only if one node sends them.
  void order_resize(std::size_t size, const T& initial) {
    broadcast_rmi(handle_, method<&pvector::queue_resize>, size, initial);
  }
  // On each node, in the order in which node 0 ordered them. A resize waits for the moved elements of the one before.
  void queue_resize(std::size_t size, const T& initial) {
    queued_.push_back({size, initial});
    continue_resizes();
  }
  // Takes the elements that have arrived for the last resize, and begins the next one when none are missing.
  void continue_resizes() {
    for (;;) {
      std::erase_if(moved_, [this](const Moved& moved) {
        if (moved.resize != resizes_) return false;
        std::copy(moved.values.begin(), moved.values.end(), stored(moved.first, moved.values.size()).begin());
        missing_ -= moved.values.size();
        return true;
      });
      if (missing_ != 0 || queued_.empty()) return;
      const Resize next = std::move(queued_.front());
      queued_.pop_front();
      ++resizes_;
      move_elements(next);
    }
  }
  // Sends the elements that other nodes store from now on, and makes room for those that come.
  void move_elements(const Resize& next) {
    const address_translator parts(next.size, parts_.nodes());
    const subrange own = parts.part_of(node_);
    const std::size_t left = std::min(parts_.size(), next.size);
    std::vector<T> mine(own.count, next.initial);
    missing_ = parts.part_of(node_, 0, left).count;
    const subrange before = parts_.part_of(node_, 0, left);
    parts.for_each_part(before.first, before.count, [&](const subrange& piece) {
      const std::span<T> elements = stored(piece.first, piece.count);
      if (piece.node != node_) {
        async_rmi(piece.node, handle_, method<&pvector::take_moved>, resizes_, piece.first, elements);
        return;
      }
      std::move(elements.begin(), elements.end(), mine.begin() + static_cast<std::ptrdiff_t>(piece.first - own.first));
      missing_ -= piece.count;
    });
    mine_.swap(mine);
    parts_ = parts;
    own_ = own;
  }
  // Elements of a resize of another node, which may be ahead: those of a resize that has not begun here are kept.
  void take_moved(std::size_t resize, std::size_t first, std::span<const T> values) {
    moved_.push_back({resize, first, {values.begin(), values.end()}});
    continue_resizes();
  }

  // The parts of all nodes, and this node's number.
  address_translator parts_;
  int node_;
  // This node's part: its indices, its elements.
  subrange own_;
  std::vector<T> mine_;
  // The number of resizes that have begun here, and those that have not.
  std::size_t resizes_ = 0;
  std::deque<Resize> queued_;
  // Elements of the last resize that are to arrive; arrived ones of later resizes.
  std::size_t missing_ = 0;
  std::vector<Moved> moved_;
  // The last member: requests arrive from its construction on.
  rmi_object<pvector> handle_;
};

}  // namespace margay::rmi
