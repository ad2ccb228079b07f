// Tensor: a value with run-time dtype, shape and shared storage. Always dense and row-major;
// reshape and slices of the leading axis share storage, every other rearrangement is an op (ops.h).
//
// An abstract tensor has dtype and shape (dims may be -1 = unknown) and no values: layers run on it
// to find output shapes and to record programs. Reading values of an abstract tensor is an error
// that says so.
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

CRESCENT_API size_t size_of(DType dtype);               ///< bytes an element
CRESCENT_API const char* name_of(DType dtype);          ///< "float32", ..., "bool"
CRESCENT_API DType dtype_named(std::string_view name);  ///< fails with a suggestion
CRESCENT_API bool is_floating(DType dtype);
CRESCENT_API bool is_integer(DType dtype);  ///< int8 int16 int32 int64 uint8
/// Common dtype of two operands (Keras): bool < uint8, int8 < int16 < int32 < int64 <
/// float16/bfloat16 < float32 < float64 < complex64; int16 has room for uint8 and int8. Strings
/// have a common dtype with strings only.
CRESCENT_API DType promote(DType a, DType b);
inline std::string to_text(DType dtype) { return name_of(dtype); }

template <class T>
struct DTypeOf;  // C++ type -> DType, for the types C++ has
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
  Shape(std::span<const int64_t> dims);  ///< fails over 8 dims or below -1
  Shape(const std::vector<int64_t>& dims) : Shape(std::span<const int64_t>(dims)) {}

  int rank() const { return rank_; }
  /// i may be negative; out of range fails.
  int64_t operator[](int i) const;
  void set(int i, int64_t dim);
  const int64_t* begin() const { return dims_.data(); }
  const int64_t* end() const { return dims_.data() + rank_; }
  bool is_known() const;  ///< no -1
  /// Product of dims; fails when a dim is unknown or the product overflows.
  int64_t size() const;
  int axis(int i) const;  ///< negative axis made positive; fails naming the shape
  void append(int64_t dim);
  Shape slice(int first, int last) const;  ///< dims [first, last), negatives count from the end
  Shape concat(const Shape& other) const;
  bool operator==(const Shape& other) const;
  /// Same rank and equal dims wherever both are known.
  bool compatible(const Shape& other) const;

 private:
  std::array<int64_t, kMaxRank> dims_{};
  int rank_ = 0;
};
CRESCENT_API std::string to_text(const Shape& shape);
/// NumPy broadcasting; unknown dims stay unknown unless the other side decides. Fails naming both
/// and `what`.
CRESCENT_API Shape broadcast_shapes(const Shape& a, const Shape& b, std::string_view what);

CRESCENT_CODEC(Shape);  // list of integers and nulls
CRESCENT_CODEC(DType);

struct TensorSpec {
  DType dtype = DType::float32;
  Shape shape;
  bool operator==(const TensorSpec&) const = default;
};
CRESCENT_API std::string to_text(const TensorSpec& spec);  ///< "float32(None, 3)"

/// Tells whether values are still what they were: equal contents mean equal bytes. Unknown contents
/// equal nothing, not even themselves.
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

/// Memory of a device that has its own (device.h). It lives as long as the process.
class CRESCENT_API Memory {
 public:
  virtual ~Memory();
  /// Zeroed unless `zeroed` is false. Fails naming the size when there is no room.
  virtual std::shared_ptr<Storage> allocate(size_t bytes, bool zeroed = true) = 0;
};

