-- cr.distribution describes how the processes that mpirun or srun started share the training. Each
-- process counts as a device; "cpu:0" is the process of rank 0. Objects of this library
-- (DeviceMesh, ...) are tables.
local cr, shell = ...
local distribution = {}

local function communicator_info() return cr.config.communicator() end

--- Makes the metatable for objects of a class; printing an object shows the class's name.
local function class(name) return { __name = name, __type = name } end
local DeviceMesh, TensorLayout, LayoutMap, DataParallel, ModelParallel = class "DeviceMesh",
  class "TensorLayout", class "LayoutMap", class "DataParallel", class "ModelParallel"

local function has_metatable(value, meta) return getmetatable(value) == meta end

local function expect_instance(caller, value, meta)
  if not has_metatable(value, meta) then
    shell.fail(caller, ": expected a ", meta.__name, ", got ", cr.show(value))
  end
  return value
end

local device_type = { name = "device_type", type = "a text",
  doc = "\"cpu\", or nil for all devices." }

local function devices_of(type)
  local devices = {}
  if type ~= nil and type:lower() ~= "cpu" then return devices end
  for rank = 0, communicator_info().size - 1 do devices[#devices + 1] = "cpu:" .. rank end
  return devices
end

distribution.list_devices = shell.define("list_devices -> a list of texts",
  "The processes that train together, one device each: \"cpu:0\", ...", { device_type }, devices_of)

distribution.get_device_count = shell.define("get_device_count -> an integer",
  "The number of processes that train together.", { device_type },
  function(type) return #devices_of(type) end)

distribution.initialize = shell.define("initialize -> nothing",
  "Connects to the other processes that mpirun or srun started; fit does so by itself.", {
    { name = "job_addresses", type = "a text", doc = "Ignored: the launcher knows the addresses." },
    { name = "num_processes", type = "an integer", doc = "Required number of processes." },
    { name = "process_id", type = "an integer", doc = "Required rank of this process." },
  }, function(_, count, rank)
    local world = communicator_info()
    if count ~= nil and count ~= world.size then
      shell.fail("initialize: there must be ", count, " processes, there ",
        world.size == 1 and "is " or "are ", world.size, ": start them by mpirun -n ", count)
    end
    if rank ~= nil and rank ~= world.rank then
      shell.fail("initialize: this process must have rank ", rank, ", it has ", world.rank,
        ", which the launcher gave it")
    end
  end)

distribution.DeviceMesh = shell.define("DeviceMesh -> a mesh",
  "A grid of devices whose axes have names.", {
    { name = "shape", type = "a list of integers", doc = "Shape of the grid.", required = true,
      takes_lists = true },
    { name = "axis_names", type = "a list of texts", doc = "Name of each axis.",
      required = true, takes_lists = true },
    { name = "devices", type = "a list of texts", doc = "The devices in row-major order; nil: all.",
      takes_lists = true },
  }, function(shape, axis_names, devices)
    devices = devices or devices_of()
    local size = 1
    for _, length in ipairs(shape) do size = size * length end
    if #shape ~= #axis_names then
      shell.fail("DeviceMesh: ", #shape, " axes need as many names, got ", #axis_names)
    end
    if size ~= #devices then
      shell.fail("DeviceMesh: a grid of ", size, " devices, and there are ", #devices)
    end
    return setmetatable({ shape = shape, axis_names = axis_names, devices = devices }, DeviceMesh)
  end)

--- Fails for names in `axes` that are not axes of the mesh.
local function expect_axes_of(mesh, axes)
  local known_names = {}
  for _, name in ipairs(mesh.axis_names) do known_names[name] = true end
  for _, name in pairs(axes) do
    if name and name ~= cr.null and not known_names[name] then
      shell.fail("TensorLayout: the mesh has no axis '", name, "'; its axes: ",
        table.concat(mesh.axis_names, ", "), shell.did_you_mean(name, mesh.axis_names))
    end
  end
end

distribution.TensorLayout = shell.define("TensorLayout -> a layout",
  "The axes of a mesh along which the axes of a tensor are divided.", {
    { name = "axes", type = "a list of texts",
      doc = "For each axis of the tensor the axis of the mesh that divides it, or false.",
        required = true,
      takes_lists = true },
    { name = "device_mesh", type = "a mesh", doc = "The mesh.", takes_names = true },
  }, function(axes, mesh)
    if mesh ~= nil then expect_axes_of(expect_instance("TensorLayout", mesh, DeviceMesh), axes) end
    return setmetatable({ axes = axes, device_mesh = mesh }, TensorLayout)
  end)

distribution.LayoutMap = shell.define("LayoutMap -> a map of layouts",
  "Layouts of weights by their paths, or by regular expressions that are found in them: "
    .. "map[\"dense.*kernel\"] = { false, \"model\" }, a layout or its axes.", {
    { name = "device_mesh", type = "a mesh", doc = "Mesh of layouts that have none.",
      required = true,
      takes_names = true },
  }, function(mesh)
    return setmetatable({ device_mesh = expect_instance("LayoutMap", mesh, DeviceMesh) }, LayoutMap)
  end)

local function check_all_devices(name, devices)
  local all_devices = devices_of()
  if #devices ~= #all_devices then
    shell.fail(name, ": all processes train together: there are ", #all_devices, ", got ", #devices,
      " devices")
  end
end

distribution.DataParallel = shell.define("DataParallel -> a distribution",
  "Data parallelism: each process computes its share of every batch, and the results are those "
    .. "of one process with the whole batch.", {
    { name = "device_mesh", type = "a mesh", doc = "A mesh of one axis; nil: all processes.",
      takes_names = true },
    { name = "devices", type = "a list of texts", doc = "A list of devices instead of a mesh.",
      takes_lists = true },
    { name = "auto_shard_dataset", type = "a boolean",
      doc = "Whether all processes are given the same data, of which each takes its share of every "
        .. "batch; otherwise each is given its own part of every batch.",
      default = true },
    { name = "shares_inference", type = "a boolean",
      doc = "evaluate and predict are shared, too: all processes call them, and get all results.",
      default = false },
  }, function(mesh, devices, auto_shard, shares_inference)
    if mesh ~= nil then devices = expect_instance("DataParallel", mesh, DeviceMesh).devices end
    devices = devices or devices_of()
    check_all_devices("DataParallel", devices)
    local world = communicator_info()
    return setmetatable({
      device_mesh = mesh or distribution.DeviceMesh({ #devices }, { "batch" }, devices),
      batch_dim_name = mesh and mesh.axis_names[1] or "batch",
      auto_shard_dataset = auto_shard ~= false,
      num_processes = world.size, process_id = world.rank, num_data_shards = world.size,
      data_shard_id = world.rank, shares_inference = shares_inference == true,
    }, DataParallel)
  end)

--- The number of processes along the axis `name` of the mesh, and the distance of the ranks of
--- neighbours along it.
local function mesh_axis(mesh, name)
  local stride = 1
  for i = #mesh.axis_names, 1, -1 do
    if mesh.axis_names[i] == name then return mesh.shape[i], stride end
    stride = stride * mesh.shape[i]
  end
  shell.fail("LayoutMap: the mesh has no axis '", name, "'; its axes: ",
    table.concat(mesh.axis_names, ", "), shell.did_you_mean(name, mesh.axis_names))
end

--- The highest index of a list whose elements may be nil or false.
local function length_of(axes)
  local length = 0
  for i in pairs(axes) do length = math.max(length, i) end
  return length
end

--- Returns the layout of the weights whose paths match `pattern`, as an item of the list that
--- shell.set_weight_layouts takes: `rank` is the number of axes of the weights. If processes divide
--- an axis, `axis` is its index (from 0), `parts` the number of its parts, and `stride` the
--- distance of the ranks of neighbouring processes (see mesh_axis).
local function weight_layout(pattern, layout, mesh)
  local axes = layout
  if has_metatable(layout, TensorLayout) then
    axes, mesh = layout.axes, layout.device_mesh or mesh
  elseif type(layout) ~= "table" or getmetatable(layout) and not shell.is_structure(layout) then
    shell.fail("LayoutMap: '", pattern, "': expected a TensorLayout or a list of axes, got ",
      cr.show(layout))
  end
  local row = { pattern = pattern, rank = length_of(axes) }
  for i = 1, row.rank do
    local parts, stride = 1, 1
    if axes[i] then parts, stride = mesh_axis(mesh, axes[i]) end
    if parts > 1 then
      if row.parts then
        shell.fail("LayoutMap: '", pattern, "': two axes are divided; one axis of a weight can be")
      end
      row.axis, row.parts, row.stride = i - 1, parts, stride
    end
  end
  return row
end

local function weight_layouts(map)
  local patterns, rows = {}, {}
  for pattern in pairs(map) do
    if pattern ~= "device_mesh" then patterns[#patterns + 1] = pattern end
  end
  table.sort(patterns)
  for i, pattern in ipairs(patterns) do
    rows[i] = weight_layout(pattern, map[pattern], map.device_mesh)
  end
  return rows
end

distribution.ModelParallel = shell.define("ModelParallel -> a distribution",
  "Model parallelism: of weights whose layout names an axis of the mesh each process keeps a part, "
    .. "with its part of the optimizer's state; batches are divided among all processes. It is set "
    .. "before the model is made.", {
    { name = "layout_map", type = "a map of layouts", doc = "The layout of each weight.",
      required = true, takes_names = true },
    { name = "batch_dim_name", type = "a text",
      doc = "An axis of the mesh; nil: the first. Batches are divided among all processes." },
    { name = "auto_shard_dataset", type = "a boolean", doc = "As in DataParallel.",
      default = true },
  }, function(map, batch_dim_name, auto_shard)
    if auto_shard == false then
      shell.fail("ModelParallel: auto_shard_dataset = false, for data that each process brings "
        .. "divided, is not there yet")
    end
    local mesh = expect_instance("ModelParallel", map, LayoutMap).device_mesh
    check_all_devices("ModelParallel", mesh.devices)
    for i, device in ipairs(devices_of()) do
      if mesh.devices[i] ~= device then
        shell.fail("ModelParallel: the devices of the mesh must be in the order of ranks")
      end
    end
    if batch_dim_name ~= nil then mesh_axis(mesh, batch_dim_name) end
    local world = communicator_info()
    return setmetatable({
      device_mesh = mesh, layout_map = map, batch_dim_name = batch_dim_name or mesh.axis_names[1],
      auto_shard_dataset = true, num_processes = world.size, process_id = world.rank,
      num_data_shards = world.size, data_shard_id = world.rank, layouts = weight_layouts(map),
    }, ModelParallel)
  end)

distribution.distribute_tensor = shell.define("distribute_tensor -> a tensor",
  "Applies a layout to a tensor; only layouts that divide no axis are available.", {
    { name = "tensor", type = "a tensor", doc = "The tensor.", required = true },
    { name = "layout", type = "a layout",
      doc = "The layout.", required = true, takes_names = true },
  }, function(tensor, layout)
    for _, axis in ipairs(expect_instance("distribute_tensor", layout, TensorLayout).axes) do
      if axis then
        shell.fail("distribute_tensor: tensors that are divided, here along '", axis,
          "', are not there yet: every process holds whole tensors")
      end
    end
    return tensor
  end)

local model_parallel  -- the ModelParallel that was given to set_distribution, or nil

distribution.set_distribution = shell.define("set_distribution -> nothing",
  "Sets the distribution that fit uses: set_distribution(cr.distribution.DataParallel {}). nil: "
    .. "each process trains on data of its own.", {
    { name = "value", type = "a distribution", doc = "A DataParallel, a ModelParallel or nil.",
      takes_names = true },
  }, function(value)
    model_parallel = has_metatable(value, ModelParallel) and value or nil
    if value ~= nil and not model_parallel then
      expect_instance("set_distribution", value, DataParallel)
    end
    shell.set_weight_layouts(model_parallel and model_parallel.layouts or {})
    shell.set_data_parallel(value ~= nil)
    shell.set_shares_inference(model_parallel ~= nil or value ~= nil and value.shares_inference)
    shell.set_shards_data(value == nil or value.auto_shard_dataset)
  end)

--- The distribution that fit uses: what was set; a DataParallel if mpirun or srun started several
--- processes; nil where each process trains on data of its own.
--- @return a distribution or nil
function distribution.distribution()
  if model_parallel then return model_parallel end
  return shell.is_data_parallel()
    and distribution.DataParallel { auto_shard_dataset = shell.shards_data(),
      shares_inference = shell.shares_inference() } or nil
end

return distribution
