#include "libraries/zipcode/session.hpp"

#include <cstdio>
#include <utility>

#include "libraries/zipcode/error.hpp"

namespace margay::zipcode::core {

constinit thread_local Session* here = nullptr;

Session::Session(host::Rank& joined, Form chosen, const char* call)
    : rank(joined), form(chosen), begun_by(call), post(joined), registrar(post, call) {}

ZIP_MAILER& Session::open_mailer(ZIP_MAILER* mailer) const {
  if (mailer == nullptr) fail("the mailer is NULL");
  if (!known.contains(mailer)) fail("the mailer is closed, or was never opened");
  return *mailer;
}

ZIP_MAILER& Session::open_mailer(ZIP_MAILER* mailer, int mail_class) const {
  ZIP_MAILER& found = open_mailer(mailer);
  if (found.mail_class != mail_class)
    fail("the mailer is of class " + found.traits->title + ", not " + find_class(mail_class)->title);
  return found;
}

char* Session::hand_out(Letter letter) {
  char* const body = reinterpret_cast<char*>(letter.body());
  if (spare_.empty()) {
    letters.insert_or_assign(body, std::move(letter));
    return body;
  }
  spare_.key() = body;
  spare_.mapped() = std::move(letter);
  letters.insert(std::move(spare_));
  return body;
}

Letter& Session::find_letter(const ZIP_MAILER* mailer, const char* body) {
  return find_entry(mailer, body)->second;
}

Session::Letters::iterator Session::find_entry(const ZIP_MAILER* mailer, const char* body) {
  const auto at = letters.find(body);
  if (at == letters.end()) {
    std::array<char, 32> address{};
    std::snprintf(address.data(), address.size(), "%p", static_cast<const void*>(body));
    fail(std::string("the program has no letter at ") + address.data() +
         "; it was sent or freed, or is not a letter's body");
  }
  const Letter& letter = at->second;
  if (mailer != nullptr && (letter.context != mailer->context || letter.mail_class != mailer->mail_class)) {
    fail("the letter is of another mailer (context_id " + std::to_string(letter.context) + ", not " +
         std::to_string(mailer->context) + "); copy its body into a letter of this one");
  }
  const MailClass* const traits = find_class(letter.mail_class);
  const std::string damage =
      envelope_error({letter.envelope, letter.bytes}, letter.context, letter.mail_class, traits->box_bytes);
  if (!damage.empty()) fail("the program has overwritten the letter's envelope: " + damage);
  return at;
}

Letter Session::take_back(const ZIP_MAILER* mailer, const char* body) {
  spare_ = letters.extract(find_entry(mailer, body));
  return std::move(spare_.mapped());
}

}  // namespace margay::zipcode::core
