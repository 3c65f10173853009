// Mailers and letters: sections 4.4, 4.4.1 and 4.4.2.
#include <cstring>

#include "libraries/zipcode/attributes.hpp"
#include "libraries/zipcode/class_call.hpp"
#include "libraries/zipcode/opening.hpp"

namespace margay::zipcode::core {

namespace {

// Opens a mailer; the extents of a grid are passed and returned by `extents`.
template <std::size_t Dimensions>
ZIP_MAILER* open_grid(const char* name, int mail_class, const std::array<int*, Dimensions>& extents,
                      const ZIP_ADDRESSEES* addressees, const void* caller = __builtin_return_address(0)) {
  return call<ZIP_MAILER*>(
      name, nullptr,
      [&](Session& session) {
        std::array<int, 3> shape{};
        for (std::size_t i = 0; i < Dimensions; ++i) {
          if (extents[i] == nullptr) fail("the address of an extent is NULL");
          if (addressees != nullptr) shape[i] = *extents[i];
        }
        if (find_class(mail_class) == nullptr)
          fail("unknown class " + std::to_string(mail_class) + "; use a class that zip_register_class() returned");
        ZIP_MAILER* const mailer =
            open(session, name, mail_class, shape, addressees == nullptr ? nullptr : &addressees->group);
        for (std::size_t i = 0; i < Dimensions; ++i) *extents[i] = mailer->shape[i];
        return mailer;
      },
      caller);
}

ZIP_MAILER* open_explicit(const char* name, int mail_class, const std::array<int, 3>& shape,
                          const ZIP_ADDRESSEES* addressees, int context_id,
                          const void* caller = __builtin_return_address(0)) {
  return call<ZIP_MAILER*>(
      name, nullptr,
      [&](Session& session) {
        if (addressees == nullptr) fail("the addressee list is NULL; all members pass it");
        if (find_class(mail_class) == nullptr)
          fail("unknown class " + std::to_string(mail_class) + "; use a class that zip_register_class() returned");
        return open_with(session, mail_class, shape, addressees->group, context_id);
      },
      caller);
}

ZIP_MAILER* child(const char* name, ZIP_MAILER* mailer, int mail_class, std::size_t number,
                  const void* caller = __builtin_return_address(0)) {
  return call<ZIP_MAILER*>(
      name, nullptr,
      [&](Session& session) {
        const ZIP_MAILER& parent = session.open_mailer(mailer, mail_class);
        if (parent.is_outside())
          fail("the Postmaster is outside of the grid, and has no children; let the members of the grid call");
        return parent.children[number].get();
      },
      caller);
}

int check_dimension(const ZIP_MAILER& mailer, int dimension) {
  if (dimension < 0 || dimension >= mailer.traits->dimensions)
    fail("no dimension " + std::to_string(dimension) + "; the mailer has " + std::to_string(mailer.traits->dimensions));
  return dimension;
}

char* new_letter_of(const char* name, ZIP_MAILER* mailer, int mail_class, int length,
                    const void* caller = __builtin_return_address(0)) {
  return class_call<char*>(
      name, nullptr, mailer, mail_class,
      [&](Session& session, const ZIP_MAILER& open) { return session.hand_out(new_letter(session, open, length)); },
      caller);
}

void free_letter_of(const char* name, ZIP_MAILER* mailer, int mail_class, char* letter,
                    const void* caller = __builtin_return_address(0)) {
  call_void(
      name,
      [&](Session& session) {
        const bool is_of_none = mailer == nullptr && mail_class == kAnyClass;
        const ZIP_MAILER* const open = is_of_none ? nullptr : &open_mailer(session, mailer, mail_class);
        static_cast<void>(session.take_back(open, letter));
      },
      caller);
}

}  // namespace

}  // namespace margay::zipcode::core

using namespace margay::zipcode::core;  // NOLINT(google-build-using-namespace)

