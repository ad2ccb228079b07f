// A Tensor is an array with a dtype and a shape that are known at run time, and with shared
// storage. Its elements are dense and row-major. Reshaping and slices of the leading axis share the
// storage; every other rearrangement is an op (ops.h).
//
// An abstract tensor has dtype and shape (dims may be -1 = unknown) and no values: layers run on it
// to infer output shapes and to record programs. Reading its values is an error that says so.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "crescent/base/error.h"
#include "crescent/registry/codec.h"

namespace crescent {

/// complex64: two float32, the real part first. string: see strings.h.
enum class DType : uint8_t {
  float32,
  float64,
  bfloat16,
  float16,
  int32,
  int64,
  uint8,
  boolean,
  int8,
  int16,
  complex64,
  string
};
inline constexpr int kDTypeCount = 12;

CRESCENT_API size_t size_of(DType dtype);               ///< bytes per element
CRESCENT_API const char* name_of(DType dtype);          ///< "float32", ..., "bool"
CRESCENT_API DType dtype_named(std::string_view name);  ///< the error suggests a similar name
CRESCENT_API bool is_floating(DType dtype);
CRESCENT_API bool is_integer(DType dtype);  ///< int8, int16, int32, int64 or uint8
/// The dtype of new weights, inputs, random numbers, numbers of the shell, and of results of
/// floating-point functions of integers, unless another is requested: float32 at first.
CRESCENT_API DType floatx();
CRESCENT_API void set_floatx(DType dtype);  ///< float16, bfloat16, float32 or float64
/// Common dtype of two operands (Keras): bool < uint8, int8 < int16 < int32 < int64 <
/// float16/bfloat16 < float32 < float64 < complex64; the common dtype of uint8 and int8 is int16.
/// Strings have a common dtype with strings only.
CRESCENT_API DType promote(DType a, DType b);
inline std::string to_text(DType dtype) { return name_of(dtype); }

template <class T>
struct DTypeOf;  // maps a C++ type to its DType
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::float32;
};
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::float64;
};
template <>
struct DTypeOf<int32_t> {
  static constexpr DType value = DType::int32;
};
template <>
struct DTypeOf<int64_t> {
  static constexpr DType value = DType::int64;
};
template <>
struct DTypeOf<int8_t> {
  static constexpr DType value = DType::int8;
};
template <>
struct DTypeOf<int16_t> {
  static constexpr DType value = DType::int16;
};
template <>
struct DTypeOf<uint8_t> {
  static constexpr DType value = DType::uint8;
};
template <>
struct DTypeOf<bool> {
  static constexpr DType value = DType::boolean;
};

/// Up to 8 dims; -1 is unknown. shape[-1] is the last dim. Prints like Python: (None, 3), (2,), ().
class CRESCENT_API Shape {
 public:
  static constexpr int kMaxRank = 8;
  Shape() = default;
  Shape(std::initializer_list<int64_t> dims)
      : Shape(std::span<const int64_t>(dims.begin(), dims.size())) {}
  Shape(std::span<const int64_t> dims);  ///< fails for more than 8 dims or a dim below -1
  Shape(const std::vector<int64_t>& dims) : Shape(std::span<const int64_t>(dims)) {}

  int rank() const { return rank_; }
  /// The size of axis i, which may be negative; fails if i is out of range.
  int64_t operator[](int i) const;
  void set(int i, int64_t dim);
  const int64_t* begin() const { return dims_.data(); }
  const int64_t* end() const { return dims_.data() + rank_; }
  bool is_known() const;  ///< whether no dim is -1
  /// Product of dims; fails when a dim is unknown or the product overflows.
  int64_t size() const;
  /// Makes a negative axis nonnegative; the error for a wrong axis names the shape.
  int axis(int i) const;
  void append(int64_t dim);
  Shape slice(int first, int last) const;  ///< dims [first, last), negatives count from the end
  Shape concat(const Shape& other) const;
  bool operator==(const Shape& other) const;
  /// Whether the ranks are equal, and the dims wherever both are known.
  bool compatible(const Shape& other) const;

