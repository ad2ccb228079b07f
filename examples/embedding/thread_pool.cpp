// How a server may use a model: worker threads take requests from a queue and all predict with the
// same model. Usage: thread_pool MODEL
#include <condition_variable>
#include <cstdio>
#include <functional>
#include <future>
#include <mutex>
#include <queue>
#include <thread>

#include "crescent/crescent.h"

class ThreadPool {
 public:
  explicit ThreadPool(int thread_count) {
    for (int i = 0; i < thread_count; ++i) threads_.emplace_back([this] { run_tasks(); });
  }
  ~ThreadPool() {
    {
      const std::lock_guard lock(mutex_);
      is_closed_ = true;
    }
    changed_condition_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  std::future<crescent::Tensors> submit(std::function<crescent::Tensors()> task) {
    std::packaged_task<crescent::Tensors()> packaged_task(std::move(task));
    std::future<crescent::Tensors> result = packaged_task.get_future();
    {
      const std::lock_guard lock(mutex_);
      tasks_.push(std::move(packaged_task));
    }
    changed_condition_.notify_one();
    return result;
  }

 private:
  void run_tasks() {
    for (;;) {
      std::unique_lock lock(mutex_);
      changed_condition_.wait(lock, [this] { return is_closed_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      std::packaged_task<crescent::Tensors()> task = std::move(tasks_.front());
      tasks_.pop();
      lock.unlock();
      task();  // get() of the task's future rethrows an exception of the task
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_condition_;
  std::queue<std::packaged_task<crescent::Tensors()>> tasks_;
  bool is_closed_ = false;
  std::vector<std::thread> threads_;
};

int main(int argc, char** argv) try {
  if (argc != 2) crescent::fail("expected the path of a model");
  const crescent::ModelPtr model = crescent::load_model(argv[1]);  // all threads use this one model
  const crescent::Tensor x = crescent::global_random().normal({64, 3});
  const crescent::Tensor expected_outputs = model->predict({x}).front();

  ThreadPool pool(4);
  std::vector<std::future<crescent::Tensors>> answers;
  for (int64_t row = 0; row < x.dim(0); ++row)
    answers.push_back(pool.submit([&, row] { return model->predict({x.view_rows(row, 1)}); }));

  double largest_error = 0;
  for (int64_t row = 0; row < x.dim(0); ++row) {
    const double answer = answers[static_cast<size_t>(row)].get().front().item();
    largest_error =
        std::max(largest_error, std::abs(answer - expected_outputs.view_rows(row, 1).item()));
  }
  std::printf("64 answers, at most %.1e from those of one batch\n", largest_error);
  return largest_error < 1e-5 ? 0 : 1;
} catch (const crescent::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
