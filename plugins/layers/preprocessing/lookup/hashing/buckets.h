// Divides texts and integers into buckets by their hash.
#pragma once
#include <optional>

#include "crescent/base/value.h"
#include "hashes.h"

namespace crescent {

/// The bucket of a text, from 0 to bucket_count - 1: by SipHash if there is a key, else by
/// FarmHash.
inline int64_t bucket_of(std::string_view text, int64_t bucket_count,
                         const std::optional<SipKey>& key) {
  const uint64_t hash = key ? sip_hash(text, *key) : farm_fingerprint(text);
  return static_cast<int64_t>(hash % static_cast<uint64_t>(bucket_count));
}
/// The bucket of an integer, which is hashed as decimal text.
inline int64_t bucket_of(int64_t number, int64_t bucket_count, const std::optional<SipKey>& key) {
  return bucket_of(std::to_string(number), bucket_count, key);
}

/// The key from the option `salt`, which is one integer or two; `salt` is replaced by a list of
/// two.
inline std::optional<SipKey> key_of(Value& salt, std::string_view layer) {
  if (salt.is_null()) return std::nullopt;
  if (salt.is_int()) salt = List{salt, salt};
  const bool is_pair = salt.is_list() && salt.as_list().size() == 2 && salt.as_list()[0].is_int() &&
                       salt.as_list()[1].is_int();
  if (!is_pair)
    fail("The `salt` argument for `", layer, "` can only be a tuple of size 2 integers, or a ",
         "single integer. Received: salt=", salt, ".");
  return SipKey{static_cast<uint64_t>(salt.as_list()[0].as_int()),
                static_cast<uint64_t>(salt.as_list()[1].as_int())};
}

}  // namespace crescent
