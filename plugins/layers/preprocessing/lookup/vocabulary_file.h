// Vocabularies in files: one term a line.
#pragma once
#include <string>
#include <vector>

namespace crescent {

/// Fails naming the line of a term that was there before.
std::vector<std::string> read_vocabulary(const std::string& path);
/// Each must be an integer.
std::vector<int64_t> read_integer_vocabulary(const std::string& path);
void write_vocabulary(const std::string& path, const std::vector<std::string>& terms);

}  // namespace crescent
