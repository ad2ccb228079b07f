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
  local best_value
  for _, report in ipairs(trial.reports) do
    if report.step > first and report.step <= last
      and is_better(study, report.value, best_value) then
      best_value = report.value
    end
  end
  return best_value
end

--- An object that keeps the best weights of a trial and the state of the optimizer. If the tuner
--- has a save_freq, keep() writes them to the trial's file at once; otherwise it holds them in
--- memory and they are written when the object is closed.
local function new_weights_holder(tuner, trial, model)
  local weights_holder, best_state = {}, nil
  local path = path_of_weights(tuner, trial.number)
  local function save()
    shell.create_folder(tuner:get_trial_dir(trial.number))
    model:save_weights(path)
  end
  function weights_holder.keep()
    if tuner.save_freq then return save() end
    best_state = { weights = model:get_weights(), state = {} }
    for i, variable in ipairs(model.optimizer.variables) do best_state.state[i] = variable.value end
  end
  local function close()
    if not best_state then return end
    model:set_weights(best_state.weights)
    model.optimizer:set_weights(best_state.state)
    save()
  end
  return setmetatable(weights_holder, { __close = close })
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
local function options_of(tuner, trial, fit_arguments, report_callback)
  local options, values = {}, trial.values
  for name, value in pairs(fit_arguments.options) do options[name] = value end
  options.verbose = fit_arguments.options.verbose == 2 and 2 or 0
  if values["tuner/epochs"] then
    options.epochs, options.initial_epoch = values["tuner/epochs"], values["tuner/initial_epoch"]
  end
  local user_callbacks = options.callbacks
  options.callbacks = { report_callback }
  for _, callback in ipairs(type(user_callbacks) == "table" and user_callbacks
    or { user_callbacks }) do
    table.insert(options.callbacks, callback)
  end
  table.insert(options.callbacks, cr.callbacks.BackupAndRestore {
    tuner:get_trial_dir(trial.number), save_freq = tuner.save_freq })
  return options
end

--- The error message that says that the logs, whose names are the keys of `log_names`, do not
--- include the objective.
local function missing_objective(objective, log_names)
  local names = {}
  for name in pairs(log_names) do names[#names + 1] = name end
  table.sort(names)
  return string.format("the logs have no '%s', but %s%s", objective, table.concat(names, ", "),
    objective:find "^val_" and "; pass validation_data or validation_split" or "")
end

--- Trains the model of a trial for the execution with this number; `previous_epochs` is the number
--- of epochs of earlier executions. Returns the score, the number of epochs so far, whether the
--- trial was pruned, and, if the logs lack the objective, an error message that ends the search.
local function execute(tuner, trial, fit_arguments, execution, previous_epochs)
  cr.random.seed(trial.seed + execution - 1)
  local study, model = tuner.study, tuner:build(trial)
  trial:save_values()
  local source_trial = trial.values["tuner/trial_id"]
  if source_trial then load_weights(tuner, model, study:trial(source_trial)) end
  local weights_holder <close> = new_weights_holder(tuner, trial, model)
  local is_pruned, log_names = false, {}
  local report_callback = cr.callbacks.LambdaCallback { on_epoch_end = function(epoch, logs)
    for name in pairs(logs) do log_names[name] = true end
    local value, step = logs[tuner.objective], previous_epochs + epoch + 1
    if value == nil then return end
    trial:report(value, step)
    if is_better(study, value, best_report(study, trial, 0, step - 1)) then
      weights_holder.keep()
    end
    if execution == 1 and trial:should_prune() then is_pruned, model.stop_training = true, true end
  end }
  local options = options_of(tuner, trial, fit_arguments, report_callback)
  if type(tuner.hypermodel) ~= "function" and tuner.hypermodel.fit then
    tuner.hypermodel:fit(trial, model, fit_arguments.x, fit_arguments.y, options)
  else
    model:fit(fit_arguments.x, fit_arguments.y, options)
  end
  trial:set_user_attr("input_shape", input_shape(model))
  local reports = trial.reports
  local last_epoch = #reports > 0 and reports[#reports].step or previous_epochs
  local fatal_error = last_epoch == previous_epochs and next(log_names)
    and missing_objective(tuner.objective, log_names)
  return best_report(study, trial, previous_epochs, last_epoch), last_epoch, is_pruned, fatal_error
end

--- Runs the executions of a trial, except those that ended before its process was killed. Returns
--- the score (nil if there is none), the state, and an error message if the search must end.
local function score_of(tuner, trial, fit_arguments)
  local executions, sum = trial.user_attrs.executions or {}, 0
  for execution = 1, tuner.executions_per_trial do
    if not executions[execution] then
      local previous_epochs = executions[execution - 1] and executions[execution - 1].last or 0
      local score, last_epoch, is_pruned, fatal_error
        = execute(tuner, trial, fit_arguments, execution, previous_epochs)
      if fatal_error then return nil, "failed", fatal_error end
      if is_pruned then return score, "pruned" end
      executions[execution] = { score = score or 0 / 0, last = last_epoch }
      if tuner.executions_per_trial > 1 then trial:set_user_attr("executions", executions) end
    end
    sum = sum + executions[execution].score
  end
  return sum / tuner.executions_per_trial, "complete"
end

local function print_line(tuner, number, record)
  local study = tuner.study
  local best_trial = study:best(1)[1]
  local texts = { string.format("trial %d: ", number) }
  texts[2] = record.score and string.format("%s %.5g", tuner.objective, record.score)
    or record.message
  if record.state ~= "complete" then texts[2] = record.state .. ", " .. texts[2] end
  if best_trial then
    texts[3] = string.format(" (best %.5g, trial %d)", best_trial.score, best_trial.number)
  end
  print(table.concat(texts))
end

--- Runs the trial and reports the result to the study. Returns a table with its state, score and
--- message, or with the error message `fatal_error`, which ends the search. After Ctrl-C or a
--- signal the trial is released, so that the next search continues it, and the error is raised
--- again.
local function run_trial(tuner, trial, fit_arguments)
  local ok, score, state, fatal_error = pcall(score_of, tuner, trial, fit_arguments)
  if fatal_error or not ok and is_stop(tostring(score)) then trial:release() end
  if fatal_error then return { fatal_error = fatal_error } end
  if not ok and is_stop(tostring(score)) then error(score, 0) end
  local record = { state = ok and state or "failed" }
  if ok then record.score = score else record.message = tostring(score) end
  tuner.study:tell(trial, record.score, record.state, record.message or "")
  os.remove(tuner:get_trial_dir(trial.number) .. "/run.h5")
  if fit_arguments.options.verbose ~= 0 then print_line(tuner, trial.number, record) end
  return record
end

return setmetatable({ load_weights = load_weights, is_stop = is_stop }, {
  __call = function(_, ...) return run_trial(...) end,
})
