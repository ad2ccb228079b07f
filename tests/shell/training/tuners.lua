-- Searches over models: tuners of every class, continued trials, and studies without a tuner.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"

cr.random.seed(3)
local x = cr.random.normal { 48, 3 }
local y = x:sum({ 1 }, true)

local function build_model(hp)
  local model = cr.Sequential {
    cr.layers.Dense(hp:Int("units", 2, 8, { step = 2 }),
      { activation = "tanh", input_shape = { 3 } }),
    cr.layers.Dropout(0.1),
    cr.layers.Dense(1),
  }
  local rate = hp:Float("rate", 1e-3, 1e-1, { sampling = "log" })
  model:compile { optimizer = cr.optimizers.Adam(rate), loss = "mse", metrics = { "mae" } }
  return model
end
local options = { epochs = 3, batch_size = 8, verbose = 0, validation_data = { x, y } }

local folder = check.temporary ""
local function new_tuner(class, tuner_options)
  tuner_options = tuner_options or {}
  tuner_options[1], tuner_options.directory, tuner_options.seed = tuner_options[1] or build_model,
    folder, tuner_options.seed or 5
  tuner_options.overwrite = tuner_options.overwrite ~= false
  return cr.tuners[class](tuner_options)
end

--- The values, score, state and reports of the trials of a search, in the order of their numbers.
local function trial_rows(tuner)
  local rows = {}
  tuner.study:update()
  for i, trial in ipairs(tuner.study.trials) do
    rows[i] = { values = trial.values, score = trial.score, state = trial.state,
      reports = trial.reports }
  end
  return rows
end

