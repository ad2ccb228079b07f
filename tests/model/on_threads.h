// Runs work on several threads at once.
#pragma once
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace crescent::small {

/// Calls work(number) on `count` threads at once; returns the message of each thread's exception,
/// "" if it threw none.
inline std::vector<std::string> on_threads(int count, const std::function<void(int)>& work) {
  std::vector<std::string> errors(static_cast<size_t>(count));
  std::vector<std::thread> threads;
  for (int number = 0; number < count; ++number)
    threads.emplace_back([&, number] {
      try {
        work(number);
      } catch (const std::exception& error) {
        errors[static_cast<size_t>(number)] = error.what();
      }
    });
  for (std::thread& thread : threads) thread.join();
  return errors;
}

}  // namespace crescent::small
