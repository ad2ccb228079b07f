#include "event_file.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "crescent/base/error.h"
#include "crescent/system/file.h"

namespace crescent {
namespace {

// ---- Checksums are CRC-32C (Castagnoli). As in TensorFlow they are masked (rotated, plus a
// constant), because a CRC of data that contains its own CRCs detects few errors.

std::array<uint32_t, 256> crc_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? (crc >> 1) ^ 0x82F63B78u : crc >> 1;
    table[i] = crc;
  }
  return table;
}

uint32_t masked_crc(const std::string& bytes) {
  static const std::array<uint32_t, 256> table = crc_table();
  uint32_t crc = ~0u;
  for (const char c : bytes) crc = table[(crc ^ static_cast<unsigned char>(c)) & 255] ^ (crc >> 8);
  crc = ~crc;
  return ((crc >> 15) | (crc << 17)) + 0xA282EAD8u;
}

template <class T>
std::string little_endian(T value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  if constexpr (std::endian::native == std::endian::big) std::reverse(bytes.begin(), bytes.end());
  return bytes;
}

// ---- In protocol buffers, a field is a key (field number and wire type) and a value.

std::string varint(uint64_t value) {
  std::string bytes;
  for (; value > 127; value >>= 7) bytes += static_cast<char>(value | 128);
  return bytes + static_cast<char>(value);
}
std::string integer_field(int number, int64_t value) {
  return varint(uint64_t(number) << 3) + varint(static_cast<uint64_t>(value));
}
std::string fixed_field(int number, double value) {
  return varint(uint64_t(number) << 3 | 1) + little_endian(value);
}
std::string fixed_field(int number, float value) {
  return varint(uint64_t(number) << 3 | 5) + little_endian(value);
}
std::string bytes_field(int number, const std::string& value) {
  return varint(uint64_t(number) << 3 | 2) + varint(value.size()) + value;
}
std::string doubles_field(int number, const std::vector<double>& values) {
  std::string packed_values;
  for (const double value : values) packed_values += little_endian(value);
  return bytes_field(number, packed_values);
}

double seconds_since_1970() {
  const auto time_since_1970 = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(time_since_1970).count();
}

/// The upper limits of histogram buckets: ..., -1e-12, 0, 1e-12, ..., each 1.1 times the previous
/// one in magnitude.
const std::vector<double>& histogram_limits() {
  static const std::vector<double> bucket_limits = [] {
    std::vector<double> positive_limits;
    for (double x = 1e-12; x < 1e20; x *= 1.1) positive_limits.push_back(x);
    positive_limits.push_back(std::numeric_limits<double>::max());
    std::vector<double> signed_limits;
    for (auto x = positive_limits.rbegin(); x != positive_limits.rend(); ++x)
      signed_limits.push_back(-*x);
    signed_limits.push_back(0);
    signed_limits.insert(signed_limits.end(), positive_limits.begin(), positive_limits.end());
    return signed_limits;
  }();
  return bucket_limits;
}

}  // namespace

EventFile::EventFile(const std::string& folder) {
  static std::atomic<int> file_count = 0;
  char host[256] = "localhost";
  gethostname(host, sizeof host - 1);
  create_folder(folder);
  path_ = concat(folder, "/events.out.tfevents.", static_cast<int64_t>(seconds_since_1970()), ".",
                 host, ".", getpid(), ".", file_count++, ".v2");
  file_.reset(std::fopen(system_path(path_), "wb"));
  if (!file_) fail("TensorBoard: cannot write '", path_, "'");
  write_record(fixed_field(1, seconds_since_1970()) + bytes_field(3, "brain.Event:2"));
}

void EventFile::write_record(const std::string& record) {
  const NoFileSizeSignal no_signal;
  const std::string length = little_endian(static_cast<uint64_t>(record.size()));
  const std::string message =
      length + little_endian(masked_crc(length)) + record + little_endian(masked_crc(record));
  if (std::fwrite(message.data(), 1, message.size(), file_.get()) != message.size())
    fail("TensorBoard: cannot write '", path_, "'");
}

void EventFile::add_summary(const std::string& tag, const std::string& value, int64_t step) {
  write_record(fixed_field(1, seconds_since_1970()) + integer_field(2, step) +
               bytes_field(5, bytes_field(1, bytes_field(1, tag) + value)));
}

void EventFile::add_scalar(const std::string& tag, double value, int64_t step) {
  add_summary(tag, fixed_field(2, static_cast<float>(value)), step);
}

void EventFile::add_histogram(const std::string& tag, std::span<const double> values,
                              int64_t step) {
  std::vector<double> counts(histogram_limits().size());
  double min_value = INFINITY, max_value = -INFINITY, sum = 0, sum_of_squares = 0, finite_count = 0;
  for (const double x : values) {
    if (!std::isfinite(x)) continue;
    min_value = std::min(min_value, x), max_value = std::max(max_value, x);
    sum += x, sum_of_squares += x * x, ++finite_count;
    const auto bucket = std::lower_bound(histogram_limits().begin(), histogram_limits().end(), x) -
                        histogram_limits().begin();
    ++counts[std::min<size_t>(size_t(bucket), counts.size() - 1)];
  }
  // The upper limits and counts of the buckets from the one before the first that is not empty to
  // the last that is not empty.
  std::vector<double> kept_limits, kept_counts;
  size_t first_bucket = 0, end_bucket = counts.size();
  while (first_bucket < end_bucket && counts[first_bucket] == 0) ++first_bucket;
  while (end_bucket > first_bucket && counts[end_bucket - 1] == 0) --end_bucket;
  for (size_t i = first_bucket > 0 ? first_bucket - 1 : 0; i < end_bucket; ++i) {
    kept_limits.push_back(histogram_limits()[i]);
    kept_counts.push_back(counts[i]);
  }
  if (finite_count == 0) min_value = max_value = 0;
  add_summary(tag,
              bytes_field(5, fixed_field(1, min_value) + fixed_field(2, max_value) +
                                 fixed_field(3, finite_count) + fixed_field(4, sum) +
                                 fixed_field(5, sum_of_squares) + doubles_field(6, kept_limits) +
                                 doubles_field(7, kept_counts)),
              step);
}

void EventFile::add_model(const std::string& json) {
  constexpr int kStringDtype = 7;  // the number of the dtype string in TensorFlow
  const std::string tensor =
      integer_field(1, kStringDtype) + bytes_field(2, "") + bytes_field(8, json);
  const std::string metadata = bytes_field(1, bytes_field(1, "graph_keras_model"));
  add_summary("keras", bytes_field(8, tensor) + bytes_field(9, metadata), 0);
}

void EventFile::flush() {
  const NoFileSizeSignal no_signal;
  if (std::fflush(file_.get()) != 0) fail("TensorBoard: cannot write '", path_, "'");
}

}  // namespace crescent