 private:
  std::array<int64_t, kMaxRank> dims_{};
  int rank_ = 0;
};
CRESCENT_API std::string to_text(const Shape& shape);
/// The shape of the result by NumPy's broadcasting. An unknown dim stays unknown unless the other
/// shape determines the result. The error for shapes that do not broadcast names both shapes and
/// begins with `what`.
CRESCENT_API Shape broadcast_shapes(const Shape& a, const Shape& b, std::string_view what);

CRESCENT_CODEC(Shape);  // a list of integers, with null for an unknown dim
CRESCENT_CODEC(DType);

struct TensorSpec {
  DType dtype = DType::float32;
  Shape shape;
  bool operator==(const TensorSpec&) const = default;
  /// The bytes that the values take; raises an error if they are too many to count.
  CRESCENT_API int64_t bytes() const;
};
CRESCENT_API std::string to_text(const TensorSpec& spec);  ///< "float32(None, 3)"

/// Identifies the bytes of a tensor at one moment: equal contents mean equal bytes. Unknown
/// contents are never equal, not even to themselves.
struct Contents {
  uint64_t storage = 0;  ///< unique in this process; 0 = unknown
  uint64_t writes = 0;
  size_t offset = 0;
  bool operator==(const Contents& other) const {
    return storage != 0 && storage == other.storage && writes == other.writes &&
           offset == other.offset;
  }
};

class Storage;

/// The memory of a device that does not use host memory (device.h). It lives as long as the
/// process.
class CRESCENT_API Memory {
 public:
  virtual ~Memory();
  /// Allocates a storage, zeroed unless `zeroed` is false. Fails when memory is exhausted; the
  /// error names the size.
  virtual std::shared_ptr<Storage> allocate(size_t bytes, bool zeroed = true) = 0;
};

