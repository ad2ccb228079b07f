#include "lockstep.h"

#include <algorithm>
#include <thread>

#include "relax.h"

namespace crescent::cpu {
namespace {

/// A number that one thread raises and others wait for.
struct alignas(64) Signal {
  std::atomic<int64_t> value{0};
  int64_t get() const { return value.load(std::memory_order_acquire); }
  void set(int64_t now) { value.store(now, std::memory_order_release); }
};

/// Spins until done(); gives the core away when that takes long, as another thread of ours may be waiting for it.
template <class F>
void wait(F&& done) {
  for (int i = 0; !done(); ++i) i < 4096 ? relax() : std::this_thread::yield();
}

/// One thread leads: it says how many do a step. Whoever has done one tells the others and waits for them. The leader
/// admits those who arrived after it has waited, so that a step is never begun before all of the step before is done.
class Lockstep {
 public:
  Lockstep(int64_t steps, int64_t count, int64_t most, StepBody body, void* context)
      : steps_(steps), count_(count), most_(most), body_(body), context_(context) { order(0, 1); }

  void lead() {
    int64_t crew = 1;
    for (int64_t step = 0; step < steps_;) {
      work(step++, 0, crew);
      const int64_t next = step < steps_ ? std::min(most_, 1 + arrived_.get()) : crew;
      if (next == crew) order(step, crew);
      wait_for_helpers(step, crew);
      if (next == crew) continue;
      first_ = step, crew = next;
      order(step, crew);
    }
  }

  void help() {
    const int64_t who = 1 + arrived_.value.fetch_add(1);
    wait([&] { return crew() > who || ordered() == steps_; });
    if (crew() <= who) return;
    int64_t here = crew();
    for (int64_t step = first_;;) {
      work(step++, who, here);
      done_[who].set(step);
      if (step == steps_) return;
      wait([&] { return ordered() >= step; });
      const int64_t next = crew();
      wait_for_helpers(step, here);
      here = next;
    }
  }

 private:
  static constexpr int64_t kCrews = Pool::kMaxThreads + 1;

  void order(int64_t step, int64_t crew) { order_.set(step * kCrews + crew); }
  int64_t ordered() const { return order_.get() / kCrews; }
  int64_t crew() const { return order_.get() % kCrews; }
  void wait_for_helpers(int64_t step, int64_t crew) const {
    for (int64_t who = 1; who < crew; ++who) wait([&] { return done_[who].get() >= step; });
  }
  void work(int64_t step, int64_t who, int64_t crew) const {
    body_(context_, step, count_ * who / crew, count_ * (who + 1) / crew);
  }

  const int64_t steps_, count_, most_;
  const StepBody body_;
  void* const context_;
  int64_t first_ = 0;                      ///< the step that those who were admitted last begin with
  Signal order_;                           ///< steps that the leader has done, and threads that do the next one
  Signal arrived_;                         ///< helpers so far
  Signal done_[Pool::kMaxThreads];         ///< steps done by each helper
};

}  // namespace

void run_lockstep(Pool& pool, int64_t steps, int64_t count, int64_t most, StepBody body, void* context) {
  most = std::clamp<int64_t>(std::min<int64_t>(most, pool.threads()), 1, std::max<int64_t>(1, count));
  Lockstep lockstep(steps, count, most, body, context);
  pool.parallel(most, [&](int64_t part, int) { part == 0 ? lockstep.lead() : lockstep.help(); });
}

}  // namespace crescent::cpu
