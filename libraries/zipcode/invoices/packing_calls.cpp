// Packing, unpacking and packed messages: sections 4.5.1 and 4.5.2.
#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "libraries/zipcode/class_call.hpp"
#include "libraries/zipcode/invoices/invoice_layout.hpp"
#include "libraries/zipcode/invoices/packed_call.hpp"
#include "libraries/zipcode/invoices/packing.hpp"

namespace margay::zipcode::core {

void record_packed(Session& session, std::uint64_t bytes, std::uint32_t copies) {
  if (session.rank.recording()) session.rank.record({.number = kPacks, .bytes = bytes, .a = copies});
}

int unpack_from(Session& session, const Zip_Invoice& invoice, Conversion conversion, std::span<const std::byte> space) {
  std::uint64_t bytes = 0;
  run_methods(session, invoice, [&] { return unpack(invoice, conversion, space, bytes); });
  return as_int(bytes);
}

namespace {

std::byte* bytes_of(char* memory) {
  return reinterpret_cast<std::byte*>(memory);
}

int pack_into(Session& session, const Zip_Invoice& invoice, Conversion conversion, std::span<std::byte> space,
              bool is_new) {
  std::uint64_t bytes = 0;
  run_methods(session, invoice, [&] { return pack(invoice, conversion, space, is_new, bytes); });
  record_packed(session, bytes, 1);
  return as_int(bytes);
}

// The size of the invoice, for memory that is made for it.
std::size_t size_of(Session& session, const Zip_Invoice& invoice, Conversion conversion) {
  std::uint64_t bytes = 0;
  run_methods(session, invoice, [&] { return packed_size(invoice, conversion, bytes); });
  return static_cast<std::size_t>(as_int(bytes));
}

}  // namespace

FreedMemory pack_new(Session& session, const Zip_Invoice& invoice, Conversion conversion, int& bytes) {
  const std::size_t size = size_of(session, invoice, conversion);
  FreedMemory made(static_cast<char*>(std::malloc(size == 0 ? 1 : size)));
  if (made == nullptr) throw std::bad_alloc();
  bytes = pack_into(session, invoice, conversion, {bytes_of(made.get()), size}, true);
  return made;
}

namespace {

int pack_buffer(Session& session, const Zip_Invoice& invoice, Conversion conversion, char** ptr, int len) {
  if (*ptr != nullptr) {
    if (len < 0) fail("the buffer has " + std::to_string(len) + " bytes; pass its length");
    return pack_into(session, invoice, conversion, {bytes_of(*ptr), static_cast<std::size_t>(len)}, false);
  }
  if (len != ZIP_IGNORE) fail("the buffer is NULL, but its length is not ZIP_IGNORE");
  int bytes = 0;
  *ptr = pack_new(session, invoice, conversion, bytes).release();
  return bytes;
}

// A letter that is filled by the invoice.
Letter packed_letter(Session& session, ZIP_MAILER* mailer, const Zip_Invoice& invoice) {
  const Conversion conversion = conversion_of(session.open_mailer(mailer));
  const std::size_t size = size_of(session, invoice, conversion);
  Letter letter = new_letter(session, session.open_mailer(mailer), as_int(size));
  static_cast<void>(pack_into(session, invoice, conversion, {letter.body(), size}, true));
  return letter;
}

int pack_letter(Session& session, ZIP_MAILER* mailer, const Zip_Invoice& invoice, char** ptr, int len) {
  if (len != ZIP_IGNORE) fail("the length of a letter is known; pass ZIP_IGNORE, and not " + std::to_string(len));
  const ZIP_MAILER& open = session.open_mailer(mailer);
  if (*ptr != nullptr) {
    const Letter& letter = session.find_letter(&open, *ptr);
    return pack_into(session, invoice, conversion_of(open), {letter.body(), letter.length()}, false);
  }
  Letter letter = packed_letter(session, mailer, invoice);
  const int bytes = static_cast<int>(letter.length());
  *ptr = session.hand_out(std::move(letter));
  return bytes;
}

// The bytes of a buffer whose length is not known.
constexpr std::size_t kTrusted = std::numeric_limits<std::size_t>::max() / 4;

// Sends the invoice from where its variables lie: an envelope and the layout of the body, which the wire copies at
// once. Returns false if it cannot; nothing has happened then.
bool send_gathered(Session& session, ZIP_MAILER& mailer, const Zip_Invoice& invoice, const Destination& to) {
  const Conversion conversion = conversion_of(mailer);
  if (conversion != Conversion::native || invoice.has_user_types()) return false;
  std::vector<Piece> pieces;
  std::uint64_t bytes = 0;
  if (std::string error = resolve(invoice, conversion, pieces, bytes); !error.empty()) fail(error);
  std::array<std::byte, stamp_of(kBoxMost)> envelope{};
  const std::uint16_t stamp = stamp_of(mailer.traits->box_bytes);
  if (bytes > kShortMost - stamp) return false;
  const auto mail_class = static_cast<std::uint16_t>(mailer.mail_class);
  write_envelope(envelope.data(), mailer.context, mail_class, stamp);
  if (!to.box.view().empty()) std::memcpy(envelope.data() + kBoxAt, to.box.view().data(), to.box.view().size());
  const InvoiceLayout layout({envelope.data(), stamp}, pieces);
  const std::uint32_t rank = mailer.group[to.index].rank;
  if (!session.post.try_send({mailer.context, mail_class, stamp}, portals::Region(layout, nullptr, layout.bytes()),
                             {rank, to.box.view(), to.bits}))
    return false;
  ++mailer.family->sent[rank];
  record_packed(session, bytes, 0);
  return true;
}

// `find` returns the destination.
template <typename Find>
int pack_send(const char* name, ZIP_MAILER* mailer, int mail_class, const Zip_Invoice* invoice, Find find,
              const void* caller = __builtin_return_address(0)) {
  return class_call(
      name, -1, mailer, mail_class,
      [&](Session& session, ZIP_MAILER& open) {
        const Destination to = find(session, open);
        if (send_gathered(session, open, given(invoice), to)) return 0;
        Letter letter = packed_letter(session, mailer, *invoice);
        // A method may have closed the mailer.
        send(session, session.open_mailer(mailer), std::move(letter), to);
        return 0;
      },
      caller);
}

// The same for classes whose send may be a cached method: `find` returns the destination's rank.
template <typename Find>
int pack_send_to_rank(const char* name, ZIP_MAILER* mailer, int mail_class, const Zip_Invoice* invoice, Find find,
                      const void* caller = __builtin_return_address(0)) {
  return class_call(
      name, -1, mailer, mail_class,
      [&](Session& session, ZIP_MAILER& open) {
        const int rank = find(session, open);
        const Destination to = to_rank(open, rank);
        const bool is_cached = open.in_replacement == 0 && open.operations[ZIP_OP_SEND].method != nullptr;
        if (!is_cached && send_gathered(session, open, given(invoice), to)) return 0;
        char* const letter = session.hand_out(packed_letter(session, mailer, given(invoice)));
        do_send(session, session.open_mailer(mailer), letter, rank);
        return 0;
      },
      caller);
}

}  // namespace

}  // namespace margay::zipcode::core

