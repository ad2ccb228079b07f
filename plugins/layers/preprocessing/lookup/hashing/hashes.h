// Hashes of texts that are the same in every process and on every machine. TensorFlow, and
// therefore Keras, uses these hashes to divide texts into buckets.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace crescent {

/// FarmHash's Fingerprint64 (Pike and Alakuijala, 2014).
uint64_t farm_fingerprint(std::string_view text);
/// Combines two fingerprints. Exchanging the fingerprints gives another result.
uint64_t joined_fingerprint(uint64_t first, uint64_t second);

using SipKey = std::array<uint64_t, 2>;
/// SipHash-2-4 (Aumasson and Bernstein, 2012).
uint64_t sip_hash(std::string_view text, const SipKey& key);

}  // namespace crescent
