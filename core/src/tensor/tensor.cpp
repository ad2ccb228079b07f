#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "tensor/elements.h"
#include "tensor/strings.h"
#include "tensor/tensor_record.h"

namespace crescent {

struct Tensor::Impl final : TensorRecord {
  static std::shared_ptr<Impl> make(TensorRecord record) {
    auto impl = std::make_shared<Impl>(std::move(record));
    impl->self = impl;
    return impl;
  }
};

namespace {

/// The number of elements that full() writes one by one. The other elements of a larger tensor are
/// copied from these.
constexpr int64_t kCopiedElements = 1024;

std::shared_ptr<Storage> storage_for(const TensorSpec& spec, bool zeroed,
                                     Memory* memory = nullptr) {
  try {
    const size_t bytes = spec.bytes();
    return memory ? memory->allocate(bytes, zeroed) : Storage::allocate(bytes, zeroed);
  } catch (Error& error) {
    error.add_context(concat("a tensor ", spec, ": "));
    throw;
  }
}

/// A pointer to the values of a new tensor in host memory that nothing shares yet.
void* values_of_new_tensor(const Tensor& t) { return t.storage()->host() + t.offset(); }

[[noreturn]] void fail_no_tensor() { fail("there is no tensor here (it was never given a value)"); }

[[noreturn]] void fail_no_values(const TensorSpec& spec) {
  fail("a tensor ", spec,
       " has no values while a program is being recorded; use run_eagerly=true to look at values");
}

/// Returns the record; fails if the tensor is abstract or empty.
const TensorRecord& record_with_values(const TensorRecord* record) {
  if (!record) fail_no_tensor();
  if (!record->storage) fail_no_values(record->spec);
  return *record;
}

}  // namespace

Tensor::Tensor(const TensorSpec& spec) : Tensor(on(storage_for(spec, true), 0, spec)) {}

Tensor::Tensor(float scalar) : Tensor(uninitialized({DType::float32, {}})) {
  *static_cast<float*>(values_of_new_tensor(*this)) = scalar;
}

Tensor Tensor::uninitialized(const TensorSpec& spec, Memory* memory) {
  return on(storage_for(spec, false, memory), 0, spec);
}

Tensor Tensor::abstract(const TensorSpec& spec) { return Tensor(Impl::make({.spec = spec})); }

Tensor Tensor::on(std::shared_ptr<Storage> storage, size_t offset, const TensorSpec& spec) {
  const size_t bytes = spec.bytes();
  if (offset > storage->bytes() || bytes > storage->bytes() - offset) {
    fail("a tensor ", spec, " needs ", bytes, " bytes from ", offset, ", the memory has ",
         storage->bytes());
  }
  if (spec.dtype == DType::string) watch_strings(storage);
  return Tensor(Impl::make({.spec = spec, .storage = std::move(storage), .offset = offset}));
}

Tensor Tensor::full(const Shape& shape, double value, DType dtype) {
  const bool is_all_zero = value == 0 && !std::signbit(value) && dtype != DType::string;
  if (is_all_zero) return Tensor({dtype, shape});  // zeroed memory takes the least time
  Tensor result = uninitialized({dtype, shape});
  with_element_type(dtype, [&]<class T>(T* type) {
    const int64_t size = result.size(), copied_count = std::min(size, kCopiedElements);
    T* elements = static_cast<T*>(values_of_new_tensor(result));
    std::fill_n(elements, copied_count, element_of(value, type));
    for (int64_t filled_count = copied_count; filled_count < size; filled_count += copied_count)
      std::copy_n(elements, std::min(copied_count, size - filled_count), elements + filled_count);
  });
  return result;
}

Tensor Tensor::from_bytes(const void* bytes, size_t count, const TensorSpec& spec) {
  if (std::cmp_not_equal(spec.bytes(), count)) {
    fail("a tensor ", spec, " takes ", spec.bytes(), " bytes of values, got ", count);
  }
  Tensor result = uninitialized(spec);
  if (count > 0) std::memcpy(values_of_new_tensor(result), bytes, count);
  return result;
}

const TensorSpec& Tensor::spec() const {
  if (!impl_) fail_no_tensor();
  return impl_->spec;
}

bool Tensor::is_abstract() const {
  if (!impl_) fail_no_tensor();
  return impl_->storage == nullptr;
}

void Tensor::check_type(DType expected_dtype) const {
  if (dtype() != expected_dtype)
    fail("expected values of dtype ", expected_dtype, ", the tensor has ", dtype());
}

bool Tensor::in_memory() const { return !is_abstract() && impl_->storage->in_memory(); }

const void* Tensor::raw() const {
  const TensorRecord& record = record_with_values(impl_.get());
  const std::byte* values = record.storage->host_view();
  if (!values) {
    fail("the values of this tensor ", record.spec, " are in ", record.storage->location(),
         ": fit, evaluate and predict read them as they go; clone() brings them, or those of a "
         "slice, into memory");
  }
  return values + record.offset;
}

void* Tensor::mutable_raw() {
  storage()->expose_for_write();
  return const_cast<void*>(raw());
}

Contents Tensor::contents() const {
  const TensorRecord& record = record_with_values(impl_.get());
  return record.storage->contents(record.offset);
}

const std::shared_ptr<Storage>& Tensor::storage() const {
  return record_with_values(impl_.get()).storage;
}

size_t Tensor::offset() const { return record_with_values(impl_.get()).offset; }

double Tensor::item() const {
  storage();
  if (size() != 1) fail("item: expected a tensor of one element, got shape ", shape());
  if (impl_->storage->memory()) return to(nullptr).item();
  return with_element_type(dtype(),
                           [&]<class T>(T*) { return number_of(*static_cast<const T*>(raw())); });
}

std::vector<double> Tensor::to_vector() const {
  if (storage()->memory()) return to(nullptr).to_vector();
  std::vector<double> values(size());
  with_element_type(dtype(), [&]<class T>(T*) {
    const T* elements = static_cast<const T*>(raw());
    for (size_t i = 0; i < values.size(); ++i) values[i] = number_of(elements[i]);
  });
  return values;
}

Tensor Tensor::clone() const { return clone(storage()->memory()); }

Tensor Tensor::clone(Memory* memory) const {
  const Storage& own_storage = *storage();
  Tensor result = uninitialized(spec(), memory);
  result.storage()->copy(0, own_storage, impl_->offset, bytes());
  return result;
}

/// If the tensor is a view of a part of its storage, such as a batch, or is copied to the host,
/// only its own bytes are copied. Otherwise all bytes of the storage are copied, and the storage
/// keeps the copy for later calls.
Tensor Tensor::to(Memory* memory) const {
  const Storage& own_storage = *storage();
  if (!own_storage.in_memory()) raw();  // fails with a message that names the file
  if (own_storage.memory() == memory) return *this;
  if (!memory || own_storage.memory() || bytes() != own_storage.bytes()) return clone(memory);
  return on(own_storage.copy_in(memory), 0, spec());
}

Tensor Tensor::view(const Shape& shape) const {
  if (shape.size() != size())
    fail("a view of shape ", shape, " does not fit a tensor of shape ", this->shape());
  return on(storage(), offset(), {dtype(), shape});
}

Tensor Tensor::view_rows(int64_t first, int64_t count) const {
  if (rank() == 0) fail("a scalar has no rows");
  if (first < 0 || count < 0 || first > dim(0) - count) {
    fail("rows ", first, " to ", first + count, " are out of range for shape ", shape());
  }
  Shape rows_shape = shape();
  const int64_t row_size = rows_shape.slice(1, rows_shape.rank()).size();
  rows_shape.set(0, count);
  return on(storage(), offset() + static_cast<size_t>(first * row_size) * size_of(dtype()),
            {dtype(), rows_shape});
}

const Tensor& Tensor::mask() const {
  if (!impl_) fail_no_tensor();
  return impl_->mask;
}

Tensor Tensor::with_mask(const Tensor& mask) const {
  if (!impl_) fail_no_tensor();
  const Tensor& unmasked_tensor = value_of(*this);
  if (!mask) return unmasked_tensor;
  auto impl = Impl::make(*unmasked_tensor.impl_);
  impl->mask = mask;
  impl->value = unmasked_tensor;
  return Tensor(std::move(impl));
}

Tensor Tensor::alias() const {
  if (!impl_) fail_no_tensor();
  auto impl = Impl::make(*impl_);
  impl->value = Tensor();
  impl->aliased = value_of(*this);
  return Tensor(std::move(impl));
}

BoxedTensor::~BoxedTensor() = default;

}  // namespace crescent
