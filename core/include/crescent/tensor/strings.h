// Strings as elements of tensors. An element of dtype string is a number that stands for a text:
// equal texts have equal numbers, 0 is the empty text. So strings are moved, compared and batched
// like integers, and each text exists once however many tensors hold it.
#pragma once
#include "crescent/tensor/tensor.h"

namespace crescent {

/// What an element of a tensor of strings holds.
enum class StringId : uint64_t {};

template <>
struct DTypeOf<StringId> {
  static constexpr DType value = DType::string;
};

/// The text lives as long as a tensor holds the id. An id that is kept outside of tensors may stand
/// for another text later: keep the tensor beside it.
CRESCENT_API std::string_view text_of(StringId id);
/// For ops that make strings, while they compute: the id is to be in a tensor when the program has
/// run.
CRESCENT_API StringId intern(std::string_view text);
/// Fails when there are not as many as the shape has elements.
CRESCENT_API Tensor string_tensor(std::span<const std::string> texts, const Shape& shape);
/// The elements in their order; fails for other dtypes.
CRESCENT_API std::vector<std::string> strings_of(const Tensor& tensor);
/// How many texts there are now. Those that no tensor holds go when there are twice as many as
/// before.
CRESCENT_API size_t string_count();

}  // namespace crescent
