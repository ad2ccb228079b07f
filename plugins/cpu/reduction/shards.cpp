// The kernels that slice a batch into logical shards (shard_ops.h), and that concatenate and reduce
// the values of shards. Each process has the values of its own shards. The tree of a reduction is
// the same for any number of processes: each process computes the largest branches whose shards are
// all its own, and all exchange the results.
#include "reduction/shards.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "crescent/program/communicator.h"
#include "crescent/program/distribution.h"
#include "crescent/program/shard_ops.h"
#include "crescent/tensor/with_type.h"
#include "kernel/loops.h"

namespace crescent::cpu {
namespace {

size_t bytes_of(const TensorSpec& spec) { return static_cast<size_t>(spec.bytes()); }

class ShardSliceKernel final : public Kernel {
 public:
  explicit ShardSliceKernel(const Request& r)
      : offset_(static_cast<size_t>(static_cast<const ShardSlice&>(r.op).first) * row_bytes_of(r)),
        bytes_(bytes_of(r.outputs[0])) {}
  void run(const Arguments& a) const override {
    if (bytes_ > 0) std::memcpy(a.outputs[0], a.inputs[0] + offset_, bytes_);
  }
  std::string name() const override { return "memcpy"; }

 private:
  static size_t row_bytes_of(const Request& r) {
    return bytes_of(r.outputs[0]) / static_cast<size_t>(r.outputs[0].shape[0]);
  }
  size_t offset_, bytes_;
};

/// Returns for each process the number of bytes of its shards, computed from the bytes of each
/// shard (`shard_bytes`).
std::vector<size_t> bytes_by_process(const std::vector<size_t>& shard_bytes) {
  const auto process_communicator = communicator();
  const auto shards = static_cast<int64_t>(shard_bytes.size());
  std::vector<size_t> bytes;
  for (int rank = 0; rank < process_communicator->size(); ++rank) {
    const ShardRange range = shards_of(shards, rank, process_communicator->size());
    size_t sum = 0;
    for (int64_t s = range.first; s < range.last; ++s) sum += shard_bytes[static_cast<size_t>(s)];
    bytes.push_back(sum);
  }
  return bytes;
}

bool is_alone() { return distribution() == Distribution::none || communicator()->size() == 1; }

class ShardConcatKernel final : public Kernel {
 public:
  explicit ShardConcatKernel(const Request& r) {
    for (const TensorSpec& spec : r.inputs) shard_bytes_.push_back(bytes_of(spec));
  }
  void run(const Arguments& a) const override {
    const auto shards = static_cast<int64_t>(shard_bytes_.size());
    const ShardRange own_range = own_shards(shards);
    std::byte* to = a.outputs[0];
    for (int64_t s = 0; s < shards; ++s) {
      const size_t bytes = shard_bytes_[static_cast<size_t>(s)];
      if (s >= own_range.first && s < own_range.last && bytes > 0)
        std::memcpy(to, a.inputs[s], bytes);
      to += bytes;
    }
    if (!is_alone()) communicator()->gather(a.outputs[0], bytes_by_process(shard_bytes_));
  }
  std::string name() const override { return "communicator"; }

 private:
  std::vector<size_t> shard_bytes_;  ///< for each shard, the number of bytes
};

/// A branch of the tree of a reduction: it combines the values of shards [first, last).
struct Branch {
  int64_t first, last;
  bool is_leaf() const { return last - first == 1; }
  int64_t middle() const { return first + (last - first) / 2; }
  bool is_within(const ShardRange& range) const {
    return first >= range.first && last <= range.last;
  }
};

/// Appends to `list` the largest branches below `branch` whose shards are all in `range`.
void add_branches(const Branch& branch, const ShardRange& range, std::vector<Branch>& list) {
  if (branch.last <= range.first || branch.first >= range.last) return;
  if (branch.is_within(range)) return list.push_back(branch);
  add_branches({branch.first, branch.middle()}, range, list);
  add_branches({branch.middle(), branch.last}, range, list);
}

/// The loop that combines the values of two branches; null if the dtype has none.
BinaryLoop loop_of(ReduceKind kind, DType dtype) {
  const BinaryKind combination = kind == ReduceKind::sum   ? BinaryKind::add
                                 : kind == ReduceKind::max ? BinaryKind::maximum
                                                           : BinaryKind::minimum;
  return binary_loops(combination, dtype).arrays;
}

constexpr int64_t kBlockElements = 1024;     ///< number of elements that are combined at once
constexpr int64_t kChunkElements = 1 << 16;  ///< number of elements that are exchanged at once
/// Depth of the tree for 256 shards, which is the largest number that the op allows.
constexpr int kMaxTreeDepth = 8;

template <class T>
class ShardReduceKernel final : public Kernel {
 public:
  explicit ShardReduceKernel(const Request& r)
      : combine_loop_(loop_of(static_cast<const ShardReduce&>(r.op).kind, r.outputs[0].dtype)),
        shard_count_(static_cast<int64_t>(r.inputs.size())),
        element_count_(r.inputs[0].shape.size()) {}