ZIP_MAILER* g1_grid_open(int* P, ZIP_ADDRESSEES* addressees) {
  return open_grid<1>("g1_grid_open", ZIP_G1, {P}, addressees);
}
ZIP_MAILER* g2_grid_open(int* P, int* Q, ZIP_ADDRESSEES* addressees) {
  return open_grid<2>("g2_grid_open", ZIP_G2, {P, Q}, addressees);
}
ZIP_MAILER* g3_grid_open(int* P, int* Q, int* R, ZIP_ADDRESSEES* addressees) {
  return open_grid<3>("g3_grid_open", ZIP_G3, {P, Q, R}, addressees);
}
ZIP_MAILER* y_open(ZIP_ADDRESSEES* addressees) {
  return open_grid<0>("y_open", ZIP_Y, {}, addressees);
}
ZIP_MAILER* z_open(ZIP_ADDRESSEES* addressees) {
  return open_grid<0>("z_open", ZIP_Z, {}, addressees);
}
ZIP_MAILER* l_open(ZIP_ADDRESSEES* addressees) {
  return open_grid<0>("l_open", ZIP_L, {}, addressees);
}
ZIP_MAILER* zip_open(int mail_class, ZIP_ADDRESSEES* addressees) {
  return open_grid<0>("zip_open", mail_class, {}, addressees);
}

ZIP_MAILER* g1_grid_open_with(int P, ZIP_ADDRESSEES* addressees, int context_id) {
  return open_explicit("g1_grid_open_with", ZIP_G1, {P}, addressees, context_id);
}
ZIP_MAILER* g2_grid_open_with(int P, int Q, ZIP_ADDRESSEES* addressees, int context_id) {
  return open_explicit("g2_grid_open_with", ZIP_G2, {P, Q}, addressees, context_id);
}
ZIP_MAILER* g3_grid_open_with(int P, int Q, int R, ZIP_ADDRESSEES* addressees, int context_id) {
  return open_explicit("g3_grid_open_with", ZIP_G3, {P, Q, R}, addressees, context_id);
}
ZIP_MAILER* y_open_with(ZIP_ADDRESSEES* addressees, int context_id) {
  return open_explicit("y_open_with", ZIP_Y, {}, addressees, context_id);
}
ZIP_MAILER* z_open_with(ZIP_ADDRESSEES* addressees, int context_id) {
  return open_explicit("z_open_with", ZIP_Z, {}, addressees, context_id);
}
ZIP_MAILER* l_open_with(ZIP_ADDRESSEES* addressees, int context_id) {
  return open_explicit("l_open_with", ZIP_L, {}, addressees, context_id);
}
ZIP_MAILER* zip_open_with(int mail_class, ZIP_ADDRESSEES* addressees, int context_id) {
  return open_explicit("zip_open_with", mail_class, {}, addressees, context_id);
}

int zip_close(ZIP_MAILER** mailer) {
  return call_int("zip_close", [&](Session& session) {
    if (mailer == nullptr) fail("the address of the mailer is NULL");
    ZIP_MAILER& open = session.open_mailer(*mailer);
    if (open.parent != nullptr) fail("the mailer is a child; close its parent");
    delete_attributes(session, open);
    ZIP_MAILER& still_open = session.open_mailer(*mailer);
    *mailer = nullptr;
    close(session, "zip_close", still_open);
  });
}

int zip_context_ids(int mail_class) {
  return call("zip_context_ids", -1, [&](Session&) {
    const MailClass* const traits = find_class(mail_class);
    if (traits == nullptr)
      fail("unknown class " + std::to_string(mail_class) + "; use ZIP_Y to ZIP_G3, or a class of zip_register_class()");
    return static_cast<int>(context_ids(traits->dimensions));
  });
}

ZIP_MAILER* g3_PQ_plane(ZIP_MAILER* mailer) {
  return child("g3_PQ_plane", mailer, ZIP_G3, 0);
}
ZIP_MAILER* g3_QR_plane(ZIP_MAILER* mailer) {
  return child("g3_QR_plane", mailer, ZIP_G3, 1);
}
ZIP_MAILER* g3_PR_plane(ZIP_MAILER* mailer) {
  return child("g3_PR_plane", mailer, ZIP_G3, 2);
}
ZIP_MAILER* g2_row(ZIP_MAILER* mailer) {
  return child("g2_row", mailer, ZIP_G2, 0);
}
ZIP_MAILER* g2_col(ZIP_MAILER* mailer) {
  return child("g2_col", mailer, ZIP_G2, 1);
}

