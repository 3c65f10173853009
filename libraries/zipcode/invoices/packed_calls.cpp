// Packed collective operations and receives: section 4.5.2.
#include <vector>

#include "libraries/zipcode/class_call.hpp"
#include "libraries/zipcode/invoices/element_combine.hpp"
#include "libraries/zipcode/invoices/packed_call.hpp"

namespace margay::zipcode::core {

namespace {

// The elements of an invoice as the one item of a combine. `operate(session, mailer, item, bytes, items, method)`
// returns the result of the operation, and whether this member gets the combination.
template <typename Operate>
int combine_elements(const char* name, ZIP_MAILER* mailer, int mail_class, const Zip_Invoice* inv, const Method* method,
                     Operate operate, const void* caller = __builtin_return_address(0)) {
  return call(
      name, -1,
      [&](Session& session) {
        const Zip_Invoice& invoice = given(inv);
        ElementCombine elements;
        std::vector<std::byte> packed;
        const Conversion conversion = conversion_of(open_mailer(session, mailer, mail_class));
        run_methods(session, invoice, [&] {
          std::string error = elements.prepare(invoice, conversion, method);
          if (!error.empty()) return error;
          packed.resize(elements.bytes());
          return elements.pack(packed);
        });
        record_packed(session, packed.size(), 1);
        Method whole = elements.method();
        const auto [result, has_result] = operate(session, open_mailer(session, mailer, mail_class), packed.data(),
                                                  as_int(packed.size()), packed.empty() ? 0 : 1, &whole);
        if (result != 0) return result;
        if (!elements.error().empty()) fail(elements.error());
        if (has_result) run_methods(session, invoice, [&] { return elements.unpack(packed); });
        return 0;
      },
      caller);
}

int packed_combine(const char* name, ZIP_MAILER* mailer, int mail_class, const Zip_Invoice* invoice,
                   const Method* method, const void* caller = __builtin_return_address(0)) {
  return combine_elements(
      name, mailer, mail_class, invoice, method,
      [&](Session& session, ZIP_MAILER& open, void* item, int bytes, int items, Method* whole) {
        return std::pair(do_combine(session, name, open, item, whole, bytes, items), true);
      },
      caller);
}

// `find` returns the rank of the destination.
template <typename Find>
int packed_fanin(const char* name, ZIP_MAILER* mailer, int mail_class, Find find, const Zip_Invoice* invoice,
                 const Method* method, const void* caller = __builtin_return_address(0)) {
  return combine_elements(
      name, mailer, mail_class, invoice, method,
      [&](Session& session, ZIP_MAILER& open, void* item, int bytes, int items, Method* whole) {
        const int dest = find(session, open);
        const bool is_here = dest == open.rank();
        return std::pair(do_fanin(session, name, open, dest, item, whole, bytes, items), is_here);
      },
      caller);
}

// `find` returns the rank of the origin.
template <typename Find>
int packed_fanout(const char* name, ZIP_MAILER* mailer, int mail_class, const Zip_Invoice* inv, Find find,
                  const void* caller = __builtin_return_address(0)) {
  return call(
      name, -1,
      [&](Session& session) {
        const Zip_Invoice& invoice = given(inv);
        const ZIP_MAILER& open = open_mailer(session, mailer, mail_class);
        const Conversion conversion = conversion_of(open);
        const int orig = find(session, open);
        const bool is_origin = open.rank() == orig;
        FreedMemory packed;
        int bytes = 0;
        if (is_origin) packed = pack_new(session, invoice, conversion, bytes);
        void* data = packed.get();
        // A method of the program may have closed the mailer.
        const int result = do_fanout(session, name, session.open_mailer(mailer), &data, &bytes, nullptr, orig);
        if (!is_origin) packed.reset(static_cast<char*>(data));
        if (result != 0 || is_origin) return result;
        static_cast<void>(
            unpack_from(session, invoice, conversion,
                        {reinterpret_cast<const std::byte*>(packed.get()), static_cast<std::size_t>(bytes)}));
        return 0;
      },
      caller);
}

// `receive` returns nullptr if a cached method has returned no letter.
template <typename Receive>
int unpack_received(const char* name, ZIP_MAILER* mailer, int mail_class, const Zip_Invoice* inv, Receive receive,
                    const void* caller = __builtin_return_address(0)) {
  return call(
      name, -1,
      [&](Session& session) {
        const Zip_Invoice& invoice = given(inv);
        const char* const body = receive(session, name, open_mailer(session, mailer, mail_class));
        if (body == nullptr) return -1;
        const ZIP_MAILER& open = session.open_mailer(mailer);
        const Conversion conversion = conversion_of(open);
        const Letter letter = session.take_back(&open, body);
        return unpack_from(session, invoice, conversion, {letter.body(), letter.length()});
      },
      caller);
}

}  // namespace

}  // namespace margay::zipcode::core

using namespace margay::zipcode::core;  // NOLINT(google-build-using-namespace)

