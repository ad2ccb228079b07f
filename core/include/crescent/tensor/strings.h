// Strings as elements of tensors. An element of dtype string is a number (StringId) that identifies
// an interned text: equal texts have equal ids, 0 is the empty text. Ops move, compare and batch
// strings like integers, and each text is stored once however many tensors contain it.
#pragma once
#include "crescent/tensor/tensor.h"

namespace crescent {

/// The element type of tensors of strings.
enum class StringId : uint64_t {};

template <>
struct DTypeOf<StringId> {
  static constexpr DType value = DType::string;
};

/// The text of an id, which lives as long as a tensor contains the id. An id outside of all tensors
/// may be reused for another text, so keep the tensor as well.
CRESCENT_API std::string_view text_of(StringId id);
/// Returns the id of a text. An op that computes strings must put the id into a tensor before the
/// program ends, because ids that are in no tensor are reused.
CRESCENT_API StringId intern(std::string_view text);
/// Makes a tensor of strings; fails when the number of texts is not the shape's size.
CRESCENT_API Tensor string_tensor(std::span<const std::string> texts, const Shape& shape);
/// Returns the elements in row-major order; fails for other dtypes.
CRESCENT_API std::vector<std::string> strings_of(const Tensor& tensor);
/// The number of interned texts. Texts that no tensor contains are removed whenever the number has
/// doubled.
CRESCENT_API size_t string_count();

}  // namespace crescent
