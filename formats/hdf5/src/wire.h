// What the process that wants a file and crescent-h5read, which opens it, say to each other over a
// socket.
//
// A request is one frame: operation, number of items, the items. The answer is one frame an item,
// in order, each sent as soon as it is known, so that the item where the reader died is the first
// one without an answer. Before that the reader sends one frame without being asked: the file is
// open, or why not. Neither side trusts a length of the other.
#pragma once
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace crescent::hdf5 {

/// Both sides come from one build; the number catches a mixed installation.
inline constexpr uint32_t kWireVersion = 3;
inline constexpr uint64_t kLongestFrame = uint64_t{256} << 20;

/// Where the HDF5 file is when the file is one of Keras' archives.
inline constexpr const char* kWeightsMember = "model.weights.h5";

/// Descriptors that the reader process finds open.
inline constexpr int kFileDescriptor = 3, kSocketDescriptor = 4, kMemoryDescriptor = 5;

/// How much of the processor's time may go into a request that may take `seconds`: disks may be
/// slow, but a small file that keeps libhdf5 busy has sent it in circles.
inline unsigned processor_seconds(unsigned seconds) {
  constexpr unsigned kLeast = 3, kWaiting = 27;
  return seconds > kLeast + kWaiting ? seconds - kWaiting : std::min(seconds, kLeast);
}

/// What `stored` bytes may promise: deflate cannot do better than about 1030 to 1, so more is a
/// trap, unless it is small.
inline bool can_unpack_to(uint64_t bytes, uint64_t stored) {
  constexpr uint64_t kBestCompression = 1100, kSmall = uint64_t{64} << 20;
  return bytes <= kSmall || bytes / kBestCompression <= stored;
}

enum class Operation : uint8_t {
  attribute,  ///< object, name -> AttributeKind, value
  describe,   ///< dataset -> element, shape, checksum or -1, place in the file or kNoPlace, rows a
              ///< chunk
  read,       ///< dataset, offset, bytes -> nothing; the numbers are in the shared memory
  rows,       ///< the same after offset and bytes: first row, number of rows
  list,       ///< group -> names of its members
  member,     ///< name -> the bytes of this other member of an archive
};
/// Of datasets that do not lie in the file in one piece, as they are in memory.
inline constexpr uint64_t kNoPlace = ~uint64_t{0};
enum class Status : uint8_t { ok, missing, refused };  ///< refused: a message follows
enum class AttributeKind : uint8_t { text, texts, integer, real };

/// Packs a frame.
class Packer {
 public:
  template <class T>
  requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) Packer& add(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  Packer& add(std::string_view text) {
    add(static_cast<uint64_t>(text.size()));
    bytes_.append(text);
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// Unpacks a frame. Reading past its end gives zeros and empty texts, and ok() turns false.
class Unpacker {
 public:
  explicit Unpacker(std::string bytes) : bytes_(std::move(bytes)) {}
  bool ok() const { return ok_; }

  template <class T>
  T number() {
    T value{};
    if (const char* p = take(sizeof value)) std::memcpy(&value, p, sizeof value);
    return value;
  }
  std::string text() {
    auto size = number<uint64_t>();
    const char* p = take(size);
    return p ? std::string(p, size) : std::string();
  }

 private:
  const char* take(uint64_t size) {
    if (size > bytes_.size() - position_) return ok_ = false, nullptr;
    position_ += size;
    return bytes_.data() + position_ - size;
  }

  std::string bytes_;
  uint64_t position_ = 0;
  bool ok_ = true;
};

/// `wait(socket)` returns false when there is no point in waiting longer.
template <class Wait>
bool send_all(int socket, const void* bytes, size_t size, int flags, const Wait& wait) {
  for (auto* p = static_cast<const char*>(bytes); size > 0;) {
    if (!wait(socket)) return false;
    ssize_t sent = send(socket, p, size, MSG_NOSIGNAL | flags);
    if (sent < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (sent <= 0) return false;
    p += sent;
    size -= static_cast<size_t>(sent);
  }
  return true;
}

template <class Wait>
bool send_frame(int socket, const Packer& frame, int flags, const Wait& wait) {
  uint64_t size = frame.bytes().size();
  return send_all(socket, &size, sizeof size, flags, wait) &&
         send_all(socket, frame.bytes().data(), size, flags, wait);
}

inline bool send_frame(int socket, const Packer& frame) {
  return send_frame(socket, frame, 0, [](int) { return true; });
}

template <class Wait>
bool receive_all(int socket, void* bytes, size_t size, const Wait& wait) {
  for (auto* p = static_cast<char*>(bytes); size > 0;) {
    if (!wait(socket)) return false;
    ssize_t received = recv(socket, p, size, 0);
    if (received < 0 && errno == EINTR) continue;
    if (received <= 0) return false;
    p += received;
    size -= static_cast<size_t>(received);
  }
  return true;
}

template <class Wait>
std::optional<Unpacker> receive_frame(int socket, const Wait& wait) {
  uint64_t size = 0;
  if (!receive_all(socket, &size, sizeof size, wait) || size > kLongestFrame) return std::nullopt;
  std::string bytes(size, '\0');
  if (!receive_all(socket, bytes.data(), size, wait)) return std::nullopt;
  return Unpacker(std::move(bytes));
}

}  // namespace crescent::hdf5