int g1_pack_combine(ZIP_MAILER* mailer, Zip_Invoice* invoice, Method* comb_method) {
  return packed_combine("g1_pack_combine", mailer, ZIP_G1, invoice, comb_method);
}
int g2_pack_combine(ZIP_MAILER* mailer, Zip_Invoice* invoice, Method* comb_method) {
  return packed_combine("g2_pack_combine", mailer, ZIP_G2, invoice, comb_method);
}
int g3_pack_combine(ZIP_MAILER* mailer, Zip_Invoice* invoice, Method* comb_method) {
  return packed_combine("g3_pack_combine", mailer, ZIP_G3, invoice, comb_method);
}
int z_pack_combine(ZIP_MAILER* mailer, Zip_Invoice* invoice, Method* comb_method) {
  return packed_combine("z_pack_combine", mailer, ZIP_Z, invoice, comb_method);
}
int l_pack_combine(ZIP_MAILER* mailer, Zip_Invoice* invoice, Method* comb_method) {
  return packed_combine("l_pack_combine", mailer, ZIP_L, invoice, comb_method);
}
int zip_pack_combine(ZIP_MAILER* mailer, Zip_Invoice* invoice, Method* comb_method) {
  return packed_combine("zip_pack_combine", mailer, kAnyClass, invoice, comb_method);
}

int g1_pack_fanin(ZIP_MAILER* mailer, int dest_p, Zip_Invoice* invoice, Method* comb_method) {
  return packed_fanin("g1_pack_fanin", mailer, ZIP_G1, by_place(dest_p), invoice, comb_method);
}
int g2_pack_fanin(ZIP_MAILER* mailer, int dest_p, int dest_q, Zip_Invoice* invoice, Method* comb_method) {
  return packed_fanin("g2_pack_fanin", mailer, ZIP_G2, by_place(dest_p, dest_q), invoice, comb_method);
}
int g3_pack_fanin(ZIP_MAILER* mailer, int dest_p, int dest_q, int dest_r, Zip_Invoice* invoice, Method* comb_method) {
  return packed_fanin("g3_pack_fanin", mailer, ZIP_G3, by_place(dest_p, dest_q, dest_r), invoice, comb_method);
}
int z_pack_fanin(ZIP_MAILER* mailer, int dest, Zip_Invoice* invoice, Method* comb_method) {
  return packed_fanin("z_pack_fanin", mailer, ZIP_Z, by_rank(dest), invoice, comb_method);
}
int l_pack_fanin(ZIP_MAILER* mailer, int dest_node, int dest_pid, Zip_Invoice* invoice, Method* comb_method) {
  return packed_fanin("l_pack_fanin", mailer, ZIP_L, by_process(dest_node, dest_pid), invoice, comb_method);
}
int zip_pack_fanin(ZIP_MAILER* mailer, int dest, Zip_Invoice* invoice, Method* comb_method) {
  return packed_fanin("zip_pack_fanin", mailer, kAnyClass, by_rank(dest), invoice, comb_method);
}

int g1_pack_fanout(ZIP_MAILER* mailer, Zip_Invoice* invoice, int orig_p) {
  return packed_fanout("g1_pack_fanout", mailer, ZIP_G1, invoice, by_place(orig_p));
}
int g2_pack_fanout(ZIP_MAILER* mailer, Zip_Invoice* invoice, int orig_p, int orig_q) {
  return packed_fanout("g2_pack_fanout", mailer, ZIP_G2, invoice, by_place(orig_p, orig_q));
}
int g3_pack_fanout(ZIP_MAILER* mailer, Zip_Invoice* invoice, int orig_p, int orig_q, int orig_r) {
  return packed_fanout("g3_pack_fanout", mailer, ZIP_G3, invoice, by_place(orig_p, orig_q, orig_r));
}
int z_pack_fanout(ZIP_MAILER* mailer, Zip_Invoice* invoice, int orig) {
  return packed_fanout("z_pack_fanout", mailer, ZIP_Z, invoice, by_rank(orig));
}
int l_pack_fanout(ZIP_MAILER* mailer, Zip_Invoice* invoice, int orig_node, int orig_pid) {
  return packed_fanout("l_pack_fanout", mailer, ZIP_L, invoice, by_process(orig_node, orig_pid));
}
int zip_pack_fanout(ZIP_MAILER* mailer, Zip_Invoice* invoice, int orig) {
  return packed_fanout("zip_pack_fanout", mailer, kAnyClass, invoice, by_rank(orig));
}

int g1_recv_unpack(ZIP_MAILER* mailer, int p, Zip_Invoice* invoice) {
  return unpack_received("g1_recv_unpack", mailer, ZIP_G1, invoice, letter_from(by_place(p), true));
}
int g2_recv_unpack(ZIP_MAILER* mailer, int p, int q, Zip_Invoice* invoice) {
  return unpack_received("g2_recv_unpack", mailer, ZIP_G2, invoice, letter_from(by_place(p, q), true));
}
int g3_recv_unpack(ZIP_MAILER* mailer, int p, int q, int r, Zip_Invoice* invoice) {
  return unpack_received("g3_recv_unpack", mailer, ZIP_G3, invoice, letter_from(by_place(p, q, r), true));
}
int z_recv_unpack(ZIP_MAILER* mailer, int rank, Zip_Invoice* invoice) {
  return unpack_received("z_recv_unpack", mailer, ZIP_Z, invoice, letter_from(by_rank(rank), true));
}
int l_recv_unpack(ZIP_MAILER* mailer, int node, int pid, long tag, Zip_Invoice* invoice) {
  return unpack_received("l_recv_unpack", mailer, ZIP_L, invoice, letter_from_process(node, pid, tag, true));
}
int y_recv_unpack(ZIP_MAILER* mailer, int tag, Zip_Invoice* invoice) {
  return unpack_received("y_recv_unpack", mailer, ZIP_Y, invoice, tagged_letter(tag, true));
}
