// The first bytes of a format's files, which its schema gives as hexadecimal digits.
#pragma once
#include <string>

namespace crescent {

/// "89504e47" -> its bytes; fails, naming the format, where the digits are none.
std::string signature_bytes(const std::string& hexadecimal, const std::string& format);

}  // namespace crescent
