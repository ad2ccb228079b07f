// Layers that pad or crop both ends of every spatial axis.
#include <array>

#include "../spatial.h"
#include "crescent/layer/layer.h"
#include "crescent/registry/registration.h"

namespace crescent {
namespace {

/// The margin of a spatial axis: the numbers of elements at its beginning and at its end.
using Margin = std::array<int64_t, 2>;

int64_t margin_from(const Value& value, const char* option) {
  constexpr int64_t kMaxMargin = int64_t{1} << 40;
  const int64_t margin = value.as_int();
  if (margin < 0) fail(option, ": expected integers of at least 0, got ", margin);
  if (margin > kMaxMargin) fail(option, ": ", margin, " is too large");
  return margin;
}

/// The margin that a value gives: an integer for both ends, or a list of two integers.
Margin margins_from(const Value& value, const char* option) {
  if (!value.is_list()) {
    const int64_t margin = margin_from(value, option);
    return {margin, margin};
  }
  const List& margins = value.as_list();
  if (margins.size() != 2) fail(option, ": expected two ends of an axis, got ", value);
  return {margin_from(margins[0], option), margin_from(margins[1], option)};
}

/// The margins of all spatial axes that a value gives: an integer or a list with an entry per axis.
/// For a layer with a single axis the value is the entry itself.
template <int Axes>
std::vector<Margin> margins_of(const Value& value, const char* option) {
  if (Axes == 1 || !value.is_list()) return std::vector<Margin>(Axes, margins_from(value, option));
  const List& entries = value.as_list();
  if (entries.size() != Axes)
    fail("`", option, "` should have ", Axes, " elements. Received: ", option, "=", value, ".");
  std::vector<Margin> margins;
  for (const Value& entry : entries) margins.push_back(margins_from(entry, option));
  return margins;
}

/// The margins as configurations of Keras contain them: a list of pairs; for a layer with a single
/// axis, the pair itself.
template <int Axes>
Value pairs(const std::vector<Margin>& margins) {
  List pair_list;
  for (const Margin& margin : margins) pair_list.push_back(List{margin[0], margin[1]});
  return Axes == 1 ? pair_list.front() : Value(std::move(pair_list));
}

constexpr const char* kOptionDocs[] = {
    "", "One integer for both ends, or {left, right}.",
    "One integer, {rows, columns}, or {{top, bottom}, {left, right}}.",
    "One integer, one for each axis, or a pair {before, after} for each axis."};

/// The base of layers with margins; margins_ has one entry per spatial axis.
template <int Axes>
class Margins : public SpatialLayer<Axes> {
 protected:
  Margins() { this->carry_mask_ = Axes == 1; }
  void read_margins(const char* option) {
    margins_ = margins_of<Axes>(margins_option_, option);
    margins_option_ = pairs<Axes>(margins_);
  }
  /// Calls f(index of the axis in the tensor, margin) for each spatial axis.
  template <class F>
  void for_each_axis(F&& f) const {
    for (int i = 0; i < Axes; ++i) f(this->first_spatial_axis() + i, margins_[size_t(i)]);
  }

  Value margins_option_;
  std::vector<Margin> margins_;
};

template <int Axes>
class ZeroPadding final : public Margins<Axes> {
 public:
  ZeroPadding() { this->margins_option_ = pairs<Axes>(std::vector<Margin>(Axes, Margin{1, 1})); }
  static void describe(Schema<ZeroPadding>& s) {
    s.doc("Pads the spatial axes with zeros.")
        .field("padding", &ZeroPadding::margins_option_, kOptionDocs[Axes]);
    ZeroPadding::describe_data_format(s);
    if (Axes == 1) ZeroPadding::describe_carry_mask(s);
  }
  void configured() override {
    Margins<Axes>::configured();
    this->read_margins("padding");
  }
  Tensor call(const Tensor& x, const Call&) override {
    std::vector<int64_t> pad_before(size_t(x.rank()), 0), pad_after = pad_before;
    this->for_each_axis([&](int axis, const Margin& margin) {
      pad_before[size_t(axis)] = margin[0], pad_after[size_t(axis)] = margin[1];
    });
    return ops::pad(x, pad_before, pad_after);
  }

 protected:
  /// The mask of the output; padding is masked.
  Tensor output_mask(const Tensor& mask, const Tensor&, const Tensor&) const override {
    if (mask.rank() != 2) return {};
    const Margin& margin = this->margins_[0];
    const Tensor steps = ops::cast(mask, DType::int32);
    return ops::not_equal(ops::pad(steps, {0, margin[0]}, {0, margin[1]}), 0);
  }
};

template <int Axes>
class Cropping final : public Margins<Axes> {
 public:
  Cropping() {
    const int64_t margin = Axes == 2 ? 0 : 1;
    this->margins_option_ = pairs<Axes>(std::vector<Margin>(Axes, Margin{margin, margin}));
  }
  static void describe(Schema<Cropping>& s) {
    s.doc("Removes elements at both ends of the spatial axes.")
        .field("cropping", &Cropping::margins_option_, kOptionDocs[Axes]);
    if (Axes > 1)
      Cropping::describe_data_format(s);
    else
      Cropping::describe_carry_mask(s);
  }
  void configured() override {
    Margins<Axes>::configured();
    this->read_margins("cropping");
  }
  Tensor call(const Tensor& x, const Call&) override {
    Tensor y = x;
    this->for_each_axis([&](int axis, const Margin& margin) {
      const int64_t length = x.dim(axis);
      if (length >= 0 && margin[0] + margin[1] >= length)
        fail("Values in `cropping` argument should be smaller than the corresponding spatial ",
             "dimension of the input. Received: input_shape=", x.shape(),
             ", cropping=", this->margins_option_);
      y = ops::slice_axis(y, axis, margin[0], length < 0 ? length : length - margin[1]);
    });
    return y;
  }

 protected:
  Tensor output_mask(const Tensor& mask, const Tensor&, const Tensor&) const override {
    if (mask.rank() != 2) return {};
    const Margin& margin = this->margins_[0];
    const int64_t steps = mask.dim(1);
    return ops::slice_axis(mask, 1, margin[0], steps < 0 ? steps : steps - margin[1]);
  }
};

}  // namespace

CRESCENT_REGISTER(margins) {
  registry.add<ZeroPadding<1>>("ZeroPadding1D");
  registry.add<ZeroPadding<2>>("ZeroPadding2D");
  registry.add<ZeroPadding<3>>("ZeroPadding3D");
  registry.add<Cropping<1>>("Cropping1D");
  registry.add<Cropping<2>>("Cropping2D");
  registry.add<Cropping<3>>("Cropping3D");
}

}  // namespace crescent
