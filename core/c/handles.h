// Handles: the numbers that stand for objects of C++ at the C boundary. A number is never used
// twice, and its lowest bits say what it stands for, so a freed handle and one of another kind are
// detected; an object that another thread works with lives on when its handle is freed.
#pragma once
#include <memory>

#include "crescent.h"
#include "crescent/base/error.h"

namespace crescent::c {

enum class HandleKind : uintptr_t { error, tensor, model, interruption, layer };

/// A mistake in how a function of the interface was called.
class ArgumentError final : public Error {
 public:
  using Error::Error;
};

template <class... Pieces>
[[noreturn]] void refuse(const Pieces&... pieces) {
  throw ArgumentError(concat(pieces...));
}

/// Enters the object and returns its number.
uintptr_t add_handle(HandleKind kind, std::shared_ptr<void> object);
/// The object; null for a number that stands for nothing of this kind.
std::shared_ptr<void> find_handle(HandleKind kind, const void* handle);
/// Removes the handle, unless it stands for nothing of this kind.
void remove_handle(HandleKind kind, const void* handle);

/// Fails for a null pointer, naming the argument.
template <class T>
T* require(T* pointer, const char* name) {
  if (!pointer) refuse("'", name, "' is NULL");
  return pointer;
}

}  // namespace crescent::c
