// Handles: the numbers that identify C++ objects at the C boundary. A number is never used twice,
// and its lowest bits encode the kind of object, so freed handles and handles of another kind are
// detected. Freeing a handle does not destroy an object that another thread is using.
#pragma once
#include <memory>

#include "crescent.h"
#include "crescent/base/error.h"

namespace crescent::c {

enum class HandleKind : uintptr_t { error, tensor, model, interruption, layer };

/// An invalid argument of a function of the C interface.
class ArgumentError final : public Error {
 public:
  using Error::Error;
};

template <class... Pieces>
[[noreturn]] void fail_argument(const Pieces&... pieces) {
  throw ArgumentError(concat(pieces...));
}

/// Stores the object and returns its handle.
uintptr_t add_handle(HandleKind kind, std::shared_ptr<void> object);
/// The object of the handle; null for an invalid handle or one of another kind.
std::shared_ptr<void> find_handle(HandleKind kind, const void* handle);
/// Removes the handle; ignores an invalid handle or one of another kind.
void remove_handle(HandleKind kind, const void* handle);

/// Fails for a null pointer, naming the argument.
template <class T>
T* require(T* pointer, const char* name) {
  if (!pointer) fail_argument("'", name, "' is NULL");
  return pointer;
}

}  // namespace crescent::c