int zip_shape(ZIP_MAILER* mailer, int mail_class, int dimension) {
  return call("zip_shape", -1, [&](Session& session) {
    const ZIP_MAILER& open = session.open_mailer(mailer, mail_class);
    return open.shape[static_cast<std::size_t>(check_dimension(open, dimension))];
  });
}
int zip_place(ZIP_MAILER* mailer, int mail_class, int dimension) {
  return call("zip_place", ZIP_POSTMASTER, [&](Session& session) {
    const ZIP_MAILER& open = session.open_mailer(mailer, mail_class);
    return open.place_of(open.rank())[static_cast<std::size_t>(check_dimension(open, dimension))];
  });
}
int zip_size(ZIP_MAILER* mailer) {
  return call("zip_size", -1, [&](Session& session) { return session.open_mailer(mailer).size(); });
}
int zip_rank(ZIP_MAILER* mailer) {
  return call("zip_rank", -1, [&](Session& session) { return session.open_mailer(mailer).rank(); });
}
int zip_class(ZIP_MAILER* mailer) {
  return call("zip_class", -1, [&](Session& session) { return session.open_mailer(mailer).mail_class; });
}
int zip_context_id(ZIP_MAILER* mailer) {
  return call("zip_context_id", -1, [&](Session& session) { return int{session.open_mailer(mailer).context}; });
}
ZIP_ADDRESSEES* zip_addressees(ZIP_MAILER* mailer) {
  return call<ZIP_ADDRESSEES*>("zip_addressees", nullptr,
                               [&](Session& session) { return new ZIP_ADDRESSEES{session.open_mailer(mailer).group}; });
}

char* zip_malloc(ZIP_MAILER* mailer, int length) {
  return new_letter_of("zip_malloc", mailer, kAnyClass, length);
}
char* y_new_letter(ZIP_MAILER* mailer, int length) {
  return new_letter_of("y_new_letter", mailer, ZIP_Y, length);
}
char* l_new_letter(ZIP_MAILER* mailer, int length) {
  return new_letter_of("l_new_letter", mailer, ZIP_L, length);
}
char* z_new_letter(ZIP_MAILER* mailer, int length) {
  return new_letter_of("z_new_letter", mailer, ZIP_Z, length);
}
char* g1_new_letter(ZIP_MAILER* mailer, int length) {
  return new_letter_of("g1_new_letter", mailer, ZIP_G1, length);
}
char* g2_new_letter(ZIP_MAILER* mailer, int length) {
  return new_letter_of("g2_new_letter", mailer, ZIP_G2, length);
}
char* g3_new_letter(ZIP_MAILER* mailer, int length) {
  return new_letter_of("g3_new_letter", mailer, ZIP_G3, length);
}

void zip_free(ZIP_MAILER* mailer, char* letter) {
  free_letter_of("zip_free", mailer, kAnyClass, letter);
}
void y_free_letter(ZIP_MAILER* mailer, char* letter) {
  free_letter_of("y_free_letter", mailer, ZIP_Y, letter);
}
void l_free_letter(ZIP_MAILER* mailer, char* letter) {
  free_letter_of("l_free_letter", mailer, ZIP_L, letter);
}
void z_free_letter(ZIP_MAILER* mailer, char* letter) {
  free_letter_of("z_free_letter", mailer, ZIP_Z, letter);
}
void g1_free_letter(ZIP_MAILER* mailer, char* letter) {
  free_letter_of("g1_free_letter", mailer, ZIP_G1, letter);
}
void g2_free_letter(ZIP_MAILER* mailer, char* letter) {
  free_letter_of("g2_free_letter", mailer, ZIP_G2, letter);
}
void g3_free_letter(ZIP_MAILER* mailer, char* letter) {
  free_letter_of("g3_free_letter", mailer, ZIP_G3, letter);
}

int zip_length(ZIP_MAILER* mailer, char* letter) {
  return call("zip_length", -1, [&](Session& session) {
    const ZIP_MAILER* const open = mailer == nullptr ? nullptr : &session.open_mailer(mailer);
    return static_cast<int>(session.find_letter(open, letter).length());
  });
}

int zip_envelope(ZIP_MAILER* mailer, char* letter, Zip_envelope* out) {
  return call_int("zip_envelope", [&](Session& session) {
    const ZIP_MAILER& open = session.open_mailer(mailer);
    const Letter& found = session.find_letter(&open, letter);
    if (out == nullptr) fail("the address of the result is NULL");
    const std::byte* const at = found.envelope;
    const std::size_t box = open.traits->box_bytes;
    out->zipcode = short_at(at);
    out->mail_class = short_at(at + 2);
    out->stamp = short_at(at + 4);
    out->po_box = reinterpret_cast<const unsigned char*>(at + kBoxAt);
    out->box_bytes = static_cast<int>(box);
    out->padding_bytes = static_cast<int>(found.stamp - kBoxAt - box - 2);
    out->return_postage = short_at(at + found.stamp - 2);
    out->beginning = reinterpret_cast<const unsigned char*>(at);
  });
}
