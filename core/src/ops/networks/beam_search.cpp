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
  const double maximum = std::max(a, b);
  return maximum == kLogOfZero ? maximum : maximum + std::log1p(std::exp(std::min(a, b) - maximum));
}

/// A tree of all label prefixes; the root is the empty prefix.
class PrefixTree {
 public:
  static constexpr int32_t kEmptyPrefix = 0;
  int32_t label(int32_t node) const { return nodes_[node].label; }
  int32_t parent(int32_t node) const { return nodes_[node].parent; }
  int32_t extended_prefix(int32_t node, int32_t label) {
    const int64_t key = (static_cast<int64_t>(node) << 32) | static_cast<uint32_t>(label);
    const auto [at, is_new] = next_labels_.try_emplace(key, static_cast<int32_t>(nodes_.size()));
    if (is_new) nodes_.push_back({node, label});
    return at->second;
  }

 private:
  struct Node {
    int32_t parent, label;
  };
  std::vector<Node> nodes_{{-1, -1}};
  std::unordered_map<int64_t, int32_t> next_labels_;
};

/// A label prefix with the log probabilities that the time steps so far produce it, ending with its
/// last label (label_score) or with a blank (blank_score).
struct Beam {
  int32_t labels;
  double label_score = kLogOfZero, blank_score = kLogOfZero;
  double total() const { return log_sum(label_score, blank_score); }
};

/// The beam search for one sample.
class Search {
 public:
  Search(const BeamSearch& options, int64_t classes)
      : options_(options), classes_(static_cast<int32_t>(classes)) {}

  void begin(const float* logs) {
    std::vector<int32_t> order(classes_);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int32_t a, int32_t b) { return logs[a] > logs[b]; });
    order.resize(std::min(order.size(), static_cast<size_t>(options_.width)));
    for (const int32_t c : order)
      c == options_.blank
          ? add_blank(PrefixTree::kEmptyPrefix, logs[c])
          : add_label(labels_.extended_prefix(PrefixTree::kEmptyPrefix, c), logs[c]);
    beams_.swap(next_beams_);
  }

  void step(const float* logs) {
    next_beams_.clear(), index_of_prefix_.clear();
    for (const Beam& beam : beams_) {
      const double score = beam.total();
      for (int32_t c = 0; c < classes_; ++c) {
        if (c == options_.blank) {
          add_blank(beam.labels, score + logs[c]);
          continue;
        }
        // If label c repeats the last label of the prefix, it extends the prefix only after a
        // blank; otherwise the two are merged.
        const bool repeats_label =
            beam.labels != PrefixTree::kEmptyPrefix && labels_.label(beam.labels) == c;
        if (repeats_label) add_label(beam.labels, beam.label_score + logs[c]);
        add_label(labels_.extended_prefix(beam.labels, c),
                  (repeats_label ? beam.blank_score : score) + logs[c]);
      }
    }
    keep_best(options_.width);
  }

  /// Returns the most likely prefixes in descending order of probability.
  const std::vector<Beam>& best() {
    next_beams_ = beams_;
    keep_best(options_.paths);
    return beams_;
  }
  void write(int32_t node, int64_t time, int32_t* to) const {
    std::vector<int32_t> backwards;
    for (; node != PrefixTree::kEmptyPrefix; node = labels_.parent(node))
      backwards.push_back(labels_.label(node));
    std::fill(std::copy(backwards.rbegin(), backwards.rend(), to), to + time, -1);
  }

 private:
  Beam& next_beam(int32_t labels) {
    const auto [at, is_new] = index_of_prefix_.try_emplace(labels, next_beams_.size());
    if (is_new) next_beams_.push_back({labels});
    return next_beams_[at->second];
  }
  void add_label(int32_t labels, double log) {
    Beam& beam = next_beam(labels);
    beam.label_score = log_sum(beam.label_score, log);
  }
  void add_blank(int32_t labels, double log) {
    Beam& beam = next_beam(labels);
    beam.blank_score = log_sum(beam.blank_score, log);
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
  PrefixTree labels_;
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
      Search search({width, paths, blank}, classes);
      search.begin(logs);
      for (int64_t t = 1; t < length; ++t) search.step(logs + t * classes);
      const std::vector<Beam>& best = search.best();
      for (int64_t k = 0; k < paths; ++k) {
        int32_t* labels = out[0].mutable_data<int32_t>() + (k * batch + i) * time;
        const bool has_beam = k < static_cast<int64_t>(best.size());
        const Beam beam = has_beam ? best[k] : Beam{PrefixTree::kEmptyPrefix};
        search.write(beam.labels, time, labels);
        out[1].mutable_data<float>()[i * paths + k] = static_cast<float>(beam.total());
      }
    }
    return true;
  }
};

}  // namespace

std::pair<Tensor, Tensor> beam_searched(const Tensor& logs, const Tensor& lengths,
                                        const BeamSearch& search) {
  BeamSearchOp op;
  op.width = search.width, op.paths = search.paths, op.blank = search.blank;
  const Tensors results =
      apply(op, {ops::cast(logs, DType::float32), ops::cast(lengths, DType::int32)});
  return {results[0], results[1]};
}

}  // namespace crescent
