-- Methods of studies that are written in Lua: plotting a study, and running a function for each
-- trial.
local cr, shell = ...
local show = shell.library("figures").show
local is_stop = shell.library("tuners/trial").is_stop
local studies = {}

--- The complete trials with a score, in the order of their numbers.
local function scored_trials(study)
  local trials = {}
  for _, trial in ipairs(study.trials) do
    if trial.state == "complete" and trial.score and trial.score == trial.score then
      trials[#trials + 1] = trial
    end
  end
  if #trials == 0 then shell.fail "plot: no trial of the study has a score yet" end
  return trials
end

--- The figure of the score of each trial, and of the best score so far.
local function history_figure(study)
  local numbers, scores, best_scores, best_score = {}, {}, {}, nil
  for i, trial in ipairs(scored_trials(study)) do
    local is_better = best_score == nil
      or (study.direction == "minimize" and trial.score < best_score)
      or (study.direction == "maximize" and trial.score > best_score)
    best_score = is_better and trial.score or best_score
    numbers[i], scores[i], best_scores[i] = trial.number, trial.score, best_score
  end
  return { kind = "axes", xlabel = "trial", ylabel = "score", whole = true, series = {
    { x = numbers, y = scores, label = "score", style = "points" },
    { x = numbers, y = best_scores, label = "best so far" } } }
end

--- The figure of the share of the variance of scores that each hyperparameter explains, as a matrix
--- with one column.
local function importance_figure(study)
  scored_trials(study)
  local names, shares = {}, {}
  for name, share in pairs(study:importances()) do
    names[#names + 1], shares[name] = name, share
  end
  if #names == 0 then shell.fail "plot: the trials have no hyperparameters that are searched" end
  table.sort(names, function(a, b)
    if shares[a] ~= shares[b] then return shares[a] > shares[b] end
    return a < b
  end)
  local rows = {}
  for i, name in ipairs(names) do rows[i] = { shares[name] } end
  return { kind = "heatmap", values = cr.tensor(rows), rows = names, columns = { "importance" },
    numbers = true }
end

--- Returns a table {value = rank from 0 to 1} of the values that the hyperparameter `name` has in
--- the trials, and the number of these values.
local function ranks_of_values(trials, name)
  local values, ranks = {}, {}
  for _, trial in ipairs(trials) do
    local value = trial.values[name]
    if value ~= nil and not ranks[value] then
      values[#values + 1], ranks[value] = value, 0
    end
  end
  table.sort(values, function(a, b)
    if type(a) == "number" and type(b) == "number" then return a < b end
    return tostring(a) < tostring(b)
  end)
  for i, value in ipairs(values) do
    ranks[value] = #values > 1 and (i - 1) / (#values - 1) or 0.5
  end
  return ranks, #values
end

local max_lines = 8

--- The figure with one line per trial (parallel coordinates): the ranks, from 0 to 1, of its
--- hyperparameters and of its score. The best three trials have colours and labels.
local function parallel_figure(study)
  local trials, names, ranks_by_name = scored_trials(study), {}, {}
  local seen_names = {}
  for _, p in ipairs(study.space) do
    local ranks, count = ranks_of_values(trials, p.name)
    if count > 1 and not seen_names[p.name] then
      names[#names + 1], ranks_by_name[p.name], seen_names[p.name] = p.name, ranks, true
    end
  end
  table.sort(trials, function(a, b)
    if study.direction == "minimize" then return a.score < b.score end
    return a.score > b.score
  end)
  local series, count = {}, math.min(#trials, max_lines)
  for i = count, 1, -1 do
    local y = {}
    for j, name in ipairs(names) do
      local value = trials[i].values[name]
      y[j] = value == nil and 0 / 0 or ranks_by_name[name][value]
    end
    y[#names + 1] = #trials > 1 and (i - 1) / (#trials - 1) or 0
    series[#series + 1] = { y = y, dashed = i > 3, color = i <= 3 and i - 1 or 7,
      label = i <= 3 and "trial " .. trials[i].number or nil }
  end
  names[#names + 1] = "rank of the score"
  return { kind = "axes", xlabel = table.concat(names, " | "), ylabel = "rank of the value",
    series = series, from = 1, whole = true }
end

local figures = { history = history_figure, importance = importance_figure,
  parallel = parallel_figure }

function studies.plot(study, o)
  study:update()
  local figure = figures[o.what](study)
  figure.title = o.title
  return show("plot", figure, o)
end

--- The score of a trial whose objective returned nothing: the value that it reported last.
local function last_report(trial)
  local reports = trial.reports
  return #reports > 0 and reports[#reports].value or nil
end

function studies.optimize(study, objective, n_trials)
  for _ = 1, n_trials or math.maxinteger do
    local trial = study:ask()
    if not trial then return end
    local ok, score = pcall(objective, trial)
    if not ok then
      if is_stop(tostring(score)) then trial:release() else
        study:tell(trial, nil, "failed", tostring(score))
      end
      error(score, 0)
    end
    if score == nil then
      study:tell(trial, last_report(trial), "pruned")
    else
      study:tell(trial, score)
    end
  end
end

return studies
