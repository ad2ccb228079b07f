#include "program/recording/autocast.h"

#include <utility>

namespace crescent {
namespace {

thread_local std::optional<DType> current_dtype;

}  // namespace

Autocast::Autocast(std::optional<DType> dtype)
    : outer_dtype_(std::exchange(current_dtype, dtype)) {}
Autocast::~Autocast() { current_dtype = outer_dtype_; }
std::optional<DType> Autocast::current() { return current_dtype; }

}  // namespace crescent
