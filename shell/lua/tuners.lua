-- cr.tuners: searches over the hyperparameters of models, with the names of KerasTuner. Studies
-- (crescent/search/study.h) suggest the hyperparameters and store the journal and the trials; a
-- tuner builds and trains the models.
local cr, shell = ...
local tuner = shell.library "tuners/tuner"
local tuners = {}

--- The options of a class of tuners, as rows of shell.define: hypermodel, objective, the given
--- rows, and the other options that all tuners have.
local function with_common_options(rows)
  local options = { { name = "hypermodel", type = "a function", required = true, takes_lists = true,
    doc = "Builds and compiles the model of a trial: it is given hp and returns the model. Or an "
      .. "object whose methods build(hp) and, if it likes, fit(hp, model, ...) do." },
    { name = "objective", type = "a text", default = "val_loss", takes_names = true,
      doc = "The log that is to become good, or { name = \"my_metric\", direction = \"max\" }." } }
  for _, row in ipairs(rows) do options[#options + 1] = row end
  for _, row in ipairs {
    { name = "seed", type = "an integer",
      doc = "What suggestions, weights and the order of data follow from; drawn when not given." },
    { name = "hyperparameters", type = "hyperparameters",
      doc = "Definitions that count instead of those that the model asks for." },
    { name = "tune_new_entries", type = "a boolean", default = true,
      doc = "Whether others than `hyperparameters` are searched too; else they have their "
        .. "defaults." },
    { name = "allow_new_entries", type = "a boolean", default = true,
      doc = "Whether there may be others than `hyperparameters`." },
    { name = "executions_per_trial", type = "an integer", default = 1,
      doc = "How often the model of a trial is trained, with other weights; the score is the "
        .. "mean." },
    { name = "max_consecutive_failed_trials", type = "an integer", default = 3,
      doc = "After so many trials with errors, one after another, the search fails." },
    { name = "directory", type = "a text", default = ".",
      doc = "Where the folder of the search is." },
    { name = "project_name", type = "a text", default = "untitled_project",
      doc = "The folder of the search: its journal, and weights of the trials. A search that is "
        .. "there goes on." },
    { name = "overwrite", type = "a boolean", default = false,
      doc = "Whether a search that is there is removed; for one process, or those of mpirun." },
    { name = "save_freq", type = "an integer or \"epoch\"", default = "epoch",
      doc = "After how many batches a trial is kept, to go on there when its process is killed; "
        .. "false: when it is interrupted only." },
    { name = "lag", type = "an integer", default = 8,
      doc = "Trial k counts on the results of trials up to k - lag: so many can go on at a time, "
        .. "with the same suggestions for any number of processes." },
    { name = "pruner", type = "a text or a table", takes_names = true,
      doc = "\"median\", or { percentile = 50, n_startup_trials = 5, n_warmup_steps = 0 } in "
        .. "epochs: ends trials that are worse than earlier ones after as many epochs." },
  } do options[#options + 1] = row end
  return options
end

--- Returns `hypermodel`. In a call such as RandomSearch { build, max_trials = 3 } it is the list {
--- build }; then its only item is returned.
local function unwrap_hypermodel(hypermodel)
  if type(hypermodel) ~= "table" or rawget(hypermodel, 1) == nil then return hypermodel end
  if #hypermodel > 1 then
    shell.fail("expected a function and options by name, got ", #hypermodel,
      " values without names")
  end
  return hypermodel[1]
end

--- Defines a class of tuners. `oracle` is the class of the oracle, which chooses the
--- hyperparameters. `rows` are options of the class; those named in `oracle_options` are also
--- options of the oracle.
local function define_tuner_class(name, doc, oracle, rows, oracle_options)
  local options = with_common_options(rows)
  tuners[name] = shell.define(name .. " -> a tuner", doc, options, function(...)
    local values, config = {}, {}
    for i, row in ipairs(options) do values[row.name] = (select(i, ...)) end
    values.hypermodel = unwrap_hypermodel(values.hypermodel)
    for _, key in ipairs(oracle_options) do config[key] = values[key] end
    values.oracle = { class_name = oracle, config = config }
    return tuner.new(name, values)
  end)
end

local function max_trials(default)
  return { name = "max_trials", type = "an integer", default = default,
    doc = "How many trials there are" .. (default and "." or "; all when not given.") }
end

define_tuner_class("RandomSearch", "A search whose trials are drawn by chance.", "random",
  { max_trials(10) }, {})

define_tuner_class("GridSearch",
  "A search that goes through all values; of numbers without a step through ten.", "grid",
  { max_trials(nil) }, {})

define_tuner_class("BayesianOptimization",
  "A search in which a Gaussian process over the results so far says "
  .. "where an improvement is most to be expected.", "bayesian", { max_trials(10),
    { name = "num_initial_points", type = "an integer",
      doc = "Results before which trials are drawn by chance; 3 for each hyperparameter when not "
        .. "given." },
    { name = "alpha", type = "a number", default = 1e-4,
      doc = "The variance of the noise of scores." },
    { name = "beta", type = "a number",
      doc = "Chooses by the mean less so many deviations, instead of by the expected "
        .. "improvement." },
  }, { "num_initial_points", "alpha", "beta" })

define_tuner_class("Hyperband",
  "A search that gives many trials few epochs, and the best of them more.", "hyperband", {
    { name = "max_epochs", type = "an integer", default = 100,
      doc = "Of the trials that come farthest." },
    { name = "factor", type = "an integer", default = 3,
      doc = "Of a round one in so many trials goes on, with so many times the epochs." },
    { name = "hyperband_iterations", type = "an integer", default = 1,
      doc = "How often all is done." },
  }, { "max_epochs", "factor", "hyperband_iterations" })

return tuners
