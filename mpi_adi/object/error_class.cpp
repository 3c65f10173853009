#include "mpi_adi/object/error_class.hpp"

#include <algorithm>
#include <utility>

namespace margay::mpi_adi {
namespace {

struct ErrorClass {
  int value;
  std::string_view name;
  std::string_view text;
};

#define MARGAY_ERROR(name, text) \
  ErrorClass {                   \
    name, #name, text            \
  }

// In the order of their values, for a binary search.
constexpr std::array kClasses{
    MARGAY_ERROR(MPI_SUCCESS, "no error"),
    MARGAY_ERROR(MPI_ERR_BUFFER, "the buffer is not a valid address for this call"),
    MARGAY_ERROR(MPI_ERR_COUNT, "a count is negative or too large"),
    MARGAY_ERROR(MPI_ERR_TYPE, "a datatype is null, freed, not committed, or not allowed here"),
    MARGAY_ERROR(MPI_ERR_TAG, "a tag is negative or above the attribute MPI_TAG_UB"),
    MARGAY_ERROR(MPI_ERR_COMM, "a communicator is null, freed, or not allowed here"),
    MARGAY_ERROR(MPI_ERR_RANK, "a rank is outside the communicator or group"),
    MARGAY_ERROR(MPI_ERR_ROOT, "the root is outside the communicator"),
    MARGAY_ERROR(MPI_ERR_GROUP, "a group is null or freed"),
    MARGAY_ERROR(MPI_ERR_OP, "an operation is null, freed, or not defined for the datatype"),
    MARGAY_ERROR(MPI_ERR_TOPOLOGY, "the communicator has no topology, or one of another kind"),
    MARGAY_ERROR(MPI_ERR_DIMS, "the dimensions of a topology are not possible"),
    MARGAY_ERROR(MPI_ERR_ARG, "an argument is not valid"),
    MARGAY_ERROR(MPI_ERR_UNKNOWN, "an error of unknown kind"),
    MARGAY_ERROR(MPI_ERR_TRUNCATE, "the message is longer than the buffer of its receive"),
    MARGAY_ERROR(MPI_ERR_OTHER, "an error that no other class describes"),
    MARGAY_ERROR(MPI_ERR_INTERN, "an internal error: the library's state is inconsistent"),
    MARGAY_ERROR(MPI_ERR_IN_STATUS, "some of the requests failed: each status holds its own error"),
    MARGAY_ERROR(MPI_ERR_PENDING, "the request neither failed nor completed"),
    MARGAY_ERROR(MPI_ERR_REQUEST, "a request is null, freed, or not allowed here"),
    MARGAY_ERROR(MPI_ERR_ACCESS, "access to the file was denied"),
    MARGAY_ERROR(MPI_ERR_AMODE, "the access modes of the file contradict each other or differ between processes"),
    MARGAY_ERROR(MPI_ERR_BAD_FILE, "the name of the file is not valid"),
    MARGAY_ERROR(MPI_ERR_CONVERSION, "a data conversion function reported an error"),
    MARGAY_ERROR(MPI_ERR_DUP_DATAREP, "a data representation of that name is registered already"),
    MARGAY_ERROR(MPI_ERR_FILE_EXISTS, "the file exists already"),
    MARGAY_ERROR(MPI_ERR_FILE_IN_USE, "the file is open in some process"),
    MARGAY_ERROR(MPI_ERR_FILE, "the file handle is null or closed"),
    MARGAY_ERROR(MPI_ERR_INFO, "an info object is null or freed"),
    MARGAY_ERROR(MPI_ERR_INFO_KEY, "an info key is empty or longer than MPI_MAX_INFO_KEY"),
    MARGAY_ERROR(MPI_ERR_INFO_VALUE, "an info value is empty or longer than MPI_MAX_INFO_VAL"),
    MARGAY_ERROR(MPI_ERR_INFO_NOKEY, "the info object does not have the key"),
    MARGAY_ERROR(MPI_ERR_IO, "reading or writing the file failed"),
    MARGAY_ERROR(MPI_ERR_NAME, "invalid service name: it is not published"),
    MARGAY_ERROR(MPI_ERR_NO_MEM, "there is not enough memory"),
    MARGAY_ERROR(MPI_ERR_NOT_SAME, "the processes gave different values where a collective call needs equal ones"),
    MARGAY_ERROR(MPI_ERR_NO_SPACE, "not enough space for the file"),
    MARGAY_ERROR(MPI_ERR_NO_SUCH_FILE, "the file does not exist"),
    MARGAY_ERROR(MPI_ERR_PORT, "the port name is not valid, or no process listens there"),
    MARGAY_ERROR(MPI_ERR_QUOTA, "the user's quota of disk space is used up"),
    MARGAY_ERROR(MPI_ERR_READ_ONLY, "the file or its file system can only be read"),
    MARGAY_ERROR(MPI_ERR_SERVICE, "the service name cannot be published or withdrawn"),
    MARGAY_ERROR(MPI_ERR_SPAWN, "starting processes failed"),
    MARGAY_ERROR(MPI_ERR_UNSUPPORTED_DATAREP, "the data representation is not supported"),
    MARGAY_ERROR(MPI_ERR_UNSUPPORTED_OPERATION, "the operation is not supported"),
    MARGAY_ERROR(MPI_ERR_WIN, "a window is null, freed, or not allowed here"),
    MARGAY_ERROR(MPI_ERR_BASE, "the base address of a window's memory is not valid"),
    MARGAY_ERROR(MPI_ERR_LOCKTYPE, "the lock type is neither MPI_LOCK_SHARED nor MPI_LOCK_EXCLUSIVE"),
    MARGAY_ERROR(MPI_ERR_KEYVAL, "an attribute key is invalid, freed, or of another kind of object"),
    MARGAY_ERROR(MPI_ERR_RMA_CONFLICT, "accesses to a window conflict"),
    MARGAY_ERROR(MPI_ERR_RMA_SYNC, "the synchronization calls on a window are in the wrong order"),
    MARGAY_ERROR(MPI_ERR_SIZE, "a size is negative or not possible"),
    MARGAY_ERROR(MPI_ERR_DISP, "a displacement or displacement unit is not valid"),
    MARGAY_ERROR(MPI_ERR_ASSERT, "the assertions given to a synchronization call are not valid"),
    MARGAY_ERROR(MPI_ERR_RMA_RANGE, "the target memory is not part of the window"),
    MARGAY_ERROR(MPI_ERR_RMA_ATTACH, "memory cannot be attached to the window"),
    MARGAY_ERROR(MPI_ERR_RMA_SHARED, "memory cannot be shared between these processes"),
    MARGAY_ERROR(MPI_ERR_RMA_FLAVOR, "the window was made by another kind of call than this one needs"),
    MARGAY_ERROR(MPI_T_ERR_MEMORY, "the tool interface has not enough memory"),
    MARGAY_ERROR(MPI_T_ERR_NOT_INITIALIZED, "the tool interface is not initialized"),
    MARGAY_ERROR(MPI_T_ERR_CANNOT_INIT, "the tool interface cannot be initialized now"),
    MARGAY_ERROR(MPI_T_ERR_INVALID_INDEX, "the index is not valid in the tool interface"),
    MARGAY_ERROR(MPI_T_ERR_INVALID_ITEM, "the enumeration has no item of that index"),
    MARGAY_ERROR(MPI_T_ERR_INVALID_HANDLE, "the handle of the tool interface is not valid"),
    MARGAY_ERROR(MPI_T_ERR_OUT_OF_HANDLES, "the tool interface has no handle left"),
    MARGAY_ERROR(MPI_T_ERR_OUT_OF_SESSIONS, "the tool interface has no session left"),
    MARGAY_ERROR(MPI_T_ERR_INVALID_SESSION, "the session of the tool interface is not valid"),
    MARGAY_ERROR(MPI_T_ERR_CVAR_SET_NOT_NOW, "the control variable cannot be set now"),
    MARGAY_ERROR(MPI_T_ERR_CVAR_SET_NEVER, "the control variable cannot be set any more"),
    MARGAY_ERROR(MPI_T_ERR_PVAR_NO_STARTSTOP, "the performance variable cannot be started or stopped"),
    MARGAY_ERROR(MPI_T_ERR_PVAR_NO_WRITE, "the performance variable cannot be written or reset"),
    MARGAY_ERROR(MPI_T_ERR_PVAR_NO_ATOMIC, "the performance variable cannot be read and reset in one step"),
    MARGAY_ERROR(MPI_T_ERR_INVALID_NAME, "the name is not known to the tool interface"),
    MARGAY_ERROR(MPI_T_ERR_INVALID, "an argument to the tool interface is not valid"),
    MARGAY_ERROR(MPI_ERR_SESSION, "a session is null or finalized"),
    MARGAY_ERROR(MPI_ERR_PROC_ABORTED, "the other process has aborted"),
    MARGAY_ERROR(MPI_ERR_VALUE_TOO_LARGE, "the value is too large for the argument that would hold it"),
    MARGAY_ERROR(MPI_T_ERR_NOT_SUPPORTED, "the tool interface does not support this"),
    MARGAY_ERROR(MPIX_ERR_PROC_FAILED, "a process that the call needs has failed"),
    MARGAY_ERROR(MPIX_ERR_PROC_FAILED_PENDING, "a process that could have matched the receive has failed"),
    MARGAY_ERROR(MPIX_ERR_REVOKED, "the communicator was revoked"),
    MARGAY_ERROR(MPIX_ERR_EAGAIN, "the operation cannot be started now: try again"),
    MARGAY_ERROR(MPIX_ERR_NOREQ, "no request is left"),
};

#undef MARGAY_ERROR

static_assert(std::is_sorted(kClasses.begin(), kClasses.end(),
                             [](const ErrorClass& a, const ErrorClass& b) { return a.value < b.value; }));

const ErrorClass* find(int error_class) {
  const auto* at = std::lower_bound(kClasses.begin(), kClasses.end(), error_class,
                                    [](const ErrorClass& entry, int value) { return entry.value < value; });
  return at != kClasses.end() && at->value == error_class ? at : nullptr;
}

// Cuts a text to the size of MPI_Error_string's buffer.
std::string cut_to_fit(std::string text) {
  constexpr std::size_t kLongest = MPI_MAX_ERROR_STRING - 1;
  if (text.size() > kLongest) text.replace(kLongest - 3, std::string::npos, "...");
  return text;
}

}  // namespace

std::string_view error_class_name(int error_class) {
  const ErrorClass* entry = find(error_class);
  return entry == nullptr ? std::string_view{} : entry->name;
}

std::string_view error_class_text(int error_class) {
  const ErrorClass* entry = find(error_class);
  return entry == nullptr ? std::string_view{} : entry->text;
}

int ErrorTable::make(int error_class, std::string sentence) {
  if (error_class == MPI_SUCCESS) return MPI_SUCCESS;
  // The class must fit in the code's low bits, which an added class does not.
  if (find(error_class) == nullptr) error_class = MPI_ERR_OTHER;
  if (sentence.empty()) return error_class;
  const std::lock_guard guard(mutex_);
  // Serial numbers start again at 1, so a very old code may select a newer message's place. So text_of() compares the
  // whole code.
  serial_ = serial_ == kMaxErrorSerial ? 1 : serial_ + 1;
  const int code = error_class | static_cast<int>(serial_ << kErrorClassBits);
  kept_[serial_ % kKeptSentences] = Kept{code, std::move(sentence)};
  return code;
}

const ErrorTable::Added* ErrorTable::added(int code) const {
  const auto found = added_.find(code);
  return found == added_.end() ? nullptr : &found->second;
}

int ErrorTable::class_with_lock(int code) const {
  if (const Added* own = added(code)) return own->error_class;
  if (code < 0 || code >= MPI_ERR_LASTCODE) return MPI_ERR_UNKNOWN;
  const int error_class = code & kErrorClassMask;
  // A number with a serial but without a class is not a code.
  if (error_class == MPI_SUCCESS && code != MPI_SUCCESS) return MPI_ERR_UNKNOWN;
  return find(error_class) == nullptr ? MPI_ERR_UNKNOWN : error_class;
}

int ErrorTable::class_of(int code) const {
  const std::lock_guard guard(mutex_);
  return class_with_lock(code);
}

std::string ErrorTable::text_of(int code) const {
  const std::lock_guard guard(mutex_);
  if (const Added* own = added(code)) return own->text;
  const int error_class = class_with_lock(code);
  if (error_class == MPI_ERR_UNKNOWN && code != MPI_ERR_UNKNOWN) {
    return std::to_string(code) + " is not an error code of MPI";
  }
  const ErrorClass& entry = *find(error_class);
  const auto serial = static_cast<std::uint32_t>(code) >> kErrorClassBits;
  const Kept& kept = kept_[serial % kKeptSentences];
  std::string text(entry.name);
  text += ": ";
  // If the codes are equal, no newer message has replaced this one.
  if (serial != 0 && kept.code == code) {
    text += kept.sentence;
  } else {
    text += entry.text;
  }
  return cut_to_fit(std::move(text));
}

int ErrorTable::add_class() {
  // A class is also an error code, whose class is itself.
  const std::lock_guard guard(mutex_);
  ++last_used_code_;
  added_[last_used_code_].error_class = last_used_code_;
  return last_used_code_;
}

int ErrorTable::add_code(int error_class) {
  const std::lock_guard guard(mutex_);
  const auto own = added_.find(error_class);
  const bool is_own_class = own != added_.end() && own->second.error_class == error_class;
  if (!is_own_class && find(error_class) == nullptr) return MPI_ERR_UNKNOWN;
  if (is_own_class) ++own->second.codes;
  added_[++last_used_code_].error_class = error_class;
  return last_used_code_;
}

bool ErrorTable::set_text(int code, std::string text) {
  const std::lock_guard guard(mutex_);
  const auto found = added_.find(code);
  if (found == added_.end()) return false;
  found->second.text = cut_to_fit(std::move(text));
  return true;
}

bool ErrorTable::remove(int code) {
  const std::lock_guard guard(mutex_);
  const auto going = added_.find(code);
  // A class that still has codes must stay, because class_of() returns it for these codes.
  if (going == added_.end() || going->second.codes > 0) return false;
  const auto of = added_.find(going->second.error_class);
  if (of != going && of != added_.end()) --of->second.codes;
  added_.erase(going);
  return true;
}

int ErrorTable::last_used_code() const {
  const std::lock_guard guard(mutex_);
  return last_used_code_;
}

}  // namespace margay::mpi_adi
