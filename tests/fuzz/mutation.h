// Mutations of file contents that readers must survive: random ones, and ones at the beginning of
// HDF5 and zip structures.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <string_view>

namespace crescent::fuzz {

class Mutation {
 public:
  explicit Mutation(unsigned seed) : random_(seed) {}

  /// Applies one mutation or a few.
  void apply(std::string& bytes) {
    for (size_t changes = 1 + below(4); changes > 0 && !bytes.empty(); --changes)
      apply_single_mutation(bytes);
  }

 private:
  size_t below(size_t bound) { return random_() % bound; }
  size_t random_offset(const std::string& bytes, size_t size) {
    return size < bytes.size() ? below(bytes.size() - size + 1) : 0;
  }
  static size_t largest_fitting_size(const std::string& bytes, size_t size) {
    return std::min(size, bytes.size());
  }

  /// With equal probability, a position after a signature, where a header is, or any position.
  size_t random_header_offset(const std::string& bytes) {
    constexpr std::array<std::string_view, 9> kSignatures = {
        "\x89HDF", "TREE",       "SNOD",       "HEAP",      "GCOL",
        "OHDR",    "PK\x03\x04", "PK\x01\x02", "PK\x05\x06"};
    constexpr size_t kHeader = 96;
    const std::string_view signature = kSignatures[below(kSignatures.size())];
    size_t at = bytes.find(signature, random_offset(bytes, 1));
    if (at == bytes.npos) at = bytes.find(signature);
    if (at == bytes.npos) return random_offset(bytes, 1);
    return std::min(at + below(kHeader), bytes.size() - 1);
  }

  void apply_single_mutation(std::string& bytes) {
    const size_t at = below(2) ? random_offset(bytes, 1) : random_header_offset(bytes);
    const size_t size = std::min(size_t{1} << below(7), bytes.size() - at);
    switch (below(8)) {
      case 0:
        bytes[at] ^= static_cast<char>(1 << below(8));
        break;
      case 1:
        bytes[at] = static_cast<char>(random_());
        break;
      case 2:
        bytes.replace(at, size, size, '\0');
        break;
      case 3:
        bytes.replace(at, size, bytes.substr(random_offset(bytes, size), size));
        break;
      case 4:
        write_special_number(bytes, at);
        break;
      case 5:
        swap_words(bytes);
        break;
      case 6:
        bytes[at] = static_cast<char>(bytes[at] + (below(2) ? 1 : -1));
        break;
      default:
        insert_or_remove_bytes(bytes, at, size);
    }
  }

  /// Inserts or removes bytes. This is done seldom, because readers notice at once that all
  /// following bytes have moved.
  void insert_or_remove_bytes(std::string& bytes, size_t at, size_t size) {
    switch (below(16)) {
      case 0:
        return bytes.resize(at);
      case 1:
        return void(bytes.erase(at, size));
      case 2:
        return void(bytes.insert(at, bytes.substr(random_offset(bytes, size), size)));
      default:
        bytes[at] = '\0';
    }
  }

  void write_special_number(std::string& bytes, size_t at) {
    constexpr uint64_t kValues[] = {0,
                                    1,
                                    0x7f,
                                    0xff,
                                    0x7fff,
                                    0xffff,
                                    0x7fffffff,
                                    0xffffffff,
                                    uint64_t{1} << 32,
                                    uint64_t{1} << 40,
                                    0x7fffffffffffffff,
                                    uint64_t{1} << 63,
                                    ~uint64_t{0}};
    const uint64_t value = below(8) ? kValues[below(std::size(kValues))] : bytes.size() - below(64);
    const size_t size = largest_fitting_size(bytes, size_t{1} << below(4));
    at = std::min(at, bytes.size() - size);
    std::memcpy(bytes.data() + at, &value, size);
  }

  void swap_words(std::string& bytes) {
    constexpr size_t kWord = 8;
    if (bytes.size() < kWord) return;
    char* a = bytes.data() + random_offset(bytes, kWord) / kWord * kWord;
    char* b = bytes.data() + random_offset(bytes, kWord) / kWord * kWord;
    if (a != b) std::swap_ranges(a, a + kWord, b);
  }

  std::mt19937 random_;
};

}  // namespace crescent::fuzz
