#include "library/parameter_texts.h"

#include <algorithm>
#include <string>

#include "crescent/base/error.h"

namespace crescent::lua {
namespace {

struct ParameterText {
  std::string_view parameter, type;
  std::string_view functions;  ///< Names between spaces; empty: every function.
  std::string_view text;
};

constexpr std::string_view kReductions =
    " all amax amin any average count_nonzero logsumexp max mean median min nanmax nanmean "
    "nanmedian"
    " nanmin nanpercentile nanprod nanquantile nanstd nansum nanvar percentile prod ptp quantile "
    "std"
    " sum var ";

constexpr std::string_view kElementwise =
    " add arctan2 divide divide_no_nan equal floor_divide fmax fmin fmod gcd greater greater_equal"
    " heaviside hypot isclose lcm ldexp less less_equal logaddexp logaddexp2 logical_and logical_or"
    " logical_xor maximum minimum mod multiply nextafter not_equal power subtract true_divide ";

/// A row applies to the parameters of this name and type. The first row that applies counts.
constexpr ParameterText kTexts[] = {
    {"self", "the object", "", "The object of the method; a call with a colon passes it."},
    {"self", "the layer", "", "The layer of the method; a call with a colon passes it."},
    {"self", "the model", "", "The model of the method; a call with a colon passes it."},
    {"self", "the callback", "", "The callback of the method; a call with a colon passes it."},
    {"x1", "a tensor or a number", kElementwise,
     "First operand; its shape broadcasts with that of x2."},
    {"x2", "a tensor or a number", kElementwise,
     "Second operand; its shape broadcasts with that of x1."},
    {"axis", "an integer or a list of integers", kReductions,
     "Axes to reduce, counted from 0 or, if negative, from the end; nil: all axes."},
    {"axis", "an integer or null", " argmax argmin nanargmax nanargmin ",
     "Axis to search, counted from 0 or, if negative, from the end; nil: the flattened tensor."},
    {"axis", "an integer or null", " cumprod cumsum nancumprod nancumsum ",
     "Axis to accumulate along, counted from 0 or, if negative, from the end; nil: the flattened "
     "tensor."},
    {"keepdims", "a boolean", "", "Keep the reduced axes, with size 1."},
    {"q", "a tensor or a number", " nanquantile quantile ",
     "Fractions from 0 to 1; the axes of a tensor come first in the result."},
    {"q", "a tensor or a number", " nanpercentile percentile ",
     "Percentages from 0 to 100; the axes of a tensor come first in the result."},
};

}  // namespace

std::string_view parameter_text(std::string_view function, std::string_view parameter,
                                std::string_view type) {
  const std::string word = concat(" ", function, " ");
  const auto names = [&word](std::string_view functions) {
    return functions.empty() || functions.find(word) != functions.npos;
  };
  const auto row = std::find_if(std::begin(kTexts), std::end(kTexts), [&](const auto& entry) {
    return entry.parameter == parameter && entry.type == type && names(entry.functions);
  });
  return row == std::end(kTexts) ? std::string_view() : row->text;
}

}  // namespace crescent::lua