using namespace margay::zipcode::core;  // NOLINT(google-build-using-namespace)

int zip_pack(ZIP_MAILER* mailer, Zip_Invoice* inv, int buffer_type, char** ptr, int len) {
  return call("zip_pack", -1, [&](Session& session) {
    const Conversion conversion = conversion_of(session.open_mailer(mailer));
    const Zip_Invoice& invoice = given(inv);
    if (ptr == nullptr) fail("the address of the letter or buffer is NULL");
    if (buffer_type == ZIP_BUFFER) return pack_buffer(session, invoice, conversion, ptr, len);
    if (buffer_type == ZIP_LETTER) return pack_letter(session, mailer, invoice, ptr, len);
    fail("unknown buffer type " + std::to_string(buffer_type) + "; use ZIP_BUFFER or ZIP_LETTER");
  });
}

int zip_unpack(ZIP_MAILER* mailer, Zip_Invoice* inv, int buffer_type, char* ptr) {
  return call("zip_unpack", -1, [&](Session& session) {
    const ZIP_MAILER& open = session.open_mailer(mailer);
    const Zip_Invoice& invoice = given(inv);
    if (ptr == nullptr) fail("the letter or buffer is NULL");
    if (buffer_type == ZIP_BUFFER) return unpack_from(session, invoice, conversion_of(open), {bytes_of(ptr), kTrusted});
    if (buffer_type != ZIP_LETTER)
      fail("unknown buffer type " + std::to_string(buffer_type) + "; use ZIP_BUFFER or ZIP_LETTER");
    const Letter& letter = session.find_letter(&open, ptr);
    return unpack_from(session, invoice, conversion_of(open), {letter.body(), letter.length()});
  });
}

int zip_unpack_buffer(ZIP_MAILER* mailer, Zip_Invoice* inv, const char* ptr, int len) {
  return call("zip_unpack_buffer", -1, [&](Session& session) {
    const ZIP_MAILER& open = session.open_mailer(mailer);
    if (ptr == nullptr) fail("the buffer is NULL");
    if (len < 0) fail("the buffer has " + std::to_string(len) + " bytes");
    return unpack_from(session, given(inv), conversion_of(open),
                       {reinterpret_cast<const std::byte*>(ptr), static_cast<std::size_t>(len)});
  });
}

int g1_pack_send(ZIP_MAILER* mailer, int p, Zip_Invoice* invoice) {
  return pack_send_to_rank("g1_pack_send", mailer, ZIP_G1, invoice, by_place(p));
}
int g2_pack_send(ZIP_MAILER* mailer, int p, int q, Zip_Invoice* invoice) {
  return pack_send_to_rank("g2_pack_send", mailer, ZIP_G2, invoice, by_place(p, q));
}
int g3_pack_send(ZIP_MAILER* mailer, int p, int q, int r, Zip_Invoice* invoice) {
  return pack_send_to_rank("g3_pack_send", mailer, ZIP_G3, invoice, by_place(p, q, r));
}
int z_pack_send(ZIP_MAILER* mailer, int rank, Zip_Invoice* invoice) {
  return pack_send_to_rank("z_pack_send", mailer, ZIP_Z, invoice, by_rank(rank));
}
int l_pack_send(ZIP_MAILER* mailer, int node, int pid, long tag, Zip_Invoice* invoice) {
  return pack_send("l_pack_send", mailer, ZIP_L, invoice, destination_by_process(node, pid, tag));
}
int y_pack_send(ZIP_MAILER* mailer, int node, int pid, int tag, Zip_Invoice* invoice) {
  return pack_send("y_pack_send", mailer, ZIP_Y, invoice, destination_by_tag(node, pid, tag));
}
