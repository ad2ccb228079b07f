#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace crescent::pictures {

/// Encodes pixels (rows, columns, 3) by libpng.
std::string encode_png(const std::vector<uint8_t>& rgb, int64_t rows, int64_t columns);

}  // namespace crescent::pictures
