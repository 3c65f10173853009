#include "libraries/zipcode/invoices/format.hpp"

#include <limits>

#include "libraries/zipcode/methods.hpp"

namespace margay::zipcode::core {

namespace {

// The characters of a long format that an error shows before the caret, and in all.
constexpr std::size_t kShownBefore = 40;
constexpr std::size_t kShown = 72;

// The C locale's classes: a format means the same in every program.
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n';
}

class Parser {
 public:
  Parser(std::string_view format, std::vector<Specification>& out) : format_(format), out_(out) {}

  std::string run() {
    skip_blanks();
    if (at_end()) return fail("the format is empty: expected '%'", 0);
    while (!at_end() && error_.empty()) {
      specification();
      skip_blanks();
    }
    return error_;
  }

 private:
  [[nodiscard]] bool at_end() const { return at_ == format_.size(); }
  // The character at the position; 0 at the end. A zero byte inside the format is an error like any other character.
  [[nodiscard]] char next() const { return at_end() ? '\0' : format_[at_]; }

  void skip_blanks() {
    while (is_blank(next())) ++at_;
  }

  std::string fail(const std::string& what, std::size_t at) {
    error_ = with_caret(what, format_, at);
    return error_;
  }

  // The character at the position, for an error.
  [[nodiscard]] std::string found() const {
    if (at_end()) return "the end of the format";
    const char c = next();
    if (c < ' ' || c > '~') return "the byte " + std::to_string(static_cast<unsigned char>(c));
    return std::string("'") + c + "'";
  }

  void specification() {
    Specification spec;
    spec.begin = at_;
    if (next() != '%') {
      fail("expected '%' and not " + found(), at_);
      return;
    }
    ++at_;
    if (is_digit(next()) || next() == '*' || next() == '&') amount(spec.count, "count");
    if (error_.empty() && next() == '.') {
      ++at_;
      stride(spec.stride);
    }
    if (!error_.empty()) return;
    if (next() == '-') {
      spec.ignore = true;
      ++at_;
    }
    type(spec);
    if (error_.empty()) out_.push_back(spec);
  }

  void stride(Amount& stride) {
    if (is_digit(next()) || next() == '*' || next() == '&') {
      amount(stride, "stride");
    } else {
      fail("expected a stride after '.' (a positive integer, '*' or '&') and not " + found(), at_);
    }
  }

  void amount(Amount& amount, const char* noun) {
    if (next() == '*' || next() == '&') {
      amount.from = next() == '*' ? Amount::From::argument : Amount::From::address;
      ++at_;
      return;
    }
    const std::size_t begin = at_;
    constexpr long long kMost = std::numeric_limits<int>::max();
    long long value = 0;
    for (; is_digit(next()); ++at_) {
      value = value * 10 + (next() - '0');
      if (value > kMost) {
        fail(std::string("the ") + noun + " exceeds " + std::to_string(kMost), begin);
        return;
      }
    }
    if (value == 0) {
      fail(std::string("the ") + noun + " is 0: expected a positive integer, '*' or '&'", begin);
      return;
    }
    amount.value = static_cast<int>(value);
  }

  void type(Specification& spec) {
    spec.type_begin = at_;
    if (!is_letter(next())) {
      fail("expected a type (c, s, i, l, f, d or a user type)" + before_type(spec) + " and not " + found(), at_);
      return;
    }
    while (is_letter(next()) || is_digit(next())) ++at_;
    spec.type = format_.substr(spec.type_begin, at_ - spec.type_begin);
    if (next() != '(') return;
    if (format_.substr(at_, 3) != "(*)") {
      fail("expected \"(*)\" after '" + std::string(spec.type) + "'", at_);
    } else if (spec.type.size() == 1 && builtin_bytes(spec.type[0]) != 0) {
      fail("\"(*)\" is only for user types, and '" + std::string(spec.type) + "' is a built-in type", at_);
    } else {
      spec.has_extra = true;
      at_ += 3;
    }
  }

  // What else could stand where a type is missing.
  [[nodiscard]] std::string before_type(const Specification& spec) const {
    if (spec.ignore) return {};
    if (format_[at_ - 1] == '%') return ", a count, '.' or '-'";
    const bool has_stride = format_.substr(spec.begin, at_ - spec.begin).find('.') != std::string_view::npos;
    return has_stride ? " or '-'" : ", '.' or '-'";
  }

  const std::string_view format_;
  std::vector<Specification>& out_;
  std::size_t at_ = 0;
  std::string error_;
};

}  // namespace

std::string parse_format(std::string_view format, std::vector<Specification>& out) {
  out.clear();
  std::string error = Parser(format, out).run();
  if (!error.empty()) out.clear();
  return error;
}

std::string with_caret(const std::string& what, std::string_view format, std::size_t at) {
  const std::size_t begin = at > kShownBefore ? at - kShownBefore : 0;
  std::string shown(format.substr(begin, kShown));
  // A character a column.
  for (char& c : shown)
    if (c < ' ' || c > '~') c = is_blank(c) ? ' ' : '?';
  const std::string_view before = begin > 0 ? "..." : "";
  const std::string_view after = begin + shown.size() < format.size() ? "..." : "";
  std::string text = what + "\n  ";
  text.append(before).append(shown).append(after).append("\n  ");
  text.append(before.size() + at - begin, ' ');
  return text + "^";
}

bool is_identifier(std::string_view name) {
  if (name.empty() || !is_letter(name[0])) return false;
  for (const char c : name)
    if (!is_letter(c) && !is_digit(c)) return false;
  return true;
}

}  // namespace margay::zipcode::core