  /// Scratch memory holds the results of the branches of all processes, which are at most as many
  /// as the shards.
  size_t scratch_bytes() const override {
    return static_cast<size_t>(shard_count_ * std::min(element_count_, kChunkElements)) * sizeof(T);
  }
  void run(const Arguments& a) const override {
    const Branch root{0, shard_count_};
    T* const result = a.out<T>(0);
    const auto leaf_values = [&](int64_t shard) { return a.in<T>(static_cast<int>(shard)); };
    if (is_alone())
      return a.threads.blocks(element_count_, kChunkElements, [&](int64_t begin, int64_t end) {
        reduce(root, leaf_values, begin, end, result + begin);
      });
    const std::shared_ptr<Communicator> process_communicator = communicator();
    std::vector<Branch> branches;  // the branches that the processes compute, in the order of ranks
    std::vector<size_t> branch_counts;  // number of branches of each process
    // number of branches of the processes with lower ranks than this one
    size_t earlier_branch_count = 0;
    for (int rank = 0; rank < process_communicator->size(); ++rank) {
      if (rank == process_communicator->rank()) earlier_branch_count = branches.size();
      const size_t first_branch = branches.size();
      add_branches(root, shards_of(shard_count_, rank, process_communicator->size()), branches);
      branch_counts.push_back(branches.size() - first_branch);
    }
    T* const sent_values = reinterpret_cast<T*>(a.scratch);
    for (int64_t begin = 0; begin < element_count_; begin += kChunkElements) {
      const int64_t n = std::min(kChunkElements, element_count_ - begin);
      for (size_t i = 0; i < branch_counts[static_cast<size_t>(process_communicator->rank())]; ++i)
        a.threads.blocks(n, kBlockElements, [&](int64_t from, int64_t to) {
          reduce(branches[earlier_branch_count + i], leaf_values, begin + from, begin + to,
                 sent_values + static_cast<int64_t>(earlier_branch_count + i) * n + from);
        });
      std::vector<size_t> bytes;
      for (size_t count : branch_counts)
        bytes.push_back(count * static_cast<size_t>(n) * sizeof(T));
      process_communicator->gather(sent_values, bytes);
      a.threads.blocks(n, kBlockElements, [&](int64_t from, int64_t to) {
        join(root, branches, sent_values, n, from, to, result + begin + from);
      });
    }
  }
  std::string name() const override { return "communicator"; }

 private:
  /// Writes elements [begin, end) of the result of the branch to `to`.
  template <class Leaf>
  void reduce(const Branch& branch, const Leaf& leaf_values, int64_t begin, int64_t end,
              T* to) const {
    for (int64_t first_element = begin; first_element < end; first_element += kBlockElements) {
      const int64_t n = std::min(kBlockElements, end - first_element);
      std::array<std::array<T, kBlockElements>, kMaxTreeDepth> block_buffers;
      const T* values = compute_values(branch, leaf_values, first_element, n, block_buffers.data());
      std::memcpy(to + (first_element - begin), values, static_cast<size_t>(n) * sizeof(T));
    }
  }
  template <class Leaf>
  const T* compute_values(const Branch& branch, const Leaf& leaf_values, int64_t first_element,
                          int64_t n, std::array<T, kBlockElements>* block_buffers) const {
    if (branch.is_leaf()) return leaf_values(branch.first) + first_element;
    const T* first = compute_values({branch.first, branch.middle()}, leaf_values, first_element, n,
                                    block_buffers);
    const T* second = compute_values({branch.middle(), branch.last}, leaf_values, first_element, n,
                                     block_buffers + 1);
    combine_loop_(first, second, block_buffers->data(), static_cast<size_t>(n));
    return block_buffers->data();
  }
  /// Computes the result of a branch from the results that the processes have sent.
  void join(const Branch& branch, const std::vector<Branch>& branches, const T* sent_values,
            int64_t n, int64_t from, int64_t to, T* result) const {
    const auto sent_branch =
        std::find_if(branches.begin(), branches.end(), [&](const Branch& candidate) {
          return candidate.first == branch.first && candidate.last == branch.last;
        });
    if (sent_branch != branches.end()) {
      std::memcpy(result, sent_values + (sent_branch - branches.begin()) * n + from,
                  static_cast<size_t>(to - from) * sizeof(T));
      return;
    }
    std::array<T, kBlockElements> second;
    join({branch.first, branch.middle()}, branches, sent_values, n, from, to, result);
    join({branch.middle(), branch.last}, branches, sent_values, n, from, to, second.data());
    combine_loop_(result, second.data(), result, static_cast<size_t>(to - from));
  }

  BinaryLoop combine_loop_;
  int64_t shard_count_, element_count_;
};

}  // namespace

std::unique_ptr<Kernel> make_shard_slice(const Request& r) {
  return std::make_unique<ShardSliceKernel>(r);
}

std::unique_ptr<Kernel> make_shard_concat(const Request& r) {
  return std::make_unique<ShardConcatKernel>(r);
}

/// Returns null for half-width floats; the next entry of the kernel table computes these in
/// float32.
std::unique_ptr<Kernel> make_shard_reduce(const Request& r) {
  const DType dtype = r.outputs[0].dtype;
  if (dtype == DType::bfloat16 || dtype == DType::float16) return nullptr;
  std::unique_ptr<Kernel> kernel;
  with_type(dtype,
            [&](auto zero) { kernel = std::make_unique<ShardReduceKernel<decltype(zero)>>(r); });
  return kernel;
}

}  // namespace crescent::cpu
