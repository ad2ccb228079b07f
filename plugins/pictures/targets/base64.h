#pragma once
#include <string>
#include <string_view>

namespace crescent::pictures {

/// Bytes as letters, four for three (RFC 4648).
std::string base64(std::string_view bytes);

}  // namespace crescent::pictures
