-- Progbar shows the progress of a loop on a line that is rewritten.
local cr, shell = ...

local Progbar = {}
Progbar.__index = Progbar

local function duration_text(seconds)
  if seconds >= 3600 then
    return string.format("%d:%02d:%02d", seconds // 3600, seconds % 3600 // 60, seconds % 60 // 1)
  end
  if seconds >= 60 then return string.format("%d:%02d", seconds // 60, seconds % 60 // 1) end
  return string.format("%ds", seconds // 1)
end

local function speed_text(seconds, unit)
  if seconds >= 1 or seconds == 0 then return string.format("%ds/%s", seconds // 1, unit) end
  if seconds >= 1e-3 then return string.format("%dms/%s", seconds * 1e3 // 1, unit) end
  return string.format("%dus/%s", seconds * 1e6 // 1, unit)
end

-- Updates the shown values: for each name the mean of all values so far, or for stateful metrics
-- the last value.
function Progbar:update_values(current, values)
  local step_count = math.max(current - self.seen_steps, 1)
  for _, pair in ipairs(values or {}) do
    local name, value = pair[1], pair[2]
    local metric = self.metrics[name]
    if not metric then
      metric = { sum = 0, steps = 0 }
      self.metrics[name] = metric
      self.shown_names[#self.shown_names + 1] = name
    end
    if self.stateful[name] then
      metric.sum, metric.steps = value, 1
    else
      metric.sum, metric.steps = metric.sum + value * step_count, metric.steps + step_count
    end
  end
  self.seen_steps = current
end

function Progbar:line(now, finalize, width)
  local fraction = self.target and math.min(self.seen_steps / self.target, 1) or 0
  local parts = { self.target
    and string.format("%" .. #tostring(self.target) .. "d/%d ", self.seen_steps, self.target)
    or string.format("%d/unknown ", self.seen_steps) }
  if self.target then
    local filled_width = math.floor(fraction * width)
    parts[#parts + 1] = ("━"):rep(filled_width) .. (" "):rep(width - filled_width) .. " "
  end
  local elapsed = now - self.start
  local seconds_per_step = self.seen_steps > 0 and elapsed / self.seen_steps or 0
  local remaining_seconds = self.target and not finalize
    and seconds_per_step * (self.target - self.seen_steps)
  parts[#parts + 1] = duration_text(remaining_seconds or elapsed) .. " "
    .. speed_text(seconds_per_step, self.unit_name)
  for _, name in ipairs(self.shown_names) do
    local metric = self.metrics[name]
    local mean = metric.sum / math.max(metric.steps, 1)
    parts[#parts + 1] = string.format(math.abs(mean) > 1e-3 and " - %s: %.4f" or " - %s: %.4e",
      name, mean)
  end
  return table.concat(parts)
end

-- The line of the progress bar. On a narrow terminal the bar is shorter; a line that is still too
-- long is cut.
function Progbar:fitting_line(now, finalize)
  local line = self:line(now, finalize, self.width)
  local length = utf8.len(line)
  local overflow = self.verbose == 1 and length - shell.fitting_columns(length + 1, 10) + 1 or 0
  if overflow <= 0 then return line end
  line = self:line(now, finalize, math.max(self.width - overflow, 0))
  local cut_offset = not finalize and utf8.offset(line, length - overflow + 1)
  return cut_offset and line:sub(1, cut_offset - 1) or line
end

--- Shows the progress; `values` is a list of pairs {name, value}.
function Progbar:update(current, values, finalize)
  if finalize == nil then finalize = self.target ~= nil and current >= self.target end
  self:update_values(current, values)
  local now = cr.utils.clock()
  if self.verbose == 0 or self.verbose == 2 and not finalize then return end
  if self.verbose == 1 and not finalize and now - self.last_update_time < self.interval then
    return
  end
  local line = self:fitting_line(now, finalize)
  local start = self.verbose == 1 and "\r" or ""
  local padding = self.verbose == 1
    and (" "):rep(math.max(0, (self.shown_width or 0) - utf8.len(line))) or ""
  io.stdout:write(start, line, padding, finalize and "\n" or "")
  io.stdout:flush()
  self.last_update_time, self.shown_width = now, utf8.len(line)
end

function Progbar:add(n, values) self:update(self.seen_steps + n, values) end

local function set_of(names)
  local set = {}
  for _, name in ipairs(names or {}) do set[name] = true end
  return set
end

return {
  Progbar = shell.define("Progbar -> a progress bar",
    "A progress bar on one line: bar:update(3, {{\"loss\", 0.5}}), bar:add(1).", {
    { name = "target", type = "an integer",
      doc = "Total number of steps; cr.null if unknown.", required = true },
    { name = "width", type = "an integer", default = 20, doc = "Width of the bar in characters." },
    { name = "verbose", type = "an integer", default = 1,
      doc = "0: silent, 1: a bar, 2: one line at the end." },
    { name = "interval", type = "a number", default = 0.05,
      doc = "Minimum number of seconds between two refreshes." },
    { name = "stateful_metrics", type = "a list of texts",
      doc = "Names of values to show as they are; of the others the mean is shown." },
    { name = "unit_name", type = "a text", default = "step",
      doc = "Name of the unit that is counted." },
  }, function(target, width, verbose, interval, stateful_metrics, unit_name)
    local now = cr.utils.clock()
    return setmetatable({
      target = math.type(target) == "integer" and target or nil, width = width, verbose = verbose,
      interval = interval,
      stateful = set_of(stateful_metrics), unit_name = unit_name, seen_steps = 0, metrics = {},
      shown_names = {}, start = now, last_update_time = -math.huge,
    }, Progbar)
  end),
}
