-- Runs one trial of a tuner: builds, trains and scores its model. If the process was killed during
-- a trial, the trial continues in the middle of its epoch with the same bits as without the
-- interruption: initial weights and the order of data follow from the trial's seed, and
-- BackupAndRestore saves the state of the run.
local cr, shell = ...

local function path_of_weights(tuner, number)
  return tuner:get_trial_dir(number) .. "/best.weights.h5"
end

--- Loads the best weights of a trial of the study into a model built for its hyperparameters.
local function load_weights(tuner, model, trial)
  local shape = trial.attributes.input_shape
  if not model.built and shape then model:build(shape) end
  model:load_weights(path_of_weights(tuner, trial.number))
end

--- Whether the error message is that of Ctrl-C or a signal, which ends the whole search.
local function is_stop(message)
  return message:find "interrupted" ~= nil or message:find "stopped by SIG" ~= nil
end

local function is_better(study, a, b)
  if a ~= a then return false end
  return b == nil or (study.direction == "minimize" and a < b
    or study.direction == "maximize" and a > b)
end

--- The best score that the trial reported in the steps after `first` up to `last`; nil if there is
--- none.
local function best_report(study, trial, first, last)
  local best
  for _, report in ipairs(trial.reports) do
    if report.step > first and report.step <= last and is_better(study, report.value, best) then
      best = report.value
    end
  end
  return best
end

--- An object that keeps the best weights of a trial and the state of the optimizer. If the tuner
--- has a save_freq, keep() writes them to the trial's file at once; otherwise it holds them in
--- memory and they are written when the object is closed.
local function new_keeper(tuner, trial, model)
  local keeper, best = {}, nil
  local path = path_of_weights(tuner, trial.number)
  local function save()
    shell.create_folder(tuner:get_trial_dir(trial.number))
    model:save_weights(path)
  end
  function keeper.keep()
    if tuner.save_freq then return save() end
    best = { weights = model:get_weights(), state = {} }
    for i, variable in ipairs(model.optimizer.variables) do best.state[i] = variable.value end
  end
  local function close()
    if not best then return end
    model:set_weights(best.weights)
    model.optimizer:set_weights(best.state)
    save()
  end
  return setmetatable(keeper, { __close = close })
end

--- The shape of the model's input, for building the model before weights are loaded; nil for a
--- model with several inputs.
local function input_shape(model)
  local ok, shape = pcall(function() return model.input_shape end)
  if not ok or type(shape) ~= "table" then return nil end
  for i = 1, #shape do if type(shape[i]) == "table" then return nil end end
  return shape
end

--- The options of fit for a trial: those given to search(), the epochs if the oracle sets them, and
--- the callbacks of the tuner.
local function options_of(tuner, trial, fit, watcher)
  local options, values = {}, trial.values
  for name, value in pairs(fit.options) do options[name] = value end
  options.verbose = fit.options.verbose == 2 and 2 or 0
  if values["tuner/epochs"] then
    options.epochs, options.initial_epoch = values["tuner/epochs"], values["tuner/initial_epoch"]
  end
  local given = options.callbacks
  options.callbacks = { watcher }
  for _, callback in ipairs(type(given) == "table" and given or { given }) do
    table.insert(options.callbacks, callback)
  end
  table.insert(options.callbacks, cr.callbacks.BackupAndRestore {
    tuner:get_trial_dir(trial.number), save_freq = tuner.save_freq })
  return options
end