/// Memory that tensors share: the host's, 64-byte aligned, or a device's, or what is in a file.
///
/// What was computed from a weight is kept until the weight changes (device.h), so nobody writes in
/// secret: who writes through host() after others may have read calls bump_version(); who gives
/// away a pointer to write through calls expose_for_write().
class CRESCENT_API Storage {
 public:
  Storage();
  virtual ~Storage();
  /// Null where the values are elsewhere: in a file, in a device's memory.
  std::byte* host() const { return host_; }
  /// Whose memory it is; null for the host's and for files.
  Memory* memory() const { return memory_; }
  bool in_memory() const { return host_ || memory_; }  ///< false: in a file
  size_t bytes() const { return bytes_; }
  /// Copies whole elements, bytes [offset, offset + count), to `target` from wherever they are. Any
  /// thread may call it. Fails naming the place; errors of programs that were still running on a
  /// device are told here.
  void read(size_t offset, size_t count, void* target) const {
    host_ ? copy_bytes(target, host_ + offset, count) : fetch(offset, count, target);
  }
  /// The other way round, not for files. `source` may change as soon as this returns.
  void write(size_t offset, size_t count, const void* source);
  /// Writes bytes of another storage, wherever they are.
  void copy(size_t offset, const Storage& from, size_t from_offset, size_t count);
  /// Values for the host to look at: host(), or a copy of a device's that every call brings up to
  /// date. Null for files.
  const std::byte* host_view() const {
    return host_ ? host_ : memory_ ? copy_in(nullptr)->host() : nullptr;
  }
  /// All of it in other memory (null: the host's). The copy is kept: who asks again while nothing
  /// was written gets the same.
  std::shared_ptr<Storage> copy_in(Memory* memory) const;
  /// Bytes that are best read together, from a multiple of it: packed files unpack so many at a
  /// time.
  virtual size_t block() const { return 1; }
  /// Where values that are in a file are, for people: "'images.h5'".
  virtual std::string place() const;
  /// The bytes are about to change.
  void bump_version() {
    writes_.store(writes_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  /// The bytes may change at any time from now on: contents are unknown for good. Those of a device
  /// come to the host and stay there: programs of the device take a copy each time.
  void expose_for_write() {
    if (memory_) come_home();
    exposed_.store(true, std::memory_order_relaxed);
  }
  bool is_exposed() const { return exposed_.load(std::memory_order_relaxed); }
  Contents contents(size_t offset) const {
    return {is_exposed() ? 0 : number_, writes_.load(std::memory_order_relaxed), offset};
  }
  /// Zeroed unless `zeroed` is false. Fails naming the size when there is no memory.
  static std::shared_ptr<Storage> allocate(size_t bytes, bool zeroed = true);

 protected:
  /// read() where there is no host().
  virtual void fetch(size_t offset, size_t count, void* target) const;
  /// write() to a device's memory.
  virtual void store(size_t offset, size_t count, const void* source);
  /// copy() within a device's memory, without the host; false when it cannot.
  virtual bool copy_within(size_t offset, const Storage& from, size_t from_offset, size_t count);

  std::byte* host_ = nullptr;
  Memory* memory_ = nullptr;
  size_t bytes_ = 0;

 private:
  static void copy_bytes(void* target, const void* source, size_t count);
  void come_home();

  mutable std::shared_ptr<Storage> copy_;  ///< in other memory, as of so many writes
  mutable uint64_t copied_at_ = 0;
  const uint64_t number_;
  std::atomic<uint64_t> writes_{0};
  std::atomic<bool> exposed_{false};
};

/// Base of storages in a device's memory, which count as memory of tensors.
class CRESCENT_API DeviceStorage : public Storage {
 protected:
  DeviceStorage(Memory& memory, size_t bytes);
  ~DeviceStorage() override;
  void fetch(size_t offset, size_t count, void* target) const override = 0;
  void store(size_t offset, size_t count, const void* source) override = 0;
};

/// Called with +bytes and -bytes as tensor memory comes and goes; hosts with a collector charge it.
/// Null switches off.
CRESCENT_API void set_allocation_observer(void (*observer)(int64_t bytes));
/// Number of storages made so far in this process (tests prove that a step allocates nothing).
CRESCENT_API uint64_t allocation_count();
/// Live bytes in tensor storages, the host's and those of devices.
CRESCENT_API int64_t allocated_bytes();

class CRESCENT_API Tensor {
 public:
  Tensor() = default;                       ///< no tensor: `if (t)` is false
  explicit Tensor(const TensorSpec& spec);  ///< zeros
  Tensor(const Shape& shape, DType dtype) : Tensor(TensorSpec{dtype, shape}) {}
  Tensor(float scalar);  ///< float32 scalars, for expressions
  Tensor(double scalar) : Tensor(static_cast<float>(scalar)) {}

  /// In a device's memory, or (null) the host's.
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
  /// Copies; fails when the byte count does not fit.
  static Tensor from_bytes(const void* bytes, size_t count, const TensorSpec& spec);

  explicit operator bool() const { return impl_ != nullptr; }
  DType dtype() const { return spec().dtype; }
  const Shape& shape() const { return spec().shape; }
  const TensorSpec& spec() const;  ///< fails when there is no tensor
  int rank() const { return shape().rank(); }
  int64_t dim(int i) const { return shape()[i]; }
  int64_t size() const { return shape().size(); }
  size_t bytes() const { return static_cast<size_t>(size()) * size_of(dtype()); }
  bool is_abstract() const;
  bool in_memory() const;  ///< the host's or a device's; false: abstract, or in a file

  /// Host values: for a tensor in a device's memory those of now (what a program writes there later
  /// is seen by the next call). Fail for abstract tensors ("... has no values while a program is
  /// being recorded"), for tensors in files, and for wrong T.
  template <class T>
  const T* data() const {
    check_type(DTypeOf<T>::value);
    return static_cast<const T*>(raw());
  }
  /// For filling a tensor that one has made. A variable takes memory of its own when it is given
  /// the tensor, or (where the tensor came from the variable) before the next compiled program:
  /// what is written later does not reach it.
  template <class T>
  T* mutable_data() {
    check_type(DTypeOf<T>::value);
    return static_cast<T*>(mutable_raw());
  }
  const void* raw() const;
  void* mutable_raw();        ///< as mutable_data()
  Contents contents() const;  ///< fails for abstract tensors
  const std::shared_ptr<Storage>& storage() const;
  size_t offset() const;
  /// Value of a tensor of one element as double; fails otherwise.
  double item() const;
  /// All values as double / int64 (converted).
  std::vector<double> to_vector() const;
  /// Own storage, same values; those of a file come to the host, others stay where they are.
  Tensor clone() const;
  Tensor clone(Memory* memory) const;  ///< in a device's memory, or (null) the host's
  /// The same values in this memory: the tensor itself, or a copy of it (not of files).
  Tensor to(Memory* memory) const;

  // Views; no op is recorded (see ops.h for the ones that gradients and programs follow).
  Tensor view(const Shape& shape) const;  ///< same values, same count
  Tensor view_rows(int64_t first,
                   int64_t count) const;  ///< rows [first, first+count) of the leading axis

  /// Identity while recording: copies of a Tensor share it, results of ops have a new one. Null
  /// when there is no tensor.
  const void* id() const { return impl_.get(); }

  /// Keras mask that travels with the tensor (bool, shape of the leading axes), or no tensor.
  const Tensor& mask() const;
  Tensor with_mask(
      const Tensor& mask) const;  ///< same values, identity kept apart; no tensor removes the mask
  /// Same values under a new identity.
  Tensor alias() const;

 private:
  struct Impl;
  explicit Tensor(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  void check_type(DType wanted) const;
  std::shared_ptr<Impl> impl_;
};

using Tensors = std::vector<Tensor>;

/// Readable values like NumPy's, long ones cut.
CRESCENT_API std::string to_text(const Tensor& tensor);

/// A Tensor inside a Value (options such as weights= or validation data).
class CRESCENT_API BoxedTensor : public Object {
 public:
  explicit BoxedTensor(Tensor t) : tensor(std::move(t)) {}
  ~BoxedTensor() override;
  std::string class_name() const override { return "Tensor"; }
  Tensor tensor;
};

/// Numbers and lists of them are taken too, as float32, and lists of strings; null is no tensor.
CRESCENT_CODEC(Tensor);

// Conversions of single values, shared by everything that reads half-width floats.
CRESCENT_API float bfloat16_to_float(uint16_t bits);
CRESCENT_API uint16_t float_to_bfloat16(float x);  ///< round to nearest even
CRESCENT_API float float16_to_float(uint16_t bits);
CRESCENT_API uint16_t float_to_float16(float x);

}  // namespace crescent
