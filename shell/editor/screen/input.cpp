#include "input.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <optional>

#include "letters.h"

namespace crescent::editor {
namespace {

constexpr std::string_view kPasteBegins = "\x1b[200~", kPasteEnds = "\x1b[201~",
                           kSequenceStart = "\x1b[";
constexpr char kEscape = '\x1b';
// The time in milliseconds to wait for the remaining bytes of a key, and of a paste.
constexpr int kKeyTimeout = 40, kPasteTimeout = 2000;
// If a single read returns more bytes than this, they were pasted, not typed.
constexpr size_t kMaxTypedBytes = 32;
constexpr int kBurstTimeout = 3;

const char* terminal_name() {
  const char* name = std::getenv("TERM");
  return name ? name : "xterm";
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

/// The length of the control sequence at the start of the bytes; nullopt if it is incomplete, 2 if
/// it is malformed.
std::optional<size_t> sequence_length(std::string_view bytes) {
  size_t end = 2;
  while (end < bytes.size() && bytes[end] >= 0x20 && bytes[end] < 0x40) ++end;
  if (end == bytes.size()) return std::nullopt;
  return bytes[end] >= 0x40 && bytes[end] < 0x7f ? end + 1 : 2;
}

/// Whether libtermkey may be given the sequence. Version 0.22 crashes on sequences with bytes
/// between the parameters and the final byte, and on sequences that are longer than its buffer.
bool may_be_key(std::string_view sequence) {
  constexpr size_t kMaxLength = 64;
  return sequence.size() <= kMaxLength &&
         std::none_of(sequence.begin(), sequence.end(),
                      [](char c) { return c >= 0x20 && c < 0x30; });
}

/// Pasted text, with the carriage returns that a terminal sends replaced by "\n".
std::string with_plain_line_ends(const std::string& text) {
  std::string result;
  result.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i)
    if (text[i] != '\r')
      result += text[i];
    else if (i + 1 == text.size() || text[i + 1] != '\n')
      result += '\n';
  return result;
}

}  // namespace

Input::Input(int file, std::function<bool()> is_stopped)
    : file_(file),
      is_stopped_(std::move(is_stopped)),
      key_decoder_(termkey_new_abstract(terminal_name(), TERMKEY_FLAG_UTF8), termkey_destroy) {
  if (key_decoder_) termkey_set_canonflags(key_decoder_.get(), TERMKEY_CANON_DELBS);
}

/// Waits for input. Signals are blocked except during the wait itself, so that a signal between the
/// call of is_stopped and the wait still ends the wait.
Input::WaitResult Input::wait(int wakeup_file, int milliseconds) {
  sigset_t all_signals, old_mask;
  sigfillset(&all_signals);
  pthread_sigmask(SIG_BLOCK, &all_signals, &old_mask);
  pollfd files[] = {{file_, POLLIN, 0}, {wakeup_file, POLLIN, 0}};
  const timespec limit{milliseconds / 1000, milliseconds % 1000 * 1000000L};
  WaitResult result = WaitResult::timed_out;
  if (is_stopped_())
    result = WaitResult::stopped;
  else if (const int count = ppoll(files, 2, milliseconds < 0 ? nullptr : &limit, &old_mask);
           count < 0)
    result = is_stopped_() ? WaitResult::stopped : WaitResult::woken;
  else if (count > 0)
    result = files[1].revents ? WaitResult::woken : WaitResult::input;
  pthread_sigmask(SIG_SETMASK, &old_mask, nullptr);
  return result;
}

int Input::timeout() const {
  if (is_in_paste_) return kPasteTimeout;
  return is_in_key_ || consumed_bytes_ < bytes_.size() ? kKeyTimeout : -1;
}

Input::WaitResult Input::read_more(int wakeup_file) {
  const WaitResult result = wait(wakeup_file, timeout());
  if (result != WaitResult::input) return result;
  char chunk[65536];
  const ssize_t count = ::read(file_, chunk, sizeof chunk);
  if (count < 0 && (errno == EINTR || errno == EAGAIN)) return WaitResult::woken;
  if (count <= 0) return WaitResult::closed;
  bytes_.erase(0, consumed_bytes_).append(chunk, static_cast<size_t>(count));
  consumed_bytes_ = 0;
  last_read_size_ = bytes_.size();
  return WaitResult::input;
}

/// Decodes the bytes of an incomplete key or paste as if they were complete, since no more bytes
/// have arrived in time.
void Input::decode_incomplete() {
  if (is_in_paste_) {
    is_in_paste_ = false;
    events_.push_back({Event::Kind::pasted, with_plain_line_ends(paste_)});
  } else if (is_in_key_) {
    take_keys_from_decoder(true);
  } else if (is_control(bytes_[consumed_bytes_])) {
    push_keys(bytes_.size() - consumed_bytes_);
    take_keys_from_decoder(true);
  } else {
    events_.push_back({Event::Kind::text, bytes_.substr(consumed_bytes_)});
    consumed_bytes_ = bytes_.size();
  }
}

Event Input::next(int wakeup_file) {
  while (events_.empty()) {
    if (decode()) continue;
    switch (read_more(wakeup_file)) {
      case WaitResult::input:
        break;
      case WaitResult::timed_out:
        decode_incomplete();
        break;
      case WaitResult::woken:
        return {Event::Kind::woken, ""};
      case WaitResult::stopped:
        return {Event::Kind::stopped, ""};
      case WaitResult::closed:
        return {Event::Kind::closed, ""};
    }
  }
  Event event = std::move(events_.front());
  events_.pop_front();
  return event;
}

bool Input::pending() {
  if (!events_.empty() || consumed_bytes_ < bytes_.size()) return true;
  pollfd input{file_, POLLIN, 0};
  return poll(&input, 1, 0) > 0;
}

bool Input::in_burst() {
  if (pending()) return true;
  pollfd input{file_, POLLIN, 0};
  return last_read_size_ > kMaxTypedBytes && poll(&input, 1, kBurstTimeout) > 0;
}

/// Turns the next bytes into events; returns false when more bytes are needed.
bool Input::decode() {
  if (consumed_bytes_ == bytes_.size()) return false;
  if (is_in_paste_) return decode_paste();
  return is_in_key_ || is_control(bytes_[consumed_bytes_]) ? decode_key() : decode_text();
}

bool Input::decode_paste() {
  const size_t search_begin = paste_.size() - std::min(paste_.size(), kPasteEnds.size());
  paste_.append(bytes_, consumed_bytes_);
  consumed_bytes_ = bytes_.size();
  const size_t end = paste_.find(kPasteEnds, search_begin);
  if (end == paste_.npos) return false;
  consumed_bytes_ -= paste_.size() - end - kPasteEnds.size();
  paste_.resize(end);
  is_in_paste_ = false;
  events_.push_back({Event::Kind::pasted, with_plain_line_ends(paste_)});
  return true;
}

bool Input::decode_text() {
  const auto end = std::find_if(bytes_.begin() + static_cast<std::ptrdiff_t>(consumed_bytes_),
                                bytes_.end(), is_control);
  std::string_view text(bytes_.data() + consumed_bytes_,
                        static_cast<size_t>(end - bytes_.begin()) - consumed_bytes_);
  if (end == bytes_.end()) text = text.substr(0, whole_characters(text));
  if (text.empty()) return false;
  events_.push_back({Event::Kind::text, std::string(text)});
  consumed_bytes_ += text.size();
  return true;
}

bool Input::decode_key() {
  const std::string_view bytes = std::string_view(bytes_).substr(consumed_bytes_);
  if (!is_in_key_ && bytes.starts_with(kPasteBegins)) {
    consumed_bytes_ += kPasteBegins.size();
    is_in_paste_ = true;
    paste_.clear();
    return true;
  }
  if (!is_in_key_ && kPasteBegins.starts_with(bytes)) return false;
  if (is_in_key_ && bytes[0] == kEscape) return take_keys_from_decoder(true), true;
  if (!is_in_key_ && bytes.starts_with(kSequenceStart)) return decode_sequence(bytes);
  push_keys(1);
  take_keys_from_decoder(false);
  if (is_in_key_ && termkey_get_buffer_remaining(key_decoder_.get()) == 0)
    take_keys_from_decoder(true);
  return true;
}

bool Input::decode_sequence(std::string_view bytes) {
  const std::optional<size_t> length = sequence_length(bytes);
  if (!length) return false;
  if (may_be_key(bytes.substr(0, *length)))
    push_keys(*length), take_keys_from_decoder(true);
  else
    consumed_bytes_ += *length;
  return true;
}

void Input::push_keys(size_t byte_count) {
  if (key_decoder_)
    termkey_push_bytes(key_decoder_.get(), bytes_.data() + consumed_bytes_, byte_count);
  consumed_bytes_ += byte_count;
  is_in_key_ = key_decoder_ != nullptr;
}

void Input::take_keys_from_decoder(bool is_forced) {
  if (!key_decoder_) return;
  const auto get_key = is_forced ? termkey_getkey_force : termkey_getkey;
  for (TermKeyKey key; get_key(key_decoder_.get(), &key) == TERMKEY_RES_KEY; is_in_key_ = false) {
    char name[64];
    termkey_strfkey(key_decoder_.get(), name, sizeof name, &key, TermKeyFormat{});
    const bool is_plain = key.type == TERMKEY_TYPE_UNICODE && key.modifiers == 0;
    events_.push_back(
        {is_plain ? Event::Kind::text : Event::Kind::key, is_plain ? key.utf8 : name});
  }
  if (is_forced) is_in_key_ = false;
}

}  // namespace crescent::editor
