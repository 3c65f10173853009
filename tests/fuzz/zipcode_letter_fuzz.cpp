// Fuzzes a whole process of Zipcode among two others, whose letters are the input: right and damaged envelopes, notices
// of long letters, openings, letters to the Postmaster General. Each call ends by itself or with an error; when the
// input is used up, the other processes are lost. Corpus: tests/fuzz/zipcode_letter_corpus.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <thread>
#include <vector>

#include "libraries/zipcode/contexts.hpp"
#include "libraries/zipcode/opening_text.hpp"
#include "margay/zipcode.h"
#include "tests/fuzz/feeder.hpp"

namespace margay::zipcode::fuzz {

constexpr std::uint32_t kProcesses = margay::fuzz::kProcesses;
// The mailers of the program: their classes, by their context_ids from ZIP_FIRST_EXPLICIT on.
constexpr std::array<int, 4> kClasses{ZIP_Y, ZIP_Z, ZIP_L, ZIP_G2};
constexpr int kIdsEach = 6;

class LetterFeeder final : public margay::fuzz::Feeder {
  using Feeder::Feeder;

  bool add_next() override {
    const std::uint8_t choice = script_.byte();
    portals::Header header;
    header.source.rank = other(choice / 8);
    switch (choice % 8) {
      case 0:
      case 1:
      case 2:
        return add_letter(header, script_.byte());
      case 3:
        return add_opening(header, script_.byte());
      case 4:
        return add_system(header, static_cast<core::Tag>(script_.byte() % 12), script_.take(script_.byte()));
      case 5:
        header.portal = core::kFetchPortal;
        header.kind = portals::Kind::reply;
        header.match_bits = script_.byte() % 4;
        return add(header, std::vector<std::byte>(script_.number(2), std::byte{3}));
      case 6:
        header.portal = core::kLongPortal;
        header.kind = portals::Kind::get;
        header.match_bits = script_.byte() % 4;
        header.return_portal = core::kFetchPortal;
        header.return_length = script_.number(3);
        return add(header, {});
      default:
        header.portal = core::kLetterPortal;
        header.match_bits = script_.number(8);
        header.offset = script_.number(4) % kLongMost << 24;
        return add(header, script_.take(script_.byte()));
    }
  }

