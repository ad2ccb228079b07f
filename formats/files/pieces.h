// Checksums of the pieces of an array. If the array stays in its file, each piece is compared with
// its checksum when it is read.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "crescent/tensor/tensor.h"
#include "files/export.h"

namespace crescent::files {

/// The size of a piece in bytes; the last piece of an array may be shorter.
inline constexpr uint64_t kPieceBytes = uint64_t{2} << 20;

/// Computes the CRC-32C of an array of `bytes` bytes from the checksums of its pieces.
CRESCENT_FILES_API uint32_t joined_checksum(const std::vector<uint32_t>& checksums, uint64_t bytes);

/// Converts checksums to the form in which they are saved, eight hexadecimal digits each, and back.
CRESCENT_FILES_API std::vector<std::string> texts_of_checksums(
    const std::vector<uint32_t>& checksums);
CRESCENT_FILES_API std::vector<uint32_t> checksums_of_texts(const std::vector<std::string>& texts);

/// A storage of the bytes [start, start + bytes) of a file. Each piece is compared with its
/// checksum when a byte of it is first read. `array_name`, such as "'m.h5': '/kernel'", names the
/// array in the error for a damaged piece.
CRESCENT_FILES_API std::shared_ptr<Storage> checked_storage(std::shared_ptr<Storage> file,
                                                            uint64_t start, uint64_t bytes,
                                                            std::vector<uint32_t> checksums,
                                                            std::string array_name);

}  // namespace crescent::files
