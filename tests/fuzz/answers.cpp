// Fuzzes the answers of the process that reads HDF5 files. A malicious file may take over this
// process, so its answers must not be trusted. The fuzz input replaces these answers.
#include <sys/mman.h>
#include <unistd.h>

#include "crescent/base/error.h"
#include "file_reader.h"

namespace crescent::hdf5 {
namespace {

std::string_view remaining_input;

/// Splits the input into frames: a byte encodes the length of the next frame, in steps of 1, 16 or
/// 256.
std::optional<std::string> next_frame() {
  if (remaining_input.empty()) return std::nullopt;
  const auto length_byte = static_cast<unsigned char>(remaining_input[0]);
  const size_t step = size_t{1} << 4 * (length_byte % 3), size = length_byte / 3 * step;
  remaining_input.remove_prefix(1);
  const std::string frame(remaining_input.substr(0, size));
  remaining_input.remove_prefix(frame.size());
  return frame;
}

}  // namespace

Child::Child(int, int, uint64_t, unsigned seconds) : seconds_(seconds) {}
Child::~Child() = default;
bool Child::send(const Packer&) { return !remaining_input.empty(); }
std::optional<Unpacker> Child::receive() {
  auto frame = next_frame();
  if (!frame) return std::nullopt;
  return Unpacker(std::move(*frame));
}
void Child::allow_memory(uint64_t) {}
void Child::allow_time() {}
std::string Child::failure_reason() { return "ended"; }

}  // namespace crescent::hdf5

using namespace crescent;
using namespace crescent::hdf5;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kFileSize = 1 << 16;
  static const int memory = memfd_create("fuzz", MFD_CLOEXEC);
  static const std::string path = "/proc/self/fd/" + std::to_string(memory);
  if (ftruncate(memory, kFileSize) != 0) return 0;
  // For most inputs the expected greeting is put in front.
  std::string frames;
  if (size > 0 && data[0] % 8 != 0) {
    const Packer greeting = Packer().add(kWireVersion).add(Status::ok);
    frames += static_cast<char>(greeting.bytes().size() * 3);
    frames += greeting.bytes();
  }
  frames.append(reinterpret_cast<const char*>(data), size);
  remaining_input = frames;
  try {
    FileReader file(path);
    file.attribute("", "model_config");
    file.texts("a", "weight_names");
    file.members("");
    file.member_names("assets/");
    const std::vector<std::string> names{"a", "b"};
    const std::vector<DatasetInfo> infos = file.describe(names);
    const bool has_rows = !infos[0].shape.empty() && infos[0].shape[0] > 0;
    if (has_rows && size % 4 == 0) file.read_rows("a", infos[0], 0, 1);
    if (size % 2) file.prevent_changes();
    // After read() the reader process has ended.
    for (const Array& array : file.read(names, infos)) {
      const auto bytes = byte_count(array.type, array.shape);
      volatile unsigned char sum = 0;
      for (uint64_t i = 0; bytes && i < *bytes; i += 4096)
        sum = sum + static_cast<const unsigned char*>(array.bytes)[i];
    }
  } catch (const Error&) {
  }
  return 0;
}
