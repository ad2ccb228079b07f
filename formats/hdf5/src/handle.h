// The class that owns an HDF5 identifier; this library holds all its identifiers by this class.
#pragma once
#include <hdf5.h>

#include <utility>

namespace crescent::hdf5 {

class Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Handle(hid_t id, Close close) : id_(id), close_(close) {}
  Handle(Handle&& other) noexcept
      : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  operator hid_t() const { return id_; }
  bool valid() const { return id_ >= 0; }

 private:
  hid_t id_;
  Close close_;
};

/// The type of IEEE half precision, for which HDF5 1.10 has no constant.
inline Handle half_type(H5T_order_t order = H5T_ORDER_LE) {
  Handle type(H5Tcopy(H5T_IEEE_F32LE), H5Tclose);
  H5Tset_fields(type, 15, 10, 5, 0, 10);
  H5Tset_size(type, 2);
  H5Tset_ebias(type, 15);
  H5Tset_order(type, order);
  return type;
}

/// The type of two opaque bytes, as which h5py writes a NumPy type that HDF5 lacks. An attribute of
/// Keras then says that the values are bfloat16.
inline Handle bfloat16_type() {
  Handle type(H5Tcreate(H5T_OPAQUE, 2), H5Tclose);
  H5Tset_tag(type, "");
  return type;
}

/// The type of complex numbers: pairs of float32, with the names that h5py gives to the parts.
inline Handle complex_type() {
  Handle type(H5Tcreate(H5T_COMPOUND, 8), H5Tclose);
  H5Tinsert(type, "r", 0, H5T_IEEE_F32LE);
  H5Tinsert(type, "i", 4, H5T_IEEE_F32LE);
  return type;
}

/// The type of NumPy's bool as h5py writes it.
inline Handle bool_type() {
  Handle type(H5Tenum_create(H5T_STD_I8LE), H5Tclose);
  for (const auto& [name, value] : {std::pair{"FALSE", int8_t{0}}, {"TRUE", int8_t{1}}})
    H5Tenum_insert(type, name, &value);
  return type;
}

}  // namespace crescent::hdf5
