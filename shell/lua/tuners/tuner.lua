-- The methods of all classes of tuners: they ask a study for trials, and build and train the models
-- of the trials.
local cr, shell = ...
local run_trial = shell.library "tuners/trial"

local Tuner = { __name = "tuner" }
Tuner.__index = function(self, key)
  local value = rawget(Tuner, key)
  if value ~= nil or type(key) ~= "string" then return value end
  local names = {}
  for name in pairs(Tuner) do if not name:find "^__" then names[#names + 1] = name end end
  shell.fail("a tuner has no '", key, "'", shell.did_you_mean(key, names))
end

--- Builds the model for the hyperparameters `hp` by the user's hypermodel; fails unless it is a
--- compiled model.
local function build(self, hp)
  local hypermodel, model = self.hypermodel, nil
  if type(hypermodel) == "function" then
    model = hypermodel(hp)
  elseif type(hypermodel) == "table" and hypermodel.build then
    model = hypermodel:build(hp)
  else
    shell.fail(self.class, ": expected a function that builds a model, or an object with a method ",
      "build(hp), got ", shell.shown(hypermodel))
  end
  local is_model, is_compiled = pcall(function() return model.compiled end)
  if not is_model or not is_compiled then
    shell.fail(self.class, ": expected that the function returns a compiled model, got ",
      cr.show(model))
  end
  return model
end

--- Returns the name and the direction of an objective, which is the name of a log or { name =,
--- direction = }.
local function objective_of(self, objective)
  local is_name = type(objective) == "string"
  local name = is_name and objective or type(objective) == "table" and objective.name
  if type(name) ~= "string" then
    shell.fail("objective: expected the name of a log, or ",
      "{ name = \"val_loss\", direction = \"min\" }, got ",
      cr.show(objective))
  end
  local direction = not is_name and objective.direction
    or shell.direction_of(build(self, cr.tuners.HyperParameters()), name)
  if direction ~= "min" and direction ~= "max" then
    shell.fail("objective: whether '", name,
      "' is good when it is great or small is not known; pass ",
      "{ name = \"", name, "\", direction = \"max\" } or \"min\"")
  end
  return name, direction
end

local function new_tuner(class, o)
  local self = setmetatable({ class = class, hypermodel = o.hypermodel, save_freq = o.save_freq,
    executions_per_trial = o.executions_per_trial, build = build,
    max_consecutive_failed_trials = o.max_consecutive_failed_trials,
    project_dir = o.directory .. "/" .. o.project_name }, Tuner)
  local direction
  self.objective, direction = objective_of(self, o.objective)
  shell.in_first_process(function()
    if o.overwrite then shell.remove_search(self.project_dir) end
    shell.create_folder(self.project_dir)
  end)
  self.study = cr.tuners.Study { oracle = o.oracle, max_trials = o.max_trials, seed = o.seed,
    direction = direction .. "imize", lag = o.lag, pruner = o.pruner,
    hyperparameters = o.hyperparameters, tune_new_entries = o.tune_new_entries,
    allow_new_entries = o.allow_new_entries, journal = self.project_dir .. "/journal" }
  return self
end

--- The folder in which a trial keeps its weights.
function Tuner:get_trial_dir(number)
  return string.format("%s/trial_%05d", self.project_dir, number)
end

local option_names = { "epochs", "batch_size", "validation_data", "validation_split", "verbose",
  "callbacks", "steps_per_epoch", "validation_steps", "shuffle" }

--- Whether the value is a table of options of fit, rather than targets by name.
local function are_options(value)
  if not shell.is_structure(value) then return false end
  for _, name in ipairs(option_names) do if value[name] ~= nil then return true end end
  return false
end

--- Trains models until all trials have ended, also those of other processes that share the folder
--- of the search. Arguments are those of fit: search(x, y, { epochs = 3, validation_split = 0.2 }).
--- With verbose = 1 each trial is a line, with 2 its epochs are, too; 0 is quiet. Under mpirun each
--- process runs trials of its own.
function Tuner:search(x, y, options)
  if options == nil and are_options(y) then y, options = nil, y end
  local failure_count = 0
  local message = shell.alone(function()
    for trial in function() return self.study:ask() end do
      local record = run_trial(self, trial, { x = x, y = y, options = options or {} })
      if record.fatal_error then return record.fatal_error end
      failure_count = record.state == "failed" and failure_count + 1 or 0
      if failure_count >= self.max_consecutive_failed_trials then
        return failure_count .. " trials failed one after another, the last one with: "
          .. record.message
      end
    end
  end)
  if message then shell.fail("search: ", message) end
end

--- Prints the hyperparameters that trials had so far; before the first trial those of the defaults.
function Tuner:search_space_summary()
  local space = self.study.space
  if #space == 0 then
    local hp = cr.tuners.HyperParameters()
    build(self, hp)
    space = hp.space
  end
  print("Search space: " .. #space .. " hyperparameters")
  for _, p in ipairs(space) do
    local texts = { p.name .. ":", p.text }
    for _, condition in ipairs(p.conditions or {}) do
      texts[#texts + 1] = "where " .. condition[1] .. " is one of " .. cr.show(condition[2])
    end
    print("  " .. table.concat(texts, "  "))
  end
end

-- The argument of a method that takes a number, given as it is or by name:
-- get_best_models { num_models = 2 }.
local function count_of(method, name, value)
  if type(value) ~= "table" then return value end
  for key in pairs(value) do
    if key ~= name then
      shell.fail(method, ": no option '", tostring(key), "'; it takes ", name)
    end
  end
  return value[name]
end

--- Prints a table of the best trials.
function Tuner:results_summary(num_trials)
  self.study:update()
  print(self.study:table(count_of("results_summary", "num_trials", num_trials) or 10))
end

local function best_of(self, count)
  self.study:update()
  return self.study:best(count or 1)
end

--- The hyperparameters of the best trials, as a list, the best first.
function Tuner:get_best_hyperparameters(num_trials)
  local hyperparameter_sets = {}
  local count = count_of("get_best_hyperparameters", "num_trials", num_trials)
  for i, trial in ipairs(best_of(self, count)) do
    hyperparameter_sets[i] = self.study:hyperparameters(trial.number)
  end
  return hyperparameter_sets
end

--- The models of the best trials with the weights of their best epochs, as a list, the best first.
function Tuner:get_best_models(num_models)
  local models = {}
  local count = count_of("get_best_models", "num_models", num_models)
  for i, trial in ipairs(best_of(self, count)) do
    models[i] = build(self, self.study:hyperparameters(trial.number))
    run_trial.load_weights(self, models[i], trial)
  end
  return models
end

--- Draws how the search went: plot "history", plot "importance", plot "parallel". It takes the
--- options of study:plot.
function Tuner:plot(...)
  self.study:update()
  return self.study:plot(...)
end

function Tuner:__tostring()
  self.study:update()
  return self.class .. " of " .. self.objective .. " " .. tostring(self.study)
end

return { new = new_tuner }