-- A random search: its trials, the best of them, and its table.
local tuner = new_tuner("RandomSearch", { max_trials = 5, project_name = "random" })
assert(tostring(tuner):find "^RandomSearch of val_loss <study: 0 trials>", tostring(tuner))
tuner:search(x, y, options)
local trials = tuner.study.trials
assert(#trials == 5 and #trials[1].reports == 3)
for _, trial in ipairs(trials) do
  assert(trial.state == "complete" and trial.values.units % 2 == 0 and trial.values.rate >= 1e-3)
  local least_loss = math.huge
  for _, report in ipairs(trial.reports) do least_loss = math.min(least_loss, report.value) end
  assert(trial.score == least_loss)
end
local best_hyperparameters = tuner:get_best_hyperparameters(2)
assert(#best_hyperparameters == 2 and best_hyperparameters[1]:get "units"
  == tuner.study.best_params.units)
assert(tostring(tuner):find("5 trials, 5 complete", 1, true))

-- The model of the best trial has the weights of its best epoch.
local model = tuner:get_best_models()[1]
check.near(model:evaluate(x, y, { verbose = 0 })[1], tuner.study.best_value, 1e-6)

-- Repeating a search runs no trial again; the same seed in another project gives the same trials,
-- and another seed gives others.
local reopened_tuner = new_tuner("RandomSearch",
  { max_trials = 5, project_name = "random", overwrite = false })
reopened_tuner:search(x, y, options)
check.same(trial_rows(reopened_tuner), trial_rows(tuner))
local other_project = new_tuner("RandomSearch", { max_trials = 5, project_name = "elsewhere" })
other_project:search(x, y, options)
check.same(trial_rows(other_project), trial_rows(tuner))
local other_tuner = new_tuner("RandomSearch", { max_trials = 5, project_name = "other", seed = 6 })
other_tuner:search(x, y, options)
assert(other_tuner.study.trials[1].score ~= trials[1].score)

-- As in Keras Tuner's first guide: a model that is built by its first batch, and arguments by name.
local function build_unbuilt(hp)
  local model = cr.Sequential { cr.layers.Flatten(), cr.layers.Dense(hp:Int("units", 2, 4)),
    cr.layers.Dense(2, { activation = "softmax" }) }
  model:compile { loss = "sparse_categorical_crossentropy",
    metrics = { "accuracy", cr.metrics.SparseTopKCategoricalAccuracy { k = 1, name = "top" } } }
  return model
end
tuner = new_tuner("RandomSearch", { build_unbuilt, objective = "val_accuracy", max_trials = 3,
  project_name = "unbuilt" })
check.same(tuner.study.direction, "maximize")
check.same(new_tuner("RandomSearch", { build_unbuilt, objective = "top", project_name = "top" })
  .study.direction, "maximize")
tuner:search(x, cr.random.randint({ x.shape[1] }, 0, 2), { validation_split = 0.2, verbose = 0 })
check.same(#tuner:get_best_models { num_models = 2 }, 2)
check.same(#tuner:get_best_hyperparameters { num_trials = 3 }, 3)
check.fails(function() tuner:get_best_models { num_model = 2 } end,
  "get_best_models: no option 'num_model'; it takes num_models")
check.fails(function() new_tuner("RandomSearch", { build_unbuilt, objective = "val_acuracy" }) end,
  "direction = \"max\"")

-- A grid search in which one choice has additional hyperparameters.
local function build_branching(hp)
  local kind = hp:Choice("kind", { "flat", "deep" })
  local hidden = hp:conditional_scope("kind", { "deep" }, function()
    return hp:Int("hidden", 1, 3)
  end)
  assert((hidden == nil) == (kind == "flat"))
  local model = cr.Sequential {
    cr.layers.Dense(hidden or 1, { input_shape = { 3 } }), cr.layers.Dense(1) }
  model:compile { loss = "mse" }
  return model
end
tuner = new_tuner("GridSearch", { build_branching, objective = "loss", project_name = "grid" })
tuner:search(x, y, { epochs = 1, verbose = 0 })
local seen_values = {}
for i, trial in ipairs(tuner.study.trials) do
  seen_values[i] = trial.values.kind .. (trial.values.hidden or "")
end
check.same(seen_values, { "flat", "deep1", "deep2", "deep3" })
assert(tuner.study.space[2].conditions[1][1] == "kind")

-- Hyperband: later rounds continue with the weights of earlier ones, for the remaining epochs.
tuner = new_tuner("Hyperband", { max_epochs = 4, factor = 2, project_name = "hyperband" })
tuner:search(x, y, options)
local has_continued
for _, trial in ipairs(tuner.study.trials) do
  local first_step, last_step = trial.reports[1].step, trial.reports[#trial.reports].step
  local hp = tuner.study:hyperparameters(trial.number)
  assert(first_step == hp:get "tuner/initial_epoch" + 1 and last_step == hp:get "tuner/epochs")
  if first_step > 1 then
    has_continued = true
    local earlier_trial = tuner.study.trials[hp:get "tuner/trial_id"]
    check.same(earlier_trial.values, trial.values)
    assert(trial.reports[1].value < 2 * earlier_trial.score)
  end
end
assert(has_continued)

-- Bayesian optimization with several executions per trial, a pruner and a declared direction.
tuner = new_tuner("BayesianOptimization", { max_trials = 8, num_initial_points = 3, lag = 1,
  objective = { name = "val_mae", direction = "min" }, executions_per_trial = 2,
  pruner = { n_startup_trials = 2, n_warmup_steps = 1 }, project_name = "bayesian" })
tuner:search(x, y, options)
local state_counts = {}
for _, trial in ipairs(tuner.study.trials) do
  state_counts[trial.state] = (state_counts[trial.state] or 0) + 1
  if trial.state == "complete" then assert(#trial.reports == 6) end
end
assert(state_counts.complete >= 3 and state_counts.pruned
  and state_counts.complete + state_counts.pruned == 8)

-- If a process is killed in the middle of an epoch, another one continues its trial there, and the
-- search has the same bits as without interruption.
local script = [[
  cr.random.seed(3)
  local x = cr.random.normal { 48, 3 }
  local y = x:sum({ 1 }, true)
  local batches = 0
  local function build(hp)
    local model = cr.Sequential {
      cr.layers.Dense(hp:Int("units", 2, 8), { activation = "tanh", input_shape = { 3 } }),
      cr.layers.Dropout(0.2), cr.layers.Dense(1) }
    model:compile { optimizer = "adam", loss = "mse" }
    return model
  end
  local tuner = cr.tuners.RandomSearch { build, max_trials = 3, seed = 9, save_freq = 2,
    directory = DIRECTORY }
  tuner:search(x, y, { epochs = 3, batch_size = 8, verbose = 0, validation_data = { x, y },
    callbacks = { cr.callbacks.LambdaCallback { on_train_batch_end = function()
      batches = batches + 1
      if batches == KILL then os.execute "kill -9 $PPID" end
    end } } })
  print(batches)
  for _, trial in ipairs(tuner.study.trials) do print(cr.show(trial.reports)) end
  for _, model in ipairs(tuner:get_best_models(3)) do
    for _, weight in ipairs(model:get_weights()) do print(cr.show(weight:totable())) end
  end
]]
local function run_script(directory, kill_after)
  local ok, text = check.run((script:gsub("DIRECTORY", "'" .. directory .. "'")
    :gsub("KILL", tostring(kill_after))))
  return ok, text
end
local ok, output = run_script(folder .. "/whole", -1)
assert(ok, output)
assert(output:match "^%d+" == tostring(3 * 3 * 6), output)
local batches, kill_count = 0, 0
for _, kill_after in ipairs { 3, 10, 13, 1 } do
  local ok = run_script(folder .. "/cut", kill_after)
  assert(not ok, "the process was not killed")
  kill_count = kill_count + 1
end
local resumed_outcome
ok, resumed_outcome = run_script(folder .. "/cut", -1)
assert(ok, resumed_outcome)
assert(resumed_outcome:gsub("^%d+", "") == output:gsub("^%d+", ""),
  "the search went on with other numbers")
-- For each kill, at most two batches are run again.
local batch_count = tonumber(resumed_outcome:match "^%d+")
assert(batch_count <= 3 * 3 * 6 - (3 + 10 + 13 + 1) + 2 * kill_count, batch_count)
assert(batch_count > 0)

-- Two processes that share a search find the trials of a single one.
local shared_search_code = [[
  local function build(hp)
    local model = cr.Sequential {
      cr.layers.Dense(hp:Int("units", 1, 50), { input_shape = { 3 } }), cr.layers.Dense(1) }
    model:compile { loss = "mse" }
    return model
  end
  local tuner = cr.tuners.BayesianOptimization { build, objective = "loss", max_trials = 14,
    seed = 4, lag = 4, directory = DIRECTORY }
  tuner:search(cr.ones { 8, 3 }, cr.ones { 8, 1 }, { epochs = 2, verbose = 0 })
  for _, trial in ipairs(tuner.study.trials) do print(cr.show(trial.values), trial.score) end
]]
local function code_for(directory) return (shared_search_code:gsub("DIRECTORY", "'" .. directory
  .. "'")) end
local _, output_alone = check.run(code_for(folder .. "/alone"))
assert(output_alone:find "units", output_alone)
local _, output_together = check.run([[
  if not os.getenv "SECOND" then
    os.execute(("SECOND=1 %s %s > /dev/null 2>&1 &"):format(arg[-1], arg[0]))
  end
]] .. code_for(folder .. "/together"))
assert(output_together == output_alone, output_together .. "\nis not\n" .. output_alone)

-- A study without a tuner, used as in Optuna.
local study = cr.tuners.Study {
  direction = "maximize", seed = 1, max_trials = 30, pruner = "median" }
study:optimize(function(trial)
  local a = trial:suggest_float("a", -1, 1)
  local b = trial:suggest_int("b", 1, 100, { log = true })
  local c = trial:suggest_categorical("c", { "x", "y" })
  for step = 1, 4 do
    trial:report(-a * a + (c == "x" and 1 or 0), step)
    if trial:should_prune() then return end
  end
  return -a * a + (c == "x" and 1 or 0) + b * 0
end)
state_counts = {}
for _, trial in ipairs(study.trials) do
  state_counts[trial.state] = (state_counts[trial.state] or 0) + 1
end
assert(state_counts.pruned > 0 and state_counts.complete > 0
  and state_counts.pruned + state_counts.complete == 30)
assert(study.best_params.c == "x" and study.best_value <= 1
  and study.best_trial.state == "complete")
local shares = study:importances()
assert(shares.c > shares.b, cr.show(shares))
for _, plot_kind in ipairs { "history", "importance", "parallel" } do
  local path = check.temporary ".txt"
  assert(study:plot(plot_kind, { file = path }) == path)
  assert(#io.open(path):read "a" > 40)
  os.remove(path)
end

-- Names of hyperparameters within scopes, and hyperparameters outside of a search.
local hp = cr.tuners.HyperParameters()
hp:name_scope("head", function() hp:Int("units", 4, 8) end)
assert(hp:get "head/units" == 4 and hp:Boolean "flag" == false and hp:Fixed("same", "s") == "s")
assert(hp:Choice("late", { 1, 2 }, { parent_name = "flag", parent_values = { true } }) == nil)
check.fails(function() hp:get "head/unit" end, "did you mean 'head/units'")
check.fails(function() hp:Int("bad", 3, 1) end, "bad: expected min_value <= max_value")
check.fails(function() hp:Float("bad", 0, 1, { sampling = "log" }) end, "needs min_value > 0")

-- Hyperparameters that are defined before the search.
local given_hp = cr.tuners.HyperParameters()
given_hp:Fixed("units", 4)
tuner = new_tuner("RandomSearch", {
  max_trials = 2, hyperparameters = given_hp, tune_new_entries = false,
  project_name = "given" })
tuner:search(x, y, options)
check.same(tuner.study.trials[1].values, { units = 4, rate = 1e-3 })
check.same(tuner.study.trials[2].values, { units = 4, rate = 1e-3 })

-- Error messages for mistakes, and trials whose build fails.
check.fails(function() new_tuner("RandomSearch", { function() return 3 end }) end,
  "a compiled model, got 3")
check.fails(function() new_tuner("RandomSearch", { objective = "val_mea" }) end,
  "direction = \"max\"")
check.fails(function() cr.tuners.RandomSearch { build_model, max_trial = 3 } end,
  "did you mean 'max_trials'")
check.fails(function() return cr.tuners.RandomSerch end, "did you mean 'RandomSearch'")
check.fails(function() return tuner.serch end, "did you mean 'search'")
tuner = new_tuner("RandomSearch", { max_trials = 2, project_name = "wrong" })
check.fails(function() tuner:search(x, y, { epochs = 1, verbose = 0 }) end,
  "the logs have no 'val_loss'", "pass validation_data")
local function failing_build(bad_trials) return function(hp)
  if bad_trials[tonumber(tostring(hp):match "^<trial (%d+)") or 0] then error("no such model",
    0) end
  return build_model(hp)
end end
tuner = new_tuner("RandomSearch",
  { failing_build { [1] = true, [3] = true }, max_trials = 5, project_name = "some" })
tuner:search(x, y, options)
assert(tuner.study.trials[1].state == "failed" and tuner.study.trials[1].message == "no such model")
assert(tuner.study.trials[5].state == "complete")
tuner = new_tuner("RandomSearch", { failing_build { true, true, true }, project_name = "all" })
check.fails(function() tuner:search(x, y, options) end, "3 trials failed one after another",
  "no such model")
os.execute("rm -r '" .. folder .. "'")
print "ok"
