#pragma once
#include <string>
#include <string_view>

namespace crescent::pictures {

/// Encodes bytes as base64 (RFC 4648).
std::string base64(std::string_view bytes);

}  // namespace crescent::pictures
