// The kernel of AllGather, which gathers the parts of an array from all processes. The communicator
// writes the parts one after another. This is the whole array if it is divided along its first
// axis; otherwise the kernel copies the pieces of each part to their positions in the array.
#include <cstring>
#include <numeric>

#include "crescent/program/communicator.h"
#include "crescent/program/division.h"
#include "reduction/shards.h"

namespace crescent::cpu {
namespace {

class AllGatherKernel final : public Kernel {
 public:
  explicit AllGatherKernel(const Request& r) {
    const auto& op = static_cast<const AllGather&>(r.op);
    const Shape& full_shape = r.outputs[0].shape;
    const Division division = op.division();
    row_bytes_ = size_of(r.outputs[0].dtype);
    for (int axis = 0; axis < full_shape.rank(); ++axis)
      (axis < op.axis ? pieces_per_part_ : row_bytes_) *=
          static_cast<size_t>(axis == op.axis ? 1 : full_shape[axis]);
    for (int k = 0; k <= op.parts; ++k)
      part_offsets_.push_back(static_cast<size_t>(division.begin(k, op.size)) * row_bytes_);
    own_part_ = static_cast<size_t>(op.part);
    sent_bytes_.assign(static_cast<size_t>(op.processes), 0);
    for (size_t k = 0; k + 1 < part_offsets_.size(); ++k)
      sent_bytes_[k * static_cast<size_t>(op.stride)] = pieces_per_part_ * piece_bytes(k);
  }

  void run(const Arguments& a) const override {
    const std::shared_ptr<Communicator> processes = communicator();
    if (static_cast<size_t>(processes->size()) != sent_bytes_.size())
      fail("all_gather: the array is divided among ", sent_bytes_.size(),
           " processes, and the communicator has ", processes->size());
    std::byte* const parts = pieces_per_part_ == 1 ? a.outputs[0] : a.scratch;
    if (pieces_per_part_ * piece_bytes(own_part_) > 0)
      std::memcpy(parts + pieces_per_part_ * part_offsets_[own_part_], a.inputs[0],
                  pieces_per_part_ * piece_bytes(own_part_));
    processes->gather(parts, sent_bytes_);
    if (pieces_per_part_ == 1) return;
    for (size_t k = 0; k + 1 < part_offsets_.size(); ++k)
      for (size_t o = 0; o < pieces_per_part_ && piece_bytes(k) > 0; ++o)
        std::memcpy(a.outputs[0] + o * part_offsets_.back() + part_offsets_[k],
                    parts + pieces_per_part_ * part_offsets_[k] + o * piece_bytes(k),
                    piece_bytes(k));
  }
  size_t scratch_bytes() const override {
    return pieces_per_part_ == 1 ? 0 : pieces_per_part_ * part_offsets_.back();
  }
  std::string name() const override { return "communicator"; }

 private:
  size_t piece_bytes(size_t part) const { return part_offsets_[part + 1] - part_offsets_[part]; }

  /// Number of contiguous pieces of a part: the product of the sizes before the divided axis.
  size_t pieces_per_part_ = 1;
  /// Bytes of the array for one index of the divided axis and of the axes before it.
  size_t row_bytes_;
  /// For each part, the offset in bytes of its pieces in a row of all parts' pieces; at the end the
  /// length of such a row.
  std::vector<size_t> part_offsets_;
  size_t own_part_;                 ///< index of the part of this process
  std::vector<size_t> sent_bytes_;  ///< for each process, the number of bytes that it sends
};

}  // namespace

std::unique_ptr<Kernel> make_all_gather(const Request& r) {
  return std::make_unique<AllGatherKernel>(r);
}

}  // namespace crescent::cpu
