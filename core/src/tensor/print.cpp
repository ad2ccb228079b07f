// Tensors as text: nested brackets, aligned columns, long axes abbreviated in the middle.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <mutex>

#include "crescent/system/terminal.h"
#include "crescent/tensor/print.h"
#include "tensor/elements.h"
#include "tensor/float_format.h"

namespace crescent {
namespace {

constexpr int64_t kEdgeElements = 3;  // elements shown at either end of an abbreviated axis

std::mutex options_mutex;
PrintOptions current_options;

std::string element_text(StringId id) { return to_text(Value(text_of(id))); }

/// Writes a complex number in Python's notation.
std::string element_text(Complex x) {
  const auto without_nan_sign = [](float component) {
    return static_cast<double>(std::isnan(component) ? std::abs(component) : component);
  };
  char text[64];
  std::snprintf(text, sizeof text, "%.4g%+.4gj", without_nan_sign(x.real),
                without_nan_sign(x.imaginary));
  return text;
}

/// Writes a boolean or an integer.
std::string element_text(DType dtype, double x) {
  if (dtype == DType::boolean) return x != 0 ? "true" : "false";
  return std::to_string(static_cast<int64_t>(x));
}

class Printer {
 public:
  Printer(Tensor tensor, const PrintOptions& options)
      : tensor_(std::move(tensor)),
        options_(options),
        is_abbreviated_(tensor_.size() > options.threshold),
        columns_(static_cast<size_t>(options.width > 0 ? options.width : terminal_columns())) {}

  std::string text() {
    if (tensor_.size() == 0) return concat("[] ", tensor_.shape());
    collect_elements(0, 0);
    if (is_floating(tensor_.dtype())) write_numbers();
    for (const std::string& element : elements_)
      element_width_ = std::max(element_width_, display_width(element));
    print(0);
    return std::move(text_);
  }

 private:
  /// Calls visit(i) for each position i of the axis that is printed, and visit_gap() once in place
  /// of the positions that are omitted.
  template <class Visit, class Gap>
  void visit_axis(int axis, Visit visit, Gap visit_gap) const {
    const int64_t n = tensor_.dim(axis);
    const bool is_cut = is_abbreviated_ && n > 2 * kEdgeElements;
    for (int64_t i = 0; i < n; ++i) {
      if (is_cut && i == kEdgeElements) {
        visit_gap();
        i = n - kEdgeElements;
      }
      visit(i);
    }
  }

  void collect_elements(int axis, int64_t offset) {
    if (axis == tensor_.rank()) {
      with_element_type(tensor_.dtype(), [&]<class T>(T*) {
        const T& element = static_cast<const T*>(tensor_.raw())[offset];
        if constexpr (std::is_same_v<T, int64_t>) {
          elements_.push_back(std::to_string(element));
        } else if constexpr (std::is_same_v<T, Complex> || std::is_same_v<T, StringId>) {
          elements_.push_back(element_text(element));
        } else if (is_floating(tensor_.dtype())) {
          numbers_.push_back(number_of(element));
        } else {
          elements_.push_back(element_text(tensor_.dtype(), number_of(element)));
        }
      });
      return;
    }
    visit_axis(
        axis, [&](int64_t i) { collect_elements(axis + 1, offset * tensor_.dim(axis) + i); },
        [] {});
  }

  /// Writes all numbers in their common format; a scalar is written as Lua writes numbers.
  void write_numbers() {
    const FloatFormat format(tensor_.dtype(), numbers_, options_.precision);
    for (const double x : numbers_) elements_.push_back(format.text(x));
    if (tensor_.rank() == 0 && elements_[0].back() == '.') elements_[0] += '0';
  }

  /// Whether the next element of the last axis and the brackets after it fit into the line.
  bool has_room(int axis) const {
    const size_t line_begin = text_.rfind('\n') + 1;  // 0 in the first line
    return columns_ == 0 || display_width(std::string_view(text_).substr(line_begin)) +
                                    element_width_ + static_cast<size_t>(axis) + 2 <=
                                columns_;
  }

  void print(int axis) {
    if (axis == tensor_.rank()) {
      const std::string& element = elements_[next_element_++];
      if (axis > 0) text_.append(element_width_ - display_width(element), ' ');
      text_ += element;
      return;
    }
    const int inner_axis_count = tensor_.rank() - axis - 1;
    bool is_first = true;
    auto write_separator = [&] {
      if (!is_first && inner_axis_count == 0 && has_room(axis))
        text_ += " ";
      else if (!is_first)
        text_ += std::string(static_cast<size_t>(std::max(inner_axis_count, 1)), '\n') +
                 std::string(static_cast<size_t>(axis) + 1, ' ');
      is_first = false;
    };
    text_ += '[';
    visit_axis(
        axis, [&](int64_t) { write_separator(), print(axis + 1); },
        [&] { write_separator(), text_ += "..."; });
    text_ += ']';
  }

  const Tensor tensor_;
  const PrintOptions options_;
  bool is_abbreviated_;
  size_t columns_;               ///< width of a line in characters; 0: unlimited
  std::vector<double> numbers_;  ///< the floating-point elements
  std::vector<std::string> elements_;
  size_t element_width_ = 0, next_element_ = 0;
  std::string text_;
};

}  // namespace

std::string to_text(const Tensor& tensor) {
  if (!tensor) return "no tensor";
  if (tensor.is_abstract()) return concat("<", tensor.spec(), " without values>");
  if (!tensor.in_memory())
    return concat("<", tensor.spec(), " in ", tensor.storage()->location(), ">");
  return Printer(tensor.to(nullptr), print_options()).text();
}

PrintOptions print_options() {
  const std::lock_guard lock(options_mutex);
  return current_options;
}

void set_print_options(const PrintOptions& options) {
  if (options.precision < 0 || options.threshold < 0 || options.width < 0)
    fail("print: expected precision, threshold and width of at least 0, got ", options.precision,
         ", ", options.threshold, " and ", options.width);
  const std::lock_guard lock(options_mutex);
  current_options = options;
}

}  // namespace crescent
