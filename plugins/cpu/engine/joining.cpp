// Joins two steps: an elementwise one runs within the product whose result it alone reads, where
// the product can do that.
#include <algorithm>

#include "engine/lower.h"

namespace crescent::cpu {
namespace {

/// A product and what may follow it.
class Joining {
 public:
  Joining(Lowered& program, size_t product) : program_(program), product_(product) {}

  /// True when both are one step now.
  bool join() {
    if (!step(product_).kernel->may_be_followed() || is_kept() || !find_reader() || !find_place())
      return false;
    Step& next = step(reader_);
    if (!step(product_).kernel->follow(next.kernel, static_cast<int>(input_))) return false;
    next.inputs.erase(next.inputs.begin() + static_cast<ptrdiff_t>(input_));
    Step& product = step(product_);
    product.inputs.insert(product.inputs.end(), next.inputs.begin(), next.inputs.end());
    product.outputs = std::move(next.outputs);
    reorder();
    return true;
  }

 private:
  Step& step(size_t s) { return program_.steps[s]; }
  int result() { return step(product_).outputs[0]; }
  bool is_result(int value) { return program_.root(value) == program_.root(result()); }

  /// Somebody outside sees the result.
  bool is_kept() {
    return std::any_of(program_.outputs.begin(), program_.outputs.end(),
                       [&](int v) { return is_result(v); }) ||
           std::any_of(
               program_.variables.begin(), program_.variables.end(),
               [&](const Lowered::Binding& v) { return v.result >= 0 && is_result(v.result); });
  }

  bool find_reader() {
    int reads = 0;
    for (size_t s = product_ + 1; s < program_.steps.size(); ++s) {
      const std::vector<int>& inputs = step(s).inputs;
      for (size_t i = 0; i < inputs.size(); ++i) {
        if (is_result(inputs[i])) reader_ = s, input_ = i, ++reads;
      }
    }
    return reads == 1;
  }

  class Values {
   public:
    explicit Values(const Lowered& program) : program_(program), has_(program.values.size()) {}
    void add(int value) { has_[static_cast<size_t>(program_.root(value))] = true; }
    bool has(int value) const { return has_[static_cast<size_t>(program_.root(value))]; }
    bool any(const std::vector<int>& list) const {
      return std::any_of(list.begin(), list.end(), [&](int v) { return has(v); });
    }

   private:
    const Lowered& program_;
    std::vector<bool> has_;
  };

  /// Behind the product and those who still read what its follower writes over. What the follower
  /// needs beside is made before: that is only done when it is little, as numbers that the
  /// optimizer works out.
  bool find_place() {
    constexpr size_t kLittle = 64;  // bytes
    Values needed(program_), replaced(program_);
    for (int value : step(reader_).inputs) needed.add(value);
    for (const Lowered::Binding& v : program_.variables) {
      const auto is_it = [&](int output) {
        return v.result >= 0 && program_.root(output) == program_.root(v.result);
      };
      if (std::any_of(step(reader_).outputs.begin(), step(reader_).outputs.end(), is_it))
        replaced.add(v.value);
    }
    place_ = product_, moves_.assign(reader_, false);
    for (size_t s = reader_; --s > product_;) {
      if (!needed.any(step(s).outputs)) {
        if (replaced.any(step(s).inputs)) place_ = std::max(place_, s);
        continue;
      }
      if (step(s).op && step(s).op->effect() == Effect::ordered) return false;
      for (int value : step(s).outputs) {
        if (program_.bytes(value) > kLittle) return false;
      }
      moves_[s] = true;
      for (int value : step(s).inputs) needed.add(value);
    }
    return place_ == product_ || may_wait();
  }

  /// What the product reads stays longer in memory than before: it is to be less than the result,
  /// which is no longer there.
  bool may_wait() {
    size_t kept = 0;
    for (int value : step(product_).inputs) kept += program_.bytes(value);
    return kept <= program_.bytes(result());
  }

  /// What moves, then the others, the joined step at its place.
  void reorder() {
    std::vector<Step> order;
    for (size_t s = product_ + 1; s < reader_; ++s) {
      if (moves_[s]) order.push_back(std::move(step(s)));
    }
    for (size_t s = product_; s < reader_; ++s) {
      if (s > product_ && !moves_[s]) order.push_back(std::move(step(s)));
      if (s == place_) order.push_back(std::move(step(product_)));
    }
    const auto first = program_.steps.begin();
    std::move(order.begin(), order.end(), first + static_cast<ptrdiff_t>(product_));
    program_.steps.erase(first + static_cast<ptrdiff_t>(reader_));
  }

  Lowered& program_;
  size_t product_, reader_ = 0, input_ = 0;  ///< steps; input of the reader
  size_t place_ = 0;         ///< the last step before the joined one, or the product
  std::vector<bool> moves_;  ///< per step: to before the joined one
};

}  // namespace

void join_followers(Lowered& program) {
  for (size_t s = program.prologue; s < program.steps.size();) {
    if (!Joining(program, s).join()) ++s;
  }
}

}  // namespace crescent::cpu