  // The letters by which Zip_nohost_init() ends.
  bool start() override {
    const std::string form = "Zip_nohost_init";
    for (std::uint32_t source = 0; source < kProcesses; ++source) {
      portals::Header header;
      header.source.rank = source;
      if (rank_.rank() == 0 && source != 0) add_system(header, core::Tag::form, std::as_bytes(std::span(form)));
      if (rank_.rank() != 0 && source == 0) add_system(header, core::Tag::form, {});
    }
    return true;
  }
  bool add_system(portals::Header& header, core::Tag tag, std::span<const std::byte> body) {
    const std::uint16_t stamp = core::stamp_of(2);
    std::vector<std::byte> letter(stamp);
    core::write_envelope(letter.data(), core::kSystemContext, ZIP_Y, stamp);
    letter.insert(letter.end(), body.begin(), body.end());
    header.portal = core::kLetterPortal;
    header.match_bits =
        core::letter_bits(core::kSystemContext, ZIP_Y, core::Kind::letter, static_cast<std::uint32_t>(tag));
    return add(header, letter);
  }
  // A letter for one of the mailers, or for its collective operations: right, or with a changed byte, or a notice.
  bool add_letter(portals::Header& header, std::uint8_t choice) {
    const std::size_t at = choice % kClasses.size();
    const bool is_collective = choice / 4 % 4 == 3;
    const auto context = static_cast<std::uint16_t>(core::kFirstExplicit + at * kIdsEach + (is_collective ? 1 : 0));
    const auto mail_class = static_cast<std::uint16_t>(is_collective ? ZIP_Z : kClasses[at]);
    const core::MailClass* const traits = core::find_class(mail_class);
    const std::uint16_t stamp = core::stamp_of(traits->box_bytes);
    std::vector<std::byte> letter(stamp);
    core::write_envelope(letter.data(), context, mail_class, stamp);
    core::Box box;
    const auto source = static_cast<std::int32_t>(header.source.rank);
    if (mail_class == ZIP_Y) box.add(static_cast<std::uint16_t>(choice / 16));
    if (mail_class == ZIP_Z) box.add(source);
    if (mail_class == ZIP_L) box.add(source).add(std::int32_t{7}).add(static_cast<std::int32_t>(choice / 16));
    if (mail_class == ZIP_G2) box.add(std::int32_t{0}).add(source);
    std::memcpy(letter.data() + core::kBoxAt, box.bytes.data(), box.size);
    std::uint32_t bits = core::match_bits_of(*traits, box.view());
    if (mail_class == ZIP_L) bits = choice / 16;
    const bool is_notice = choice >= 0x80 && choice < 0xc0;
    header.portal = core::kLetterPortal;
    header.match_bits =
        core::letter_bits(context, mail_class, is_notice ? core::Kind::notice : core::Kind::letter, bits);
    if (is_notice)
      header.offset = (script_.number(3) % kLongMost) << 24 | script_.byte();
    else
      letter.resize(stamp + script_.byte());
    if (choice >= 0xe0) letter[script_.byte() % letter.size()] ^= std::byte{script_.byte()};
    return add(header, letter);
  }
  // An opening, for the Postmaster General or from it.
  bool add_opening(portals::Header& header, std::uint8_t choice) {
    core::Opening opening{.mail_class = ZIP_Z, .context = 1U + choice / 16};
    opening.postmaster = header.source.rank;
    opening.group = {{opening.postmaster, 1}, {rank_.rank(), 1}};
    if (choice % 2 != 0) opening.mail_class = ZIP_G1;
    opening.shape[0] = choice / 2 % 4;
    std::vector<std::int32_t> words = core::encode(opening);
    if (choice >= 0x80) words[script_.byte() % words.size()] = static_cast<std::int32_t>(script_.number(4));
    const core::Tag tags[] = {core::Tag::open, core::Tag::copy, core::Tag::close, core::Tag::propose};
    return add_system(header, tags[choice / 4 % 4], std::as_bytes(std::span(words)));
  }
};

void add_up(void* into, const void* from, int size, int items, void* /*state*/) {
  for (int i = 0; i < size * items; ++i)
    static_cast<unsigned char*>(into)[i] =
        static_cast<unsigned char>(static_cast<unsigned char*>(into)[i] + static_cast<const unsigned char*>(from)[i]);
}

void receive_all(const std::array<ZIP_MAILER*, kClasses.size()>& mailers) {
  for (int process = 0; process < static_cast<int>(kProcesses); ++process) {
    char* const letters[] = {y_recv(mailers[0], ZIP_ANY), z_recv(mailers[1], process),
                             l_recv(mailers[2], process, 7, ZIP_ANY), g2_recv(mailers[3], 0, process)};
    for (std::size_t i = 0; i < mailers.size(); ++i) {
      if (letters[i] == nullptr) continue;
      const int length = zip_length(mailers[i], letters[i]);
      for (int at = 0; at < length; ++at) letters[i][at] = 1;
      zip_free(mailers[i], letters[i]);
    }
  }
}

void run_program() {
  zip_set_error_handler([](const char*) {});
  if (Zip_nohost_init() != 0) return;
  ZIP_ADDRESSEES* all = zip_new_cohort(kProcesses, 0, 7, 0);
  const std::array<ZIP_MAILER*, kClasses.size()> mailers{
      y_open_with(all, ZIP_FIRST_EXPLICIT), z_open_with(all, ZIP_FIRST_EXPLICIT + kIdsEach),
      l_open_with(all, ZIP_FIRST_EXPLICIT + 2 * kIdsEach),
      g2_grid_open_with(1, kProcesses, all, ZIP_FIRST_EXPLICIT + 3 * kIdsEach)};
  for (int i = 0; i < 20; ++i) receive_all(mailers);
  z_send(mailers[1], z_new_letter(mailers[1], 20'000), 0);
  zip_free(nullptr, l_recvb(mailers[2], ZIP_ANY, ZIP_ANY, 3));
  Method* method = zip_new_combine_method(add_up, nullptr);
  int value = 1;
  zip_combine(mailers[1], &value, method, static_cast<int>(sizeof value), 1);
  void* data = nullptr;
  int length = 0;
  if (zip_fanout(mailers[3], &data, &length, 1) == 0) std::free(data);
  ZIP_MAILER* opened = z_open(nullptr);
  if (opened != nullptr) zip_close(&opened);
  opened = z_open(all);
  receive_all(mailers);
  for (ZIP_MAILER* each : mailers) zip_close(&each);
  zip_free_method(&method);
  zip_free_addressees(&all);
  zip_exit();
}

}  // namespace margay::zipcode::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace margay;
  fuzz::run_alone<zipcode::fuzz::LetterFeeder>(std::as_bytes(std::span(data, bytes)), zipcode::fuzz::run_program);
  return 0;
}
