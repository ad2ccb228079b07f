-- Constructors of the layers in the graph of an application. Layers without a given name are
-- numbered as in Keras 3: conv2d, conv2d_1, ...
local cr, shell = ...

-- Returns a function that returns the next layer name for a class. If the session has not yet named
-- a layer of the class, the names are those of Keras 3; otherwise they continue the numbers of the
-- session, so that they stay distinct.
local function new_name_generator()
  local was_first_by_name = {}
  return function(class)
    local base_name, number = shell.counted_name(class)
    if was_first_by_name[base_name] == nil then was_first_by_name[base_name] = number == 1 end
    if not was_first_by_name[base_name] then return base_name .. "_" .. number end
    return number == 1 and base_name or base_name .. "_" .. number - 1
  end
end

-- Returns a function (x, y) that applies an operation of cr.ops, as a layer, to the symbol x and to
-- y, a symbol or a number.
local function operation(name, class, next_name)
  return function(x, y)
    local second_argument = type(y) == "number" and y or { input = 1 }
    local layer = cr.layers.OperationLayer {
      operation = name, arguments = { x1 = { input = 0 }, x2 = second_argument },
      name = next_name(class),
    }
    if type(y) == "number" then return layer(x) end
    return layer { x, y }
  end
end

--- Returns the table `net` of constructors for the graph of an application: net.Conv2D { 64, 3,
--- strides = 2 } makes a layer, net.Input a symbol, net.add(x, y) and net.multiply(x, y) apply
--- operations, and net.sequential(x, name, layers) calls a nested model.
return function()
  local next_name = new_name_generator()
  local net = { add = operation("add", "Add", next_name),
    multiply = operation("multiply", "Multiply", next_name) }
  function net.Input(shape) return cr.Input { shape = shape, name = next_name "InputLayer" } end
  function net.sequential(x, name, layers)
    return cr.Sequential({ net.Input { table.unpack(x.shape, 2) }, table.unpack(layers) },
      { name = name })(x)
  end
  return setmetatable(net, {
    __index = function(_, class)
      return function(options)
        options = options or {}
        options.name = options.name or next_name(class)
        return cr.layers[class](options)
      end
    end,
  })
end
