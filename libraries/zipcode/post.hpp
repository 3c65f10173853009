// The post of a process: letters out, and arrived letters until they are taken. Each function requires that the thread
// is inside (host::Call).
//
// A letter that arrives lies in a heap at portal 40, and the program gets it there: its memory is that of the letter.
// Only if the program keeps many letters, or leaves many unreceived, they are moved to memory of their own, so that the
// heap always has room and no letter holds those of others. A long letter stays with its sender, which sends its
// envelope in a notice, until the receiver takes it.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "libraries/parts/bodies.hpp"
#include "libraries/parts/memory.hpp"
#include "libraries/zipcode/addressees.hpp"
#include "libraries/zipcode/envelope.hpp"
#include "libraries/zipcode/library.hpp"
#include "libraries/zipcode/queues.hpp"

namespace margay::zipcode::core {

// The error of a wait for a process that zip_kill() has ended.
[[nodiscard]] std::string ended_text(portals::Rank rank);

class Post;
// Frees a letter's room in the heap.
struct ReleaseInHeap {
  Post* post = nullptr;
  void operator()(portals::ArrivedMessage* message) const;
};

// A letter, from its envelope on, with its memory. Empty after it was sent or released.
struct Letter {
  std::byte* envelope = nullptr;
  std::size_t bytes = 0;  // the envelope included
  std::uint16_t context = 0, mail_class = 0, stamp = 0;
  // The sender; kAnyRank: the letter was made here.
  portals::Rank source = portals::kAnyRank;
  // One of the two has the bytes.
  parts::Memory memory;
  std::unique_ptr<portals::ArrivedMessage, ReleaseInHeap> in_heap;

  [[nodiscard]] std::byte* body() const { return envelope + stamp; }
  [[nodiscard]] std::size_t length() const { return bytes - stamp; }
};

// The numbers in the envelope of a letter that lies in pieces.
struct Heading {
  std::uint16_t context = 0, mail_class = 0, stamp = 0;
};

// The address of a letter: a process, and the PO Box there.
struct Address {
  portals::Rank rank = 0;
  Bytes box;
  std::uint32_t bits = 0;
};

// The criteria of a receive.
struct Wanted {
  std::uint16_t context = 0, mail_class = 0;
  portals::Rank source = portals::kAnyRank;
  // The PO Box that is compared with the letter's, and the match bits. With is_any_box any PO Box of these bits is
  // accepted.
  Bytes box;
  std::size_t box_bytes = 0;
  std::uint32_t bits = 0, ignore_bits = 0;
  bool is_any_box = false;
};

class Post final : private host::Observer {
 public:
  explicit Post(host::Rank& rank);
  ~Post() override;

  // Attaches the portals. `system`: notified of arrived letters of Zipcode itself.
  [[nodiscard]] portals::Status attach(host::Observer& system);

  // Makes a letter. Throws std::bad_alloc.
  [[nodiscard]] Letter make(std::uint16_t context, std::uint16_t mail_class, std::size_t box_bytes, std::size_t length);
  // Sends a letter, whose PO Box it fills. Never waits.
  void send(Letter letter, const Address& address);

  // Sends a short letter that lies in pieces, envelope and PO Box included, if the wire copies it at once. false:
  // nothing happened. Requires: at most kShortMost bytes.
  [[nodiscard]] bool try_send(const Heading& heading, const portals::Region& letter, const Address& address);

  // Takes the earliest letter that meets the criteria. Empty: there is none yet; a long one is then fetched.
  [[nodiscard]] std::optional<Letter> take(const Wanted& wanted);
  // Waits for it, in a mailer of these members. Throws Error if the sender is lost, or if anyone may be the sender and
  // all other members were ended.
  [[nodiscard]] Letter await(const char* call, const Wanted& wanted, const Group& members);

  // A letter of Zipcode itself.
  void send_system(portals::Rank rank, Tag tag, Bytes body);
  using Accepts = std::function<bool(portals::Rank source, Bytes body)>;
  // Takes the earliest letter with this tag that `accepts` returns true for, which it may copy.
  [[nodiscard]] bool take_system(Tag tag, const Accepts& accepts);
  // Waits for it, from `peer` or, with kAnyRank, from any process.
  void await_system(const char* call, Tag tag, portals::Rank peer, const Accepts& accepts);