/// Memory shared by tensors: host memory (64-byte aligned), device memory, or a file.
///
/// Values computed from a weight are cached until the weight changes (device.h), so every write
/// must be announced: code that writes through host() calls bump_version() if other code may have
/// read the bytes before; code that gives away a pointer for writing calls expose_for_write().
class CRESCENT_API Storage {
 public:
  Storage();
  virtual ~Storage();
  /// Null when the values are in a file or in a device's memory.
  std::byte* host() const { return host_; }
  /// The device memory that holds the values; null for host memory and for files.
  Memory* memory() const { return memory_; }
  bool in_memory() const { return host_ || memory_; }  ///< false: the values are in a file
  size_t bytes() const { return bytes_; }
  /// Copies the bytes [offset, offset + count), which must be whole elements, to `target`.
  /// Thread-safe. A failure names the file; errors of programs that were still running on a device
  /// are raised here.
  void read(size_t offset, size_t count, void* target) const {
    host_ ? copy_bytes(target, host_ + offset, count) : fetch(offset, count, target);
  }
  /// Copies from `source` into the storage; not for files. `source` may be reused after the return.
  void write(size_t offset, size_t count, const void* source);
  /// Copies bytes of another storage, which may be in any memory or file.
  void copy(size_t offset, const Storage& from, size_t from_offset, size_t count);
  /// Returns values that the host can read: host(), or a host copy of device memory, which every
  /// call updates. Null for files.
  const std::byte* host_view() const {
    return host_ ? host_ : memory_ ? copy_in(nullptr)->host() : nullptr;
  }
  /// Returns a copy of all bytes in `memory` (null: host memory). The copy is cached: calls return
  /// the same one until the bytes change.
  std::shared_ptr<Storage> copy_in(Memory* memory) const;
  /// The block size for efficient reads, which should start at a multiple of it: compressed files
  /// are decompressed block by block.
  virtual size_t block() const { return 1; }
  /// The file that holds the values, for messages: "'images.h5'".
  virtual std::string location() const;
  /// Announces that the bytes are about to change.
  void bump_version() {
    write_count_.store(write_count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  /// Announces that the bytes may change at any time from now on: contents stay unknown. Values in
  /// device memory move to the host and stay there, and programs of the device copy them for every
  /// run.
  void expose_for_write() {
    if (memory_) move_to_host();
    exposed_.store(true, std::memory_order_relaxed);
  }
  bool is_exposed() const { return exposed_.load(std::memory_order_relaxed); }
  Contents contents(size_t offset) const {
    return {is_exposed() ? 0 : storage_id_, write_count_.load(std::memory_order_relaxed), offset};
  }
  /// Allocates host memory, zeroed unless `zeroed` is false. Fails when memory is exhausted; the
  /// error names the size.
  static std::shared_ptr<Storage> allocate(size_t bytes, bool zeroed = true);

 protected:
  /// Implements read() for storages whose host() is null.
  virtual void fetch(size_t offset, size_t count, void* target) const;
  /// Implements write() for storages in device memory.
  virtual void store(size_t offset, size_t count, const void* source);
  /// Implements copy() between storages in the memory of one device, without the host; returns
  /// false when the device cannot do that.
  virtual bool copy_within(size_t offset, const Storage& from, size_t from_offset, size_t count);

  std::byte* host_ = nullptr;
  Memory* memory_ = nullptr;
  size_t bytes_ = 0;

 private:
  static void copy_bytes(void* target, const void* source, size_t count);
  void move_to_host();

  /// A copy of the bytes in another memory, and the value of write_count_ when it was made.
  mutable std::shared_ptr<Storage> copy_;
  mutable uint64_t copied_write_count_ = 0;
  const uint64_t storage_id_;
  std::atomic<uint64_t> write_count_{0};
  std::atomic<bool> exposed_{false};
};

/// Base class of storages in device memory; their bytes count as tensor memory.
class CRESCENT_API DeviceStorage : public Storage {
 protected:
  DeviceStorage(Memory& memory, size_t bytes);
  ~DeviceStorage() override;
  void fetch(size_t offset, size_t count, void* target) const override = 0;
  void store(size_t offset, size_t count, const void* source) override = 0;
};

/// Sets a function that is called with +bytes and -bytes when tensor memory is allocated and freed,
/// so that a scripting language can make its garbage collector take this memory into account. Null
/// removes it.
CRESCENT_API void set_allocation_observer(void (*observer)(int64_t bytes));
/// The number of storages allocated in this process (tests prove with it that a step allocates
/// none).
CRESCENT_API uint64_t allocation_count();
/// Bytes in live tensor storages, in host memory and in that of devices.
CRESCENT_API int64_t allocated_bytes();

class CRESCENT_API Tensor {
 public:
  Tensor() = default;                       ///< an empty Tensor: `if (t)` is false
  explicit Tensor(const TensorSpec& spec);  ///< filled with zeros
  Tensor(const Shape& shape, DType dtype) : Tensor(TensorSpec{dtype, shape}) {}
  Tensor(float scalar);  ///< a float32 scalar, so that numbers can be used in expressions
  Tensor(double scalar) : Tensor(static_cast<float>(scalar)) {}

  /// Makes a tensor with uninitialized values in `memory`; null means host memory.
  static Tensor uninitialized(const TensorSpec& spec, Memory* memory = nullptr);
  static Tensor abstract(const TensorSpec& spec);
  static Tensor full(const Shape& shape, double value, DType dtype = DType::float32);
  static Tensor scalar(double value, DType dtype = DType::float32) {
    return full({}, value, dtype);
  }
  static Tensor on(std::shared_ptr<Storage> storage, size_t offset, const TensorSpec& spec);
  template <class T>
  static Tensor from(std::span<const T> values, const Shape& shape) {
    return from_bytes(values.data(), values.size_bytes(),
                      {DTypeOf<std::remove_const_t<T>>::value, shape});
  }
  template <class T>
  static Tensor from(const std::vector<T>& values, const Shape& shape) {
    return from(std::span<const T>(values), shape);
  }
  /// Makes a tensor with a copy of the `count` bytes at `bytes`; fails if `count` is not the size
  /// of `spec` in bytes.
  static Tensor from_bytes(const void* bytes, size_t count, const TensorSpec& spec);

  explicit operator bool() const { return impl_ != nullptr; }
  DType dtype() const { return spec().dtype; }
  const Shape& shape() const { return spec().shape; }
  const TensorSpec& spec() const;  ///< fails for an empty Tensor
  int rank() const { return shape().rank(); }
  int64_t dim(int i) const { return shape()[i]; }
  int64_t size() const { return shape().size(); }
  size_t bytes() const { return static_cast<size_t>(size()) * size_of(dtype()); }
  bool is_abstract() const;
  bool in_memory() const;  ///< in host or device memory; false if abstract or in a file

  /// Host values. For a tensor in device memory, each call copies the present values to the host.
  /// Fails for abstract tensors ("... has no values while a program is being recorded"), for
  /// tensors in files, and for a wrong T.
  template <class T>
  const T* data() const {
    check_type(DTypeOf<T>::value);
    return static_cast<const T*>(raw());
  }
  /// A pointer for filling a new tensor. Later writes through the pointer do not reach a variable:
  /// a variable that is assigned the tensor gets its own copy of the memory, and a variable whose
  /// value() is the tensor gets a copy before the next compiled program runs.
  template <class T>
  T* mutable_data() {
    check_type(DTypeOf<T>::value);
    return static_cast<T*>(mutable_raw());
  }
  const void* raw() const;
  void* mutable_raw();        ///< has the same effects as mutable_data()
  Contents contents() const;  ///< identifies the values; fails for abstract tensors
  const std::shared_ptr<Storage>& storage() const;
  size_t offset() const;
  /// The single element as double; fails for tensors with another number of elements.
  double item() const;
  /// All values converted to double.
  std::vector<double> to_vector() const;
  /// A copy with its own storage; values in a file are read to the host, others stay in their
  /// memory.
  Tensor clone() const;
  Tensor clone(Memory* memory) const;  ///< a copy in `memory` (null: host memory)
  /// Returns the tensor itself if its values are in `memory`, else a copy there (not for files).
  Tensor to(Memory* memory) const;

  // Views, which share the storage. Gradient tapes and traces do not record them. ops.h has ops
  // with the same results, which are recorded.
  Tensor view(const Shape& shape) const;  ///< another shape with as many elements
  /// Rows [first, first + count) of the leading axis.
  Tensor view_rows(int64_t first, int64_t count) const;

  /// The identity of the tensor for tapes and traces: copies of a Tensor share it, results of ops
  /// have a new one. Null for an empty Tensor.
  const void* id() const { return impl_.get(); }

  /// The Keras mask of the tensor (bool, shape of the leading axes), or an empty Tensor.
  const Tensor& mask() const;
  /// The tensor with another mask and a new id(); an empty `mask` removes the mask.
  Tensor with_mask(const Tensor& mask) const;
  /// A tensor with the same values and a new id().
  Tensor alias() const;

 private:
  struct Impl;
  explicit Tensor(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  void check_type(DType wanted) const;
  std::shared_ptr<Impl> impl_;
};

using Tensors = std::vector<Tensor>;

/// The values as text in NumPy's layout; long tensors are abbreviated.
CRESCENT_API std::string to_text(const Tensor& tensor);

/// A Tensor inside a Value (for options such as weights= or validation data).
class CRESCENT_API BoxedTensor : public Object {
 public:
  explicit BoxedTensor(Tensor t) : tensor(std::move(t)) {}
  ~BoxedTensor() override;
  std::string class_name() const override { return "Tensor"; }
  Tensor tensor;
};

/// This codec also decodes numbers and lists of numbers (float32) and lists of strings; null gives
/// an empty Tensor.
CRESCENT_CODEC(Tensor);

// Conversions between float and half-width floats, used wherever single values are converted.
CRESCENT_API float bfloat16_to_float(uint16_t bits);
/// Rounds to the nearest value, halfway cases to even.
CRESCENT_API uint16_t float_to_bfloat16(float x);
CRESCENT_API float float16_to_float(uint16_t bits);
CRESCENT_API uint16_t float_to_float16(float x);

}  // namespace crescent
