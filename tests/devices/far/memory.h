// Memory that the host cannot read: pages without access rights. They become readable and writable
// only while the device's thread works on them.
#pragma once
#include <atomic>
#include <memory>

#include "crescent/tensor/tensor.h"
#include "worker.h"

namespace crescent::far {

/// Pages that are freed when no tensor and no task refers to them.
class Pages {
 public:
  explicit Pages(size_t bytes);
  ~Pages();
  Pages(const Pages&) = delete;

  /// While an object of this class exists, the pages are accessible. Only the device's thread may
  /// make one.
  class Access {
   public:
    explicit Access(std::shared_ptr<Pages> pages);
    ~Access();
    Access(Access&& other) noexcept = default;
    std::byte* bytes() const { return pages_->start_; }

   private:
    std::shared_ptr<Pages> pages_;
  };

 private:
  std::byte* start_;
  size_t bytes_;
  int access_count_ = 0;  ///< the number of Access objects that exist
};

/// Counters of the transfers between host and device.
struct Traffic {
  std::atomic<int64_t> uploads{0}, uploaded_bytes{0}, downloads{0}, downloaded_bytes{0};
  void count_upload(size_t bytes) { ++uploads, uploaded_bytes += static_cast<int64_t>(bytes); }
  void count_download(size_t bytes) {
    ++downloads, downloaded_bytes += static_cast<int64_t>(bytes);
  }
};

class FarMemory final : public Memory {
 public:
  explicit FarMemory(Worker& worker) : worker(worker) {}
  std::shared_ptr<Storage> allocate(size_t bytes, bool zeroed) override;

  Worker& worker;
  Traffic traffic;
};

class FarStorage final : public DeviceStorage {
 public:
  FarStorage(FarMemory& memory, size_t bytes);
  const std::shared_ptr<Pages>& pages() const { return pages_; }

 protected:
  void fetch(size_t offset, size_t count, void* target) const override;
  void store(size_t offset, size_t count, const void* source) override;
  bool copy_within(size_t offset, const Storage& from, size_t from_offset, size_t count) override;

 private:
  FarMemory& memory_of_device_;
  std::shared_ptr<Pages> pages_;
};

/// The location of a tensor's bytes in this memory.
struct MemoryLocation {
  explicit MemoryLocation(const Tensor& tensor)
      : pages(static_cast<const FarStorage&>(*tensor.storage()).pages()), offset(tensor.offset()) {}
  std::shared_ptr<Pages> pages;
  size_t offset;
};

}  // namespace crescent::far
