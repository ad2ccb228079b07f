// Evaluates the entries of the prompt.
#pragma once
#include <lua.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "entry.h"
#include "program/lua/comparisons.h"
#include "program/lua/variables.h"

namespace crescent::program {

/// A session of the prompt. Its entries are numbered from 1; the chunk names of entries are [1],
/// [2], ...
class Session {
 public:
  /// Makes `print` show the contents of tables, and makes the results available by names such as
  /// _1.
  Session(lua_State* L, Variables& variables);

  void evaluate(const std::string& text);
  bool has_ended() const { return has_ended_; }
  /// The exit status given by a call such as `exit(3)`.
  int status() const { return status_; }
  int entry_number() const { return entry_number_; }
  Variables& variables() const { return variables_; }

 private:
  struct Command;
  static const Command kCommands[];

  bool is_exit(std::string_view trimmed_text) const;
  void exit_with(const std::string& arguments);
  bool is_defined(const std::string& name) const;
  bool answer(const std::string& text) const;
  void run_command(const std::string& text);
  void run(const std::string& text);
  bool load(const std::string& text, Entry& entry) const;
  void show(int first_index, const Entry& entry) const;
  void show_help(const std::string& question) const;
  void show_commands() const;
  void time(const std::string& text);
  void print_time(double seconds) const;
  void remember_functions(const std::string& text) const;
  bool have_functions_changed() const;
  void warn_of_list(const std::string& text) const;
  void push_watcher(const std::vector<WatchedCode::Operands>& comparisons) const;
  void push_prompt_function(const char* function) const;

  lua_State* L_;
  Variables& variables_;
  // the reference in the Lua registry of the prompt's functions that are written in Lua
  int functions_reference_;
  int entry_number_ = 1;
  bool has_ended_ = false;
  int status_ = 0;
};

}  // namespace crescent::program
