// Tensors as text: nested brackets, aligned columns, long axes abbreviated in the middle.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tensor/elements.h"
#include "tensor/float_format.h"

namespace crescent {
namespace {

constexpr int64_t kMostShown = 1000;  // longer tensors are abbreviated
constexpr int64_t kEdge = 3;          // elements shown at either end of an abbreviated axis

std::string element_text(StringId id) { return to_text(Value(text_of(id))); }

/// In Python's notation.
std::string element_text(Complex x) {
  char text[64];
  std::snprintf(text, sizeof text, "%.4g%+.4gj", static_cast<double>(x.real),
                static_cast<double>(x.imaginary));
  return text;
}

/// Booleans and integers.
std::string element_text(DType dtype, double x) {
  if (dtype == DType::boolean) return x != 0 ? "true" : "false";
  return std::to_string(static_cast<int64_t>(x));
}

class Printer {
 public:
  explicit Printer(Tensor tensor) : tensor_(std::move(tensor)), cut_(tensor_.size() > kMostShown) {}

  std::string text() {
    if (tensor_.size() == 0) return concat("[] ", tensor_.shape());
    collect(0, 0);
    if (is_floating(tensor_.dtype())) write_numbers();
    for (const std::string& element : elements_) width_ = std::max(width_, element.size());
    print(0);
    return std::move(text_);
  }

 private:
  /// Calls visit(i) for the positions of the axis that are shown, and gap() in place of the others.
  template <class Visit, class Gap>
  void walk(int axis, Visit visit, Gap gap) const {
    const int64_t n = tensor_.dim(axis);
    const bool cut = cut_ && n > 2 * kEdge;
    for (int64_t i = 0; i < n; ++i) {
      if (cut && i == kEdge) {
        gap();
        i = n - kEdge;
      }
      visit(i);
    }
  }

  void collect(int axis, int64_t offset) {
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
    walk(
        axis, [&](int64_t i) { collect(axis + 1, offset * tensor_.dim(axis) + i); }, [] {});
  }

  /// All in the format that they need together; a number alone is written as Lua does.
  void write_numbers() {
    const FloatFormat format(tensor_.dtype(), numbers_);
    for (const double x : numbers_) elements_.push_back(format.text(x));
    if (tensor_.rank() == 0 && elements_[0].back() == '.') elements_[0] += '0';
  }

  void print(int axis) {
    if (axis == tensor_.rank()) {
      const std::string& element = elements_[next_++];
      if (axis > 0) text_.append(width_ - element.size(), ' ');
      text_ += element;
      return;
    }
    const int below = tensor_.rank() - axis - 1;  // number of axes below this one
    bool first = true;
    auto separate = [&] {
      if (!first)
        text_ += below == 0
                     ? " "
                     : std::string(below, '\n') + std::string(static_cast<size_t>(axis) + 1, ' ');
      first = false;
    };
    text_ += '[';
    walk(
        axis, [&](int64_t) { separate(), print(axis + 1); }, [&] { separate(), text_ += "..."; });
    text_ += ']';
  }

  const Tensor tensor_;
  bool cut_;
  std::vector<double> numbers_;  ///< floating ones
  std::vector<std::string> elements_;
  size_t width_ = 0, next_ = 0;
  std::string text_;
};

}  // namespace

std::string to_text(const Tensor& tensor) {
  if (!tensor) return "no tensor";
  if (tensor.is_abstract()) return concat("<", tensor.spec(), " without values>");
  if (!tensor.in_memory())
    return concat("<", tensor.spec(), " in ", tensor.storage()->place(), ">");
  return Printer(tensor.to(nullptr)).text();
}

}  // namespace crescent