  // The process of a place was ended by zip_kill(). A process that was started later and is lost was ended, too: the
  // loss may be found before the letter about it arrives, and the launcher ends the job of one that has crashed.
  void add_ended(portals::Rank place);
  [[nodiscard]] bool has_ended(portals::Rank place) const { return ended_places_.contains(place); }
  [[nodiscard]] const std::set<portals::Rank>& ended_places() const { return ended_places_; }
  // The first member that was ended; kAnyRank: none.
  [[nodiscard]] portals::Rank find_ended(const Group& members) const;

  // The letters of contexts first, first + 2, ... below last that have arrived and were not taken; frees them.
  [[nodiscard]] std::uint64_t count(std::uint32_t first, std::uint32_t last);
  void free_all(std::uint32_t first, std::uint32_t last);
  // Frees every letter that has arrived and was not taken: the portals are about to be detached.
  void free_arrived();
  // Frees what was sent, and ends fetches of letters that are unwanted.
  void sweep();
  // Whether every letter that this process has sent has left it, and no long one is on its way here.
  [[nodiscard]] bool is_idle() const;
  // Whether a letter waits for its wire or its receiver, which needs progress here.
  [[nodiscard]] bool is_behind() const { return !parcels_.empty() || !bodies_.idle(); }

  // Letters to each rank since the beginning, and those that have arrived and ended here, letters of Zipcode itself
  // included.
  [[nodiscard]] const std::vector<std::uint64_t>& sent() const { return sent_; }
  [[nodiscard]] std::uint64_t arrived() const;
  [[nodiscard]] host::Rank& rank() { return rank_; }

 private:
  friend struct ReleaseInHeap;
  // A letter that waits for its wire, at an address that does not change while the host refers to it.
  struct Parcel {
    host::Outgoing message;
    Letter letter;
  };
  // A letter that was moved out of the heap.
  struct Moved {
    portals::Header header;
    std::uint64_t arrival;
    parts::Memory memory;
    std::size_t bytes;
  };
  // A long letter under way. `is_unwanted`: no receive will take it.
  struct Pull {
    portals::Header header;
    std::uint64_t arrival;
    std::vector<std::byte> envelope;
    parts::Fetch* fetch;
    std::size_t bytes;
    bool is_unwanted;
  };
  // A letter that has arrived: in one of the three places.
  struct Found {
    std::uint64_t arrival = ~std::uint64_t{0};
    portals::ArrivedMessage* in_heap = nullptr;
    ArrivalQueues<Moved>::Place moved;
    std::list<Pull>::iterator pull;
    enum class Place : std::uint8_t { none, heap, moved, pull } place = Place::none;
  };
  class Posted;
  // Notified of lost ranks.
  class Losses final : public host::Observer {
   public:
    explicit Losses(Post& post) : post_(post) {}

   private:
    void notify() override { post_.add_losses(); }

    Post& post_;
  };

  void notify() override;
  void add_losses();
  // Whether no member but this process is left.
  [[nodiscard]] bool is_alone(const Group& members) const;
  [[nodiscard]] Found find(const Wanted& wanted);
  [[nodiscard]] portals::ArrivedMessage* find_in_heap(const Wanted& wanted);
  [[nodiscard]] Letter take_short(const portals::Header& header, const Wanted& wanted, Found& found);
  [[nodiscard]] std::optional<Letter> finish(std::list<Pull>::iterator pull, const Wanted& wanted);
  void start_pull(const portals::Header& header, std::uint64_t arrival, Bytes envelope, bool is_unwanted);
  void move_out();
  void refuse(const portals::Header& header);
  void end_letter(Count why);
  void send_notice(Letter letter, portals::Header& header, const Address& address);
  void dispatch(Letter letter, const portals::Header& header, std::size_t bytes);

  host::Rank& rank_;
  parts::Memory heap_memory_, system_memory_;
  portals::DynamicBlock heap_, system_;
  portals::MatchEntry system_entry_, letters_entry_;
  // Declared after its entries, which leave it when it ends.
  portals::MatchList list_;
  parts::Bodies bodies_;
  SendQueues<Parcel> parcels_;
  ArrivalQueues<Moved> moved_;
  std::list<Pull> pulls_;
  std::size_t kept_bytes_ = 0, moved_bytes_ = 0;
  std::vector<std::uint64_t> sent_;
  std::set<portals::Rank> ended_places_;
  Losses losses_{*this};
  std::uint64_t ended_ = 0;
  bool is_attached_ = false;
};

}  // namespace margay::zipcode::core
