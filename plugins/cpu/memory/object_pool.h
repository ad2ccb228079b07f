// ObjectPool: objects that are lent to one user at a time, such as the frames of a plan. The pool
// makes a new object only if all existing ones are in use.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace crescent::cpu {

template <class T>
class ObjectPool {
 public:
  ObjectPool() = default;
  ~ObjectPool() { delete latest_.load(); }
  ObjectPool(const ObjectPool&) = delete;
  ObjectPool& operator=(const ObjectPool&) = delete;

  /// Lends an object during the lifetime of this lease. If all objects are in use, the object is
  /// made by make(), which returns a std::unique_ptr.
  class Lease {
   public:
    template <class Make>
    Lease(ObjectPool& pool, Make&& make) : pool_(pool), object_(pool.take_latest_or_free()) {
      if (!object_) object_ = pool.registered(make());
    }
    ~Lease() { pool_.give_back(object_); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    T& operator*() const { return *object_; }
    T* operator->() const { return object_; }

   private:
    ObjectPool& pool_;
    T* object_;
  };

  /// Calls f for every object that is not lent at present.
  template <class F>
  void each_idle(F&& f) {
    const std::lock_guard lock(mutex_);
    if (T* object = latest_.load(std::memory_order_acquire)) f(*object);
    for (const auto& object : free_objects_) f(*object);
  }
  /// Frees the objects that are not lent at present.
  void clear() {
    const std::lock_guard lock(mutex_);
    delete latest_.exchange(nullptr, std::memory_order_acquire);
    free_objects_.clear();
  }

 private:
  T* take_latest_or_free() {
    if (T* object = latest_.exchange(nullptr, std::memory_order_acquire)) return object;
    const std::lock_guard lock(mutex_);
    if (free_objects_.empty()) return nullptr;
    T* object = free_objects_.back().release();
    free_objects_.pop_back();
    return object;
  }
  /// Registers a new object, and reserves room in free_objects_ for all objects, so that returning
  /// an object allocates nothing.
  T* registered(std::unique_ptr<T> object) {
    const std::lock_guard lock(mutex_);
    free_objects_.reserve(++object_count_);
    return object.release();
  }
  void give_back(T* object) {
    T* previous = latest_.exchange(object, std::memory_order_acq_rel);
    if (!previous) return;
    const std::lock_guard lock(mutex_);
    free_objects_.emplace_back(previous);
  }

  std::atomic<T*> latest_{nullptr};  ///< the object returned last, usually the only one
  std::mutex mutex_;
  std::vector<std::unique_ptr<T>> free_objects_;  ///< the other objects that are not lent
  size_t object_count_ = 0;
};

}  // namespace crescent::cpu
