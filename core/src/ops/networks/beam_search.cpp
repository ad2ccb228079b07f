#include "ops/networks/beam_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_map>

#include "crescent/ops/ops.h"
#include "crescent/program/op.h"

namespace crescent {
namespace {

constexpr double kLogOfZero = -std::numeric_limits<double>::infinity();

double log_sum(double a, double b) {
  const double larger_log = std::max(a, b);
  return larger_log == kLogOfZero ? larger_log
                                  : larger_log + std::log1p(std::exp(std::min(a, b) - larger_log));
}

/// A tree of all label prefixes; the root is the empty prefix.
class PrefixTree {
 public:
  static constexpr int32_t kEmptyPrefix = 0;
  int32_t label(int32_t node) const { return nodes_[node].label; }
  int32_t parent(int32_t node) const { return nodes_[node].parent; }
  int32_t extended_prefix(int32_t node, int32_t label) {
    const int64_t key = (static_cast<int64_t>(node) << 32) | static_cast<uint32_t>(label);
    const auto [entry, is_new] =
        extended_prefixes_.try_emplace(key, static_cast<int32_t>(nodes_.size()));
    if (is_new) nodes_.push_back({node, label});
    return entry->second;
  }

 private:
  struct Node {
    int32_t parent, label;
  };
  std::vector<Node> nodes_{{-1, -1}};
  std::unordered_map<int64_t, int32_t> extended_prefixes_;
};

/// A label prefix with the log probabilities that the time steps so far produce it, ending with its
/// last label (label_score) or with a blank (blank_score).
struct Beam {
  int32_t prefix;
  double label_score = kLogOfZero, blank_score = kLogOfZero;
  double total() const { return log_sum(label_score, blank_score); }
};

/// The beam search for one sample.
class BeamSearcher {
 public:
  BeamSearcher(const BeamSearch& options, int64_t classes)
      : options_(options), classes_(static_cast<int32_t>(classes)) {}

  void begin(const float* logs) {
    std::vector<int32_t> order(classes_);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int32_t a, int32_t b) { return logs[a] > logs[b]; });
    order.resize(std::min(order.size(), static_cast<size_t>(options_.width)));
    for (const int32_t class_number : order)
      class_number == options_.blank
          ? add_blank(PrefixTree::kEmptyPrefix, logs[class_number])
          : add_label(prefixes_.extended_prefix(PrefixTree::kEmptyPrefix, class_number),
                      logs[class_number]);
    beams_.swap(next_beams_);
  }

  void step(const float* logs) {
    next_beams_.clear(), index_of_prefix_.clear();
    for (const Beam& beam : beams_) {
      const double score = beam.total();
      for (int32_t class_number = 0; class_number < classes_; ++class_number) {
        if (class_number == options_.blank) {
          add_blank(beam.prefix, score + logs[class_number]);
          continue;
        }
        // If the class repeats the last label of the prefix, it extends the prefix only after a
        // blank; without a blank between them, the two labels are merged.
        const bool repeats_label =
            beam.prefix != PrefixTree::kEmptyPrefix && prefixes_.label(beam.prefix) == class_number;
        if (repeats_label) add_label(beam.prefix, beam.label_score + logs[class_number]);
        add_label(prefixes_.extended_prefix(beam.prefix, class_number),
                  (repeats_label ? beam.blank_score : score) + logs[class_number]);
      }
    }
    keep_best(options_.width);
  }

  /// Returns the most likely prefixes in descending order of probability.
  const std::vector<Beam>& best_beams() {
    next_beams_ = beams_;
    keep_best(options_.paths);
    return beams_;
  }
  void write_labels(int32_t node, int64_t time, int32_t* target) const {
    std::vector<int32_t> reversed_labels;
    for (; node != PrefixTree::kEmptyPrefix; node = prefixes_.parent(node))
      reversed_labels.push_back(prefixes_.label(node));
    std::fill(std::copy(reversed_labels.rbegin(), reversed_labels.rend(), target), target + time,
              -1);
  }

 private:
  Beam& next_beam(int32_t prefix) {
    const auto [entry, is_new] = index_of_prefix_.try_emplace(prefix, next_beams_.size());
    if (is_new) next_beams_.push_back({prefix});
    return next_beams_[entry->second];
  }
  void add_label(int32_t prefix, double log_probability) {
    Beam& beam = next_beam(prefix);
    beam.label_score = log_sum(beam.label_score, log_probability);
  }
  void add_blank(int32_t prefix, double log_probability) {
    Beam& beam = next_beam(prefix);
    beam.blank_score = log_sum(beam.blank_score, log_probability);
  }
  void keep_best(int64_t count) {
    std::erase_if(next_beams_, [](const Beam& beam) { return beam.total() == kLogOfZero; });
    std::stable_sort(next_beams_.begin(), next_beams_.end(),
                     [](const Beam& a, const Beam& b) { return a.total() > b.total(); });
    next_beams_.resize(std::min(next_beams_.size(), static_cast<size_t>(count)), Beam{});
    beams_.swap(next_beams_);
  }

  BeamSearch options_;
  int32_t classes_;
  PrefixTree prefixes_;
  std::vector<Beam> beams_, next_beams_;
  std::unordered_map<int32_t, size_t>
      index_of_prefix_;  ///< maps a prefix to its index in next_beams_
};

/// The op of beam_searched(): its inputs are log probabilities and lengths, its results labels and
/// their log probabilities.
struct BeamSearchOp final : OpOf<BeamSearchOp> {
  static constexpr const char* kName = "operations.beam_search";
  int64_t width = 0, paths = 0, blank = 0;
  auto fields() const { return std::tie(width, paths, blank); }
  TensorSpecs infer(std::span<const TensorSpec> in) const override {
    const Shape& x = in[0].shape;
    return {{DType::int32, {paths, x[0], x[1]}}, {DType::float32, {x[0], paths}}};
  }
  bool compute(std::span<const Tensor> in, std::span<Tensor> out) const override {
    const int64_t batch = in[0].dim(0), time = in[0].dim(1), classes = in[0].dim(2);
    for (int64_t i = 0; i < batch; ++i) {
      const float* logs = in[0].data<float>() + i * time * classes;
      const int64_t length = std::min<int64_t>(time, in[1].data<int32_t>()[i]);
      BeamSearcher searcher({width, paths, blank}, classes);
      searcher.begin(logs);
      for (int64_t t = 1; t < length; ++t) searcher.step(logs + t * classes);
      const std::vector<Beam>& best_beams = searcher.best_beams();
      for (int64_t k = 0; k < paths; ++k) {
        int32_t* labels = out[0].mutable_data<int32_t>() + (k * batch + i) * time;
        const bool has_beam = k < static_cast<int64_t>(best_beams.size());
        const Beam beam = has_beam ? best_beams[k] : Beam{PrefixTree::kEmptyPrefix};
        searcher.write_labels(beam.prefix, time, labels);
        out[1].mutable_data<float>()[i * paths + k] = static_cast<float>(beam.total());
      }
    }
    return true;
  }
};

}  // namespace

std::pair<Tensor, Tensor> beam_searched(const Tensor& logs, const Tensor& lengths,
                                        const BeamSearch& options) {
  BeamSearchOp op;
  op.width = options.width, op.paths = options.paths, op.blank = options.blank;
  const Tensors results =
      apply(op, {ops::cast(logs, DType::float32), ops::cast(lengths, DType::int32)});
  return {results[0], results[1]};
}

}  // namespace crescent
