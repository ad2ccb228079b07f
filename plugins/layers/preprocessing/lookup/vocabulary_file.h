// Vocabularies in files, one term per line.
#pragma once
#include <string>
#include <vector>

namespace crescent {

/// Reads the terms; fails, naming the line, for a repeated term after the first
/// `special_token_count` ones.
std::vector<std::string> read_vocabulary(const std::string& path, size_t special_token_count = 0);
/// Reads terms that must be integers.
std::vector<int64_t> read_integer_vocabulary(const std::string& path,
                                             size_t special_token_count = 0);
void write_vocabulary(const std::string& path, const std::vector<std::string>& terms);

}  // namespace crescent
