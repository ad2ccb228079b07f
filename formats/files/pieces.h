// Checksums of the pieces of an array, by which one that stays in its file is compared with what
// was saved as it is read.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "crescent/tensor/tensor.h"
#include "files/export.h"

namespace crescent::files {

inline constexpr uint64_t kPiece = uint64_t{2} << 20;  ///< bytes; the last one may be shorter

/// CRC-32C of `bytes` bytes from that of each piece.
CRESCENT_FILES_API uint32_t joined_pieces(const std::vector<uint32_t>& pieces, uint64_t bytes);

/// As they stand in files: eight digits each.
CRESCENT_FILES_API std::vector<std::string> texts_of_pieces(const std::vector<uint32_t>& pieces);
CRESCENT_FILES_API std::vector<uint32_t> pieces_of_texts(const std::vector<std::string>& texts);

/// Bytes [start, start + bytes) of what is in a file, each piece compared with its checksum when
/// something of it is first read. `what` names the array when it is damaged: "'m.h5': '/kernel'".
CRESCENT_FILES_API std::shared_ptr<Storage> checked_storage(std::shared_ptr<Storage> file,
                                                            uint64_t start, uint64_t bytes,
                                                            std::vector<uint32_t> pieces,
                                                            std::string what);

}  // namespace crescent::files
