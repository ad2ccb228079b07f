// The first bytes (magic number) of files of a format. The schema of the format gives them as
// hexadecimal digits.
#pragma once
#include <string>

namespace crescent {

/// The bytes of a text such as "89504e47"; fails, naming the format, for a text that is not
/// hexadecimal.
std::string signature_bytes(const std::string& hexadecimal, const std::string& format);

}  // namespace crescent
