-- The outcome of a training as text: every bit of weights, optimizer, history and random draws.
local outcome = {}

local function print_tensor(name, tensor)
  local numbers = {}
  for i, number in ipairs(cr.ops.cast(tensor, "float64"):reshape({ -1 }):totable()) do
    numbers[i] = ("%.17g"):format(number)
  end
  print(name, table.concat(numbers, " "))
end

--- Prints the outcome of the model's training.
function outcome.print(model)
  for i, weight in ipairs(model:get_weights()) do print_tensor("weight " .. i, weight) end
  for i, variable in ipairs(model.optimizer.variables) do
    print_tensor("optimizer " .. i, variable.value)
  end
  local names = {}
  for name in pairs(model.history.history) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    print_tensor(name, cr.tensor(model.history.history[name], "float64"))
  end
  print("draw", cr.random.uniform({}):item())
end

--- A callback that kills the process after a number of batches.
outcome.Killer = cr.callbacks.Callback:subclass "Killer"
function outcome.Killer:init(options) self.remaining_batches = options.batches end
function outcome.Killer:on_train_batch_end()
  self.remaining_batches = self.remaining_batches - 1
  if self.remaining_batches == 0 then os.execute "kill -9 $PPID" end
end

return outcome