--- The error message that says that the logs, whose names are the keys of `seen`, do not include
--- the objective.
local function missing_objective(objective, seen)
  local names = {}
  for name in pairs(seen) do names[#names + 1] = name end
  table.sort(names)
  return string.format("the logs have no '%s', but %s%s", objective, table.concat(names, ", "),
    objective:find "^val_" and "; pass validation_data or validation_split" or "")
end

--- Trains the model of a trial once; `before` is the number of epochs of earlier executions.
--- Returns the score, the number of epochs so far, whether the trial was pruned, and, if the logs
--- lack the objective, an error message that ends the search.
local function execute(tuner, trial, fit, number, before)
  cr.random.seed(trial.seed + number - 1)
  local study, model = tuner.study, tuner:build(trial)
  trial:save_values()
  local from = trial.values["tuner/trial_id"]
  if from then load_weights(tuner, model, study:trial(from)) end
  local keeper <close> = new_keeper(tuner, trial, model)
  local is_pruned, seen = false, {}
  local watcher = cr.callbacks.LambdaCallback { on_epoch_end = function(epoch, logs)
    for name in pairs(logs) do seen[name] = true end
    local value, step = logs[tuner.objective], before + epoch + 1
    if value == nil then return end
    trial:report(value, step)
    if is_better(study, value, best_report(study, trial, 0, step - 1)) then keeper.keep() end
    if number == 1 and trial:should_prune() then is_pruned, model.stop_training = true, true end
  end }
  local options = options_of(tuner, trial, fit, watcher)
  if type(tuner.hypermodel) ~= "function" and tuner.hypermodel.fit then
    tuner.hypermodel:fit(trial, model, fit.x, fit.y, options)
  else
    model:fit(fit.x, fit.y, options)
  end
  trial:set_user_attr("input_shape", input_shape(model))
  local reports = trial.reports
  local last = #reports > 0 and reports[#reports].step or before
  local mistake = last == before and next(seen) and missing_objective(tuner.objective, seen)
  return best_report(study, trial, before, last), last, is_pruned, mistake
end

--- Runs the executions of a trial, except those that ended before its process was killed. Returns
--- the score (nil if there is none), the state, and an error message if the search must end.
local function score_of(tuner, trial, fit)
  local done, sum = trial.user_attrs.executions or {}, 0
  for number = 1, tuner.executions_per_trial do
    if not done[number] then
      local before = done[number - 1] and done[number - 1].last or 0
      local score, last, is_pruned, mistake = execute(tuner, trial, fit, number, before)
      if mistake then return nil, "failed", mistake end
      if is_pruned then return score, "pruned" end
      done[number] = { score = score or 0 / 0, last = last }
      if tuner.executions_per_trial > 1 then trial:set_user_attr("executions", done) end
    end
    sum = sum + done[number].score
  end
  return sum / tuner.executions_per_trial, "complete"
end

local function print_line(tuner, number, record)
  local study = tuner.study
  local best = study:best(1)[1]
  local words = { string.format("trial %d: ", number) }
  words[2] = record.score and string.format("%s %.5g", tuner.objective, record.score)
    or record.message
  if record.state ~= "complete" then words[2] = record.state .. ", " .. words[2] end
  if best then words[3] = string.format(" (best %.5g, trial %d)", best.score, best.number) end
  print(table.concat(words))
end

--- Runs the trial and reports the result to the study. Returns a table with its state, score and
--- message, or with the error message `mistake`, which ends the search. After Ctrl-C or a signal
--- the trial is released, so that the next search continues it, and the error is raised again.
local function run_trial(tuner, trial, fit)
  local ok, score, state, mistake = pcall(score_of, tuner, trial, fit)
  if mistake or not ok and is_stop(tostring(score)) then trial:release() end
  if mistake then return { mistake = mistake } end
  if not ok and is_stop(tostring(score)) then error(score, 0) end
  local record = { state = ok and state or "failed" }
  if ok then record.score = score else record.message = tostring(score) end
  tuner.study:tell(trial, record.score, record.state, record.message or "")
  os.remove(tuner:get_trial_dir(trial.number) .. "/run.h5")
  if fit.options.verbose ~= 0 then print_line(tuner, trial.number, record) end
  return record
end

return setmetatable({ load_weights = load_weights, is_stop = is_stop }, {
  __call = function(_, ...) return run_trial(...) end,
})
