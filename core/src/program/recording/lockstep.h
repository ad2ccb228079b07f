// Records the same computation for every logical shard of a batch, one after another, and orders
// the recorded instructions as if the shards were computed side by side and met in each reduction.
#pragma once
#include <unordered_map>
#include <vector>

#include "crescent/program/op_types.h"
#include "crescent/tensor/variable.h"
#include "program/recording/interleaved.h"

namespace crescent {

class Recorder;

/// Aliases of the values of variables. Each shard that reads a variable gets its own aliases, so
/// that tapes compute a separate gradient for each shard. The keys are the ids of variables; the
/// lists have an element for each shard.
using ShardReads = std::unordered_map<const void*, std::vector<Tensors>>;

/// While an object of this class lives, ops::all_reduce on this thread reduces over the shards. The
/// owner calls begin() for each shard in turn, and finish() at the end.
class Lockstep {
 public:
  explicit Lockstep(int64_t shards);  ///< a trace must be recording on this thread
  ~Lockstep();
  Lockstep(const Lockstep&) = delete;

  /// The lockstep of the trace that is recording on this thread; null without one.
  static Lockstep* current();
  size_t shards() const { return shards_; }
  /// The number of the current shard.
  int64_t shard() const { return static_cast<int64_t>(shard_); }
  void begin(int64_t shard);
  /// Records the reductions, and sorts the instructions and the entries of tapes so that each
  /// reduction follows the values that it reduces.
  void finish();
  /// Returns the result of the reduction over all shards in which `x` is the value of this shard.
  Tensor reduce(const Tensor& x, ReduceKind kind);
  /// Returns an alias of the value of a trainable variable for the current shard.
  Tensor read(const Variable& variable, const Tensor& value);
  ShardReads take_reads() { return std::move(reads_); }

 private:
  struct Reduction {
    ReduceKind kind;
    Tensor result;
    int scope;        ///< the recorder's scope at the reduction
    Tensors inputs;   ///< indexed by shard: the values that are reduced
    Tensors outputs;  ///< indexed by shard: aliases of `result`
  };
  void end_section();

  Recorder* recorder_;
  Lockstep* outer_lockstep_;
  size_t shards_, shard_ = 0, reduction_count_ = 0;
  std::vector<Reduction> reductions_;
  std::vector<ShardCuts> instructions_;  ///< indexed by shard: positions in the program
  std::vector<ShardCuts> tape_entries_;  ///< indexed by shard: positions in the innermost tape
  ShardReads reads_;
  std::unordered_map<const void*, Tensor> originals_;  ///< value id of an alias -> the value
};

}  // namespace crescent
