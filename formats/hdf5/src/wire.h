// The protocol between a process that reads a file and crescent-h5read, over a socket.
//
// The reader first sends one frame that says that the file is open, or the reason why not. A
// request is one frame: operation, number of items, items. The answer is one frame per item, in
// order and as soon as it is known, so the first item without an answer is the one at which the
// reader ended. Each side checks the lengths that the other sends.
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

/// The version of the protocol. If a library and a crescent-h5read of different versions of
/// Crescent are installed together, their numbers may differ, and the library refuses to read
/// files.
inline constexpr uint32_t kWireVersion = 4;
inline constexpr uint64_t kMaxFrameBytes = uint64_t{256} << 20;
/// The size of the largest member of an archive, other than the HDF5 file, that can be read.
inline constexpr uint64_t kMaxMemberBytes = kMaxFrameBytes / 2;

/// The member of a Keras archive that is the HDF5 file.
inline constexpr const char* kWeightsMember = "model.weights.h5";

/// The descriptors that are open in the reader process.
inline constexpr int kFileDescriptor = 3, kSocketDescriptor = 4, kMemoryDescriptor = 5;

/// The limit of processor time in seconds for a request that may take `seconds`. It is shorter than
/// that time, which includes waiting for a disk: if libhdf5 computes for long, it is in an endless
/// loop.
inline unsigned processor_seconds(unsigned seconds) {
  constexpr unsigned kMinSeconds = 3, kWaitingSeconds = 27;
  return seconds > kMinSeconds + kWaitingSeconds ? seconds - kWaitingSeconds
                                                 : std::min(seconds, kMinSeconds);
}

/// Whether `stored_bytes` compressed bytes can decompress to `bytes` bytes. The compression ratio
/// of deflate is at most about 1030, so a larger ratio is an attack, except for small sizes.
inline bool can_unpack_to(uint64_t bytes, uint64_t stored_bytes) {
  constexpr uint64_t kMaxCompressionRatio = 1100, kSmallBytes = uint64_t{64} << 20;
  return bytes <= kSmallBytes || bytes / kMaxCompressionRatio <= stored_bytes;
}

enum class Operation : uint8_t {
  attribute,  ///< (object, name) -> (AttributeKind, value): reads an attribute
  describe,   ///< dataset -> (type, shape, checksum or -1, offset or kNoOffset, rows per chunk)
  read,       ///< (dataset, offset, bytes) -> (); the values are in the shared memory
  rows,       ///< the same as read, for (dataset, offset, bytes, first row, number of rows)
  list,       ///< group -> names of members
  member,     ///< name -> bytes of this member of the archive
  names,      ///< folder -> names of the members of the archive that begin with it
};
/// The offset that is sent if the values of a dataset cannot be used in the file: they are not
/// contiguous, or are represented otherwise than in memory.
inline constexpr uint64_t kNoOffset = ~uint64_t{0};
enum class Status : uint8_t { ok, missing, refused };  ///< `refused` is followed by a message
enum class AttributeKind : uint8_t { text, texts, integer, real };

/// Appends numbers and texts to the bytes of a frame.
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

/// Reads numbers and texts from the bytes of a frame. Reading past the end returns zeros and empty
/// texts, and then ok() is false.
class Unpacker {
 public:
  explicit Unpacker(std::string bytes) : bytes_(std::move(bytes)) {}
  bool ok() const { return ok_; }

  template <class T>
  T number() {
    T value{};
    if (const char* p = read_bytes(sizeof value)) std::memcpy(&value, p, sizeof value);
    return value;
  }
  std::string text() {
    auto size = number<uint64_t>();
    const char* p = read_bytes(size);
    return p ? std::string(p, size) : std::string();
  }

 private:
  const char* read_bytes(uint64_t size) {
    if (size > bytes_.size() - position_) return ok_ = false, nullptr;
    position_ += size;
    return bytes_.data() + position_ - size;
  }

  std::string bytes_;
  uint64_t position_ = 0;
  bool ok_ = true;
};

/// Sends all of the bytes. In this and the following functions `wait(socket)` waits until the
/// socket is ready, or returns false to give up.
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
  if (!receive_all(socket, &size, sizeof size, wait) || size > kMaxFrameBytes) return std::nullopt;
  std::string bytes(size, '\0');
  if (!receive_all(socket, bytes.data(), size, wait)) return std::nullopt;
  return Unpacker(std::move(bytes));
}

}  // namespace crescent::hdf5
