#include "sparse_file.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "crescent/base/error.h"

namespace crescent::hdf5 {

/// The data of a file of this driver. libhdf5 knows only a pointer to the member `base`; of()
/// converts it to a pointer to the whole object.
struct SparseDriver {
  H5FD_t base{};
  SparseFile file;

  static SparseDriver& of(H5FD_t* file) { return *reinterpret_cast<SparseDriver*>(file); }
  static const SparseDriver& of(const H5FD_t* file) {
    return *reinterpret_cast<const SparseDriver*>(file);
  }

  static H5FD_t* open(const char*, unsigned, hid_t, haddr_t) {
    auto* driver = new (std::nothrow) SparseDriver;
    return driver ? &driver->base : nullptr;
  }
  static herr_t close(H5FD_t* file) { return delete &of(file), 0; }
  static int compare(const H5FD_t* a, const H5FD_t* b) { return a < b ? -1 : a > b; }
  static herr_t query(const H5FD_t*, unsigned long* flags) {
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA |
             H5FD_FEAT_AGGREGATE_SMALLDATA;
    return 0;
  }
  static haddr_t get_end(const H5FD_t* file, H5FD_mem_t) { return of(file).file.end_; }
  static herr_t set_end(H5FD_t* file, H5FD_mem_t, haddr_t end) {
    return of(file).file.end_ = end, 0;
  }
  static haddr_t get_written(const H5FD_t* file, H5FD_mem_t) { return of(file).file.written_end_; }
  static herr_t get_handle(H5FD_t* file, hid_t, void** handle) {
    return *handle = &of(file).file, 0;
  }
  static herr_t read(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t offset, size_t size, void* target) {
    of(file).file.read(offset, {static_cast<std::byte*>(target), size});
    return 0;
  }
  static herr_t write(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t offset, size_t size,
                      const void* bytes) try {
    of(file).file.write(offset, {static_cast<const std::byte*>(bytes), size});
    return 0;
  } catch (const std::bad_alloc&) {
    return -1;
  }
  static herr_t truncate(H5FD_t* file, hid_t, hbool_t) {
    SparseFile& sparse = of(file).file;
    return sparse.written_end_ = sparse.end_, 0;
  }
  static herr_t lock(H5FD_t*, hbool_t) { return 0; }
  static herr_t unlock(H5FD_t*) { return 0; }
};

namespace {

hid_t driver_id() {
  static const hid_t id = [] {
    H5FD_class_t calls{};
    calls.name = "sparse";
    calls.maxaddr = HADDR_MAX / 2;
    calls.fc_degree = H5F_CLOSE_WEAK;
    calls.open = SparseDriver::open;
    calls.close = SparseDriver::close;
    calls.cmp = SparseDriver::compare;
    calls.query = SparseDriver::query;
    calls.get_eoa = SparseDriver::get_end;
    calls.set_eoa = SparseDriver::set_end;
    calls.get_eof = SparseDriver::get_written;
    calls.get_handle = SparseDriver::get_handle;
    calls.read = SparseDriver::read;
    calls.write = SparseDriver::write;
    calls.truncate = SparseDriver::truncate;
    calls.lock = SparseDriver::lock;
    calls.unlock = SparseDriver::unlock;
    return H5FDregister(&calls);  // libhdf5 copies this struct, so it may be a local variable
  }();
  return id;
}

}  // namespace

Handle SparseFile::access_properties() {
  constexpr hsize_t kMinAlignedBytes = 64 << 10;
  Handle access_properties(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  if (!access_properties.valid() || H5Pset_driver(access_properties, driver_id(), nullptr) < 0 ||
      H5Pset_alignment(access_properties, kMinAlignedBytes, kPage) < 0)
    fail("hdf5: cannot make a file in memory");
  return access_properties;
}

const SparseFile& SparseFile::of(hid_t file) {
  void* sparse_file = nullptr;
  if (H5Fget_vfd_handle(file, H5P_DEFAULT, &sparse_file) < 0 || !sparse_file)
    fail("hdf5: cannot find a file in memory");
  return *static_cast<const SparseFile*>(sparse_file);
}

void SparseFile::read(size_t offset, std::span<std::byte> target) const {
  for (size_t copied_bytes = 0; copied_bytes < target.size();) {
    size_t page_offset = (offset + copied_bytes) % kPage,
           count = std::min(kPage - page_offset, target.size() - copied_bytes);
    auto page = pages_.find((offset + copied_bytes) / kPage);
    if (page == pages_.end())
      std::memset(target.data() + copied_bytes, 0, count);
    else
      std::memcpy(target.data() + copied_bytes, page->second->data() + page_offset, count);
    copied_bytes += count;
  }
}

void SparseFile::write(size_t offset, std::span<const std::byte> bytes) {
  for (size_t copied_bytes = 0; copied_bytes < bytes.size();) {
    size_t page_offset = (offset + copied_bytes) % kPage,
           count = std::min(kPage - page_offset, bytes.size() - copied_bytes);
    auto& page = pages_[(offset + copied_bytes) / kPage];
    if (!page) page = std::make_unique<Page>();
    std::memcpy(page->data() + page_offset, bytes.data() + copied_bytes, count);
    copied_bytes += count;
  }
  written_end_ = std::max(written_end_, offset + bytes.size());
}

}  // namespace crescent::hdf5
