-- Constructors of the layers in the graph of an application. Layers without a given name are
-- numbered as in Keras 3: conv2d, conv2d_1, ...
local cr, shell = ...

-- Makes names of layers by class. If the session has not yet named a layer of a class, its names
-- are those of Keras 3; otherwise they continue the numbers of the session, so that names stay
-- distinct.
local function namer()
  local is_first = {}
  return function(class)
    local base, number = shell.counted_name(class)
    if is_first[base] == nil then is_first[base] = number == 1 end
    if not is_first[base] then return base .. "_" .. number end
    return number == 1 and base or base .. "_" .. number - 1
  end
end

-- A function that applies a layer with two inputs to a symbol and a second symbol or number.
local function operation(name, class, next_name)
  return function(x, y)
    local second = type(y) == "number" and y or { input = 1 }
    local layer = cr.layers.OperationLayer {
      operation = name, arguments = { x1 = { input = 0 }, x2 = second }, name = next_name(class),
    }
    if type(y) == "number" then return layer(x) end
    return layer { x, y }
  end
end

--- The constructors for the graph of an application: net.Conv2D { 64, 3, strides = 2 } makes a
--- layer, net.Input a symbol, net.add(x, y) and net.multiply(x, y) are operations,
--- net.sequential(x, name, layers) calls a nested model.
return function()
  local next_name = namer()
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
