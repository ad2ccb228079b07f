#include <bit>

#include "hashes.h"

namespace crescent {
namespace {

struct SipState {
  uint64_t a, b, c, d;

  void run_rounds(int count) {
    while (count-- > 0) {
      a += b, c += d;
      b = std::rotl(b, 13) ^ a, d = std::rotl(d, 16) ^ c;
      a = std::rotl(a, 32);
      c += b, a += d;
      b = std::rotl(b, 17) ^ c, d = std::rotl(d, 21) ^ a;
      c = std::rotl(c, 32);
    }
  }
  void mix_in(uint64_t word) {
    d ^= word;
    run_rounds(2);
    a ^= word;
  }
};

/// Joins at most eight bytes to a word, with the first byte as the lowest.
uint64_t word_of(std::string_view bytes) {
  uint64_t word = 0;
  for (size_t i = 0; i < bytes.size(); ++i)
    word |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  return word;
}

}  // namespace

uint64_t sip_hash(std::string_view text, const SipKey& key) {
  SipState state{key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d,
                 key[0] ^ 0x6c7967656e657261, key[1] ^ 0x7465646279746573};
  const size_t block_bytes = text.size() / 8 * 8;
  for (size_t i = 0; i < block_bytes; i += 8) state.mix_in(word_of(text.substr(i, 8)));
  state.mix_in(word_of(text.substr(block_bytes)) | static_cast<uint64_t>(text.size()) << 56);
  state.c ^= 0xff;
  state.run_rounds(4);
  return state.a ^ state.b ^ state.c ^ state.d;
}

}  // namespace crescent
