// Packed collective operations and receives: section 4.5.2.
#include <vector>

#include "libraries/zipcode/call.hpp"
#include "libraries/zipcode/invoices/element_combine.hpp"
#include "libraries/zipcode/invoices/packed_call.hpp"
#include "libraries/zipcode/operations.hpp"

namespace margay::zipcode::core {

namespace {

// A mailer of the class, or with 0 of any.
ZIP_MAILER& mailer_for(const Session& session, ZIP_MAILER* mailer, int mail_class) {
  return mail_class == 0 ? session.open_mailer(mailer) : session.open_mailer(mailer, mail_class);
}

// The rank that a call names, as a function of the session and the mailer.
auto packed_by_rank(int rank) {
  return [rank](const Session&, const ZIP_MAILER&) { return rank; };
}
auto packed_by_place(int p, int q = 0, int r = 0) {
  return [=](const Session&, const ZIP_MAILER& mailer) { return rank_at(mailer, p, q, r); };
}
auto packed_by_process(int node, int pid) {
  return [=](const Session& session, const ZIP_MAILER& mailer) { return rank_of(session, mailer, node, pid); };
}

// The elements of an invoice as the one item of a combine. `operate(session, mailer, item, bytes, items, method)`
// returns the result of the operation, and whether this member gets the combination.
template <typename Operate>
int combine_elements(const char* name, ZIP_MAILER* mailer, int mail_class, const Zip_Invoice* inv, const Method* method,
                     Operate operate, const void* caller) {
  return call(
      name, -1,
      [&](Session& session) {
        const Zip_Invoice& invoice = given(inv);
        ElementCombine elements;
        std::vector<std::byte> packed;
        const Conversion conversion = conversion_of(mailer_for(session, mailer, mail_class));
        run_methods(session, invoice, [&] {
          std::string error = elements.prepare(invoice, conversion, method);
          if (!error.empty()) return error;
          packed.resize(elements.bytes());
          return elements.pack(packed);
        });
        record_packed(session, packed.size(), 1);
        Method whole = elements.method();
        const auto [result, has_result] = operate(session, mailer_for(session, mailer, mail_class), packed.data(),
                                                  as_int(packed.size()), packed.empty() ? 0 : 1, &whole);
        if (result != 0) return result;
        if (!elements.error().empty()) fail(elements.error());
        if (has_result) run_methods(session, invoice, [&] { return elements.unpack(packed); });
        return 0;
      },
      caller);
}

int packed_combine(const char* name, ZIP_MAILER* mailer, int mail_class, const Zip_Invoice* invoice,
                   const Method* method, const void* caller) {
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
                 const Method* method, const void* caller) {
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
                  const void* caller) {
  return call(
      name, -1,
      [&](Session& session) {
        const Zip_Invoice& invoice = given(inv);
        const ZIP_MAILER& open = mailer_for(session, mailer, mail_class);
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

// `receive(session, mailer)` returns the letter; NULL: a cached method has returned none.
template <typename Receive>
int unpack_received(const char* name, ZIP_MAILER* mailer, int mail_class, const Zip_Invoice* inv, Receive receive,
                    const void* caller) {
  return call(
      name, -1,
      [&](Session& session) {
        const Zip_Invoice& invoice = given(inv);
        const char* const body = receive(session, session.open_mailer(mailer, mail_class));
        if (body == nullptr) return -1;
        const ZIP_MAILER& open = session.open_mailer(mailer);
        const Conversion conversion = conversion_of(open);
        const Letter letter = session.take_back(&open, body);
        return unpack_from(session, invoice, conversion, {letter.body(), letter.length()});
      },
      caller);
}

template <typename Find>
auto received_letter(const char* name, Find find) {
  return [=](Session& session, ZIP_MAILER& open) { return do_receive(session, name, open, find(session, open), true); };
}

// The same for selections of other kinds, which `select` writes.
template <typename Select>
auto selected_letter(const char* name, Select select) {
  return [=](Session& session, ZIP_MAILER& open) {
    Selection selection;
    select(session, open, selection);
    return receive(session, name, open, selection, true);
  };
}

}  // namespace

}  // namespace margay::zipcode::core

using namespace margay::zipcode::core;  // NOLINT(google-build-using-namespace)

int g1_pack_combine(ZIP_MAILER* mailer, Zip_Invoice* invoice, Method* comb_method) {
  return packed_combine("g1_pack_combine", mailer, ZIP_G1, invoice, comb_method, __builtin_return_address(0));
}
int g2_pack_combine(ZIP_MAILER* mailer, Zip_Invoice* invoice, Method* comb_method) {
  return packed_combine("g2_pack_combine", mailer, ZIP_G2, invoice, comb_method, __builtin_return_address(0));
}
int g3_pack_combine(ZIP_MAILER* mailer, Zip_Invoice* invoice, Method* comb_method) {
  return packed_combine("g3_pack_combine", mailer, ZIP_G3, invoice, comb_method, __builtin_return_address(0));
}
int z_pack_combine(ZIP_MAILER* mailer, Zip_Invoice* invoice, Method* comb_method) {
  return packed_combine("z_pack_combine", mailer, ZIP_Z, invoice, comb_method, __builtin_return_address(0));
}
int l_pack_combine(ZIP_MAILER* mailer, Zip_Invoice* invoice, Method* comb_method) {
  return packed_combine("l_pack_combine", mailer, ZIP_L, invoice, comb_method, __builtin_return_address(0));
}
int zip_pack_combine(ZIP_MAILER* mailer, Zip_Invoice* invoice, Method* comb_method) {
  return packed_combine("zip_pack_combine", mailer, 0, invoice, comb_method, __builtin_return_address(0));
}

int g1_pack_fanin(ZIP_MAILER* mailer, int dest_p, Zip_Invoice* invoice, Method* comb_method) {
  return packed_fanin("g1_pack_fanin", mailer, ZIP_G1, packed_by_place(dest_p), invoice, comb_method,
                      __builtin_return_address(0));
}
int g2_pack_fanin(ZIP_MAILER* mailer, int dest_p, int dest_q, Zip_Invoice* invoice, Method* comb_method) {
  return packed_fanin("g2_pack_fanin", mailer, ZIP_G2, packed_by_place(dest_p, dest_q), invoice, comb_method,
                      __builtin_return_address(0));
}
int g3_pack_fanin(ZIP_MAILER* mailer, int dest_p, int dest_q, int dest_r, Zip_Invoice* invoice, Method* comb_method) {
  return packed_fanin("g3_pack_fanin", mailer, ZIP_G3, packed_by_place(dest_p, dest_q, dest_r), invoice, comb_method,
                      __builtin_return_address(0));
}
int z_pack_fanin(ZIP_MAILER* mailer, int dest, Zip_Invoice* invoice, Method* comb_method) {
  return packed_fanin("z_pack_fanin", mailer, ZIP_Z, packed_by_rank(dest), invoice, comb_method,
                      __builtin_return_address(0));
}
int l_pack_fanin(ZIP_MAILER* mailer, int dest_node, int dest_pid, Zip_Invoice* invoice, Method* comb_method) {
  return packed_fanin("l_pack_fanin", mailer, ZIP_L, packed_by_process(dest_node, dest_pid), invoice, comb_method,
                      __builtin_return_address(0));
}
int zip_pack_fanin(ZIP_MAILER* mailer, int dest, Zip_Invoice* invoice, Method* comb_method) {
  return packed_fanin("zip_pack_fanin", mailer, 0, packed_by_rank(dest), invoice, comb_method,
                      __builtin_return_address(0));
}

int g1_pack_fanout(ZIP_MAILER* mailer, Zip_Invoice* invoice, int orig_p) {
  return packed_fanout("g1_pack_fanout", mailer, ZIP_G1, invoice, packed_by_place(orig_p), __builtin_return_address(0));
}
int g2_pack_fanout(ZIP_MAILER* mailer, Zip_Invoice* invoice, int orig_p, int orig_q) {
  return packed_fanout("g2_pack_fanout", mailer, ZIP_G2, invoice, packed_by_place(orig_p, orig_q),
                       __builtin_return_address(0));
}
int g3_pack_fanout(ZIP_MAILER* mailer, Zip_Invoice* invoice, int orig_p, int orig_q, int orig_r) {
  return packed_fanout("g3_pack_fanout", mailer, ZIP_G3, invoice, packed_by_place(orig_p, orig_q, orig_r),
                       __builtin_return_address(0));
}
int z_pack_fanout(ZIP_MAILER* mailer, Zip_Invoice* invoice, int orig) {
  return packed_fanout("z_pack_fanout", mailer, ZIP_Z, invoice, packed_by_rank(orig), __builtin_return_address(0));
}
int l_pack_fanout(ZIP_MAILER* mailer, Zip_Invoice* invoice, int orig_node, int orig_pid) {
  return packed_fanout("l_pack_fanout", mailer, ZIP_L, invoice, packed_by_process(orig_node, orig_pid),
                       __builtin_return_address(0));
}
int zip_pack_fanout(ZIP_MAILER* mailer, Zip_Invoice* invoice, int orig) {
  return packed_fanout("zip_pack_fanout", mailer, 0, invoice, packed_by_rank(orig), __builtin_return_address(0));
}

int g1_recv_unpack(ZIP_MAILER* mailer, int p, Zip_Invoice* invoice) {
  const char* const kCall = "g1_recv_unpack";
  return unpack_received(kCall, mailer, ZIP_G1, invoice, received_letter(kCall, packed_by_place(p)),
                         __builtin_return_address(0));
}
int g2_recv_unpack(ZIP_MAILER* mailer, int p, int q, Zip_Invoice* invoice) {
  const char* const kCall = "g2_recv_unpack";
  return unpack_received(kCall, mailer, ZIP_G2, invoice, received_letter(kCall, packed_by_place(p, q)),
                         __builtin_return_address(0));
}
int g3_recv_unpack(ZIP_MAILER* mailer, int p, int q, int r, Zip_Invoice* invoice) {
  const char* const kCall = "g3_recv_unpack";
  return unpack_received(kCall, mailer, ZIP_G3, invoice, received_letter(kCall, packed_by_place(p, q, r)),
                         __builtin_return_address(0));
}
int z_recv_unpack(ZIP_MAILER* mailer, int rank, Zip_Invoice* invoice) {
  const char* const kCall = "z_recv_unpack";
  return unpack_received(kCall, mailer, ZIP_Z, invoice, received_letter(kCall, packed_by_rank(rank)),
                         __builtin_return_address(0));
}
int l_recv_unpack(ZIP_MAILER* mailer, int node, int pid, long tag, Zip_Invoice* invoice) {
  const char* const kCall = "l_recv_unpack";
  return unpack_received(
      kCall, mailer, ZIP_L, invoice,
      selected_letter(kCall, [=](Session& session, const ZIP_MAILER& open,
                                 Selection& out) { from_process(session, open, node, pid, tag, out); }),
      __builtin_return_address(0));
}
int y_recv_unpack(ZIP_MAILER* mailer, int tag, Zip_Invoice* invoice) {
  const char* const kCall = "y_recv_unpack";
  return unpack_received(
      kCall, mailer, ZIP_Y, invoice,
      selected_letter(kCall, [=](Session&, const ZIP_MAILER& open, Selection& out) { from_tag(open, tag, out); }),
      __builtin_return_address(0));
}
