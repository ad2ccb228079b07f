-- What replaces functions, methods and attributes of Python and its libraries. The texts end error
-- messages for names that Lua or an object of Crescent does not have.
local cr = ...
local counterparts = {}

--- Global functions of Python, by name.
counterparts.functions = {
  quit = "it ends the prompt as an entry of its own; os.exit() ends scripts too",
  exit = "it ends the prompt as an entry of its own; os.exit() ends scripts too",
  len = "the length of x is #x",
  range = "loops count by: for i = 1, n do ... end; cr.arange(n) is a tensor",
  enumerate = "lists are gone through by: for i, x in ipairs(list) do ... end",
  str = "it is tostring(x)",
  repr = "it is cr.show(x)",
  int = "it is math.tointeger(x), of a text tonumber(x)",
  float = "it is tonumber(x)",
  isinstance = "type(x) tells what a value is, x.class_name the class of an object",
  dir = "it is help(x)",
  input = "it is io.read()",
  open = "it is io.open(path)",
  f = "texts are put together by string.format('%d of %s', n, name) or '..'",
  try = "errors are caught by pcall(f, ...)",
  sorted = "it is table.sort(list)",
  plt = "pictures are drawn by cr.plot(x, y), cr.imshow(images), cr.hist(values), history:plot()",
  list = "a list is { x, y }; the numbers of a tensor are t:totable()",
  dict = "entries are named by '=': { name = value }",
  zip = "lists are gone through together by: for i = 1, #a do f(a[i], b[i]) end",
  time = "os.time() is in seconds, os.clock() in seconds of the processor",
  argparse = "the arguments of a script are in the table arg",
  collections = "lists and dictionaries are tables: { 1, 2 }, { name = value }",
  filter = "a loop puts into another list what it is to have: kept[#kept + 1] = x",
  functools = "functions are values: function(x) return f(x, y) end",
  getattr = "it is object[name]",
  glob = "it is cr.data.list_files(pattern)",
  hasattr = "it is t[name] ~= nil for tables",
  itertools = "lists are gone through by: for i, x in ipairs(list) do ... end",
  json = "cr.show(x) is a text of any value; cr.data.write_npz stores tensors",
  logging = "messages are written by print(text) or io.stderr:write(text)",
  pickle = "models are saved by model:save(path), tensors by cr.data.write_npz(path, t)",
  re = "texts are searched by text:find(pattern), text:match(pattern), text:gsub(pattern, new)",
  reversed = "lists are gone through backwards by: for i = #list, 1, -1 do ... end",
  self = "it is the object in functions that are written with ':', function Mine:call(x)",
  set = "a set is a table: { [x] = true }",
  setattr = "it is object[name] = value",
  super = "the function of the base class is Mine.super.call(self, x)",
  sys = "the arguments of a script are in the table arg; os.exit(status) ends it",
  this = "the object is self in functions that are written with ':', function Mine:call(x)",
  tqdm = "fit, predict and long loads show bars; cr.utils.Progbar(count) is one",
  tuple = "a tuple is a table: { x, y }",
  undefined = "it is nil",
}

local pairs_text = "tables are gone through by: for name, value in pairs(t) do ... end"

--- Methods of Python's lists, dictionaries and texts.
counterparts.methods = {
  append = "a list grows by list[#list + 1] = x",
  endswith = "it is text:sub(-#ending) == ending",
  extend = "lists are joined by table.move(more, 1, #more, #list + 1, list)",
  items = pairs_text,
  get = "it is t[key], or with a default t[key] or default",
  insert = "it is table.insert(list, position, x)",
  join = "lists of texts are joined by table.concat(list, separator)",
  keys = pairs_text,
  listdir = "it is cr.data.list_files(folder .. '/*')",
  pop = "it is table.remove(list)",
  replace = "it is text:gsub(pattern, new)",
  remove = "it is table.remove(list, position)",
  round = "it is math.floor(x + 0.5), of a tensor t:round()",
  sort = "it is table.sort(list)",
  split = "parts of a text are found by: for word in text:gmatch \"%S+\" do ... end",
  startswith = "it is text:sub(1, #start) == start",
  strip = "it is text:match '^%s*(.-)%s*$'",
  update = "entries are set one by one: t[name] = value",
}

local tape_text = "gradients are taken by a tape: "
  .. "tape = cr.GradientTape(function() ... end); tape:gradient(y, x)"
local step_text = "an update is optimizer:apply_gradients(tape:gradient(loss, weights), weights)"
local device_text = "cr.config.set_device(name) chooses the device of all tensors"
local elements_text = "elements are gone through by: for x, y in data:elements() do ... end"
local element_text = "elements are assigned: t[{ row, column }] = value"

local tensor_texts = {
  add_ = "it is t = t + x",
  assign = "values are assigned to variables, cr.Variable(t); elements by t[position] = value",
  astype = "it is t:cast(dtype)",
  backward = tape_text,
  bmm = "it is t:matmul(x)",
  bool = 'it is t:cast "bool"',
  byte = 'it is t:cast "uint8"',
  cat = "it is cr.ops.concatenate({ x, y }, axis)",
  choose = "it is cr.ops.take(choices, t, axis)",
  chunk = "it is t:split(count, axis)",
  clamp = "it is t:clip(minimum, maximum)",
  compress = "rows are chosen by a mask: t[mask]",
  contiguous = "it is t: every tensor is contiguous",
  cpu = device_text,
  cuda = device_text,
  data = "it is t; its numbers are t:totable()",
  describe = "it is cr.describe(t)",
  detach = "it is cr.ops.stop_gradient(t)",
  device = "cr.config.device() names the device of all tensors",
  dim = "it is t.ndim",
  dims = "it is t.shape",
  div = "it is t / x",
  double = 'it is t:cast "float64"',
  eq = "it is t:equal(x)",
  eval = "it is t: its values are computed at once",
  expand = "it is t:broadcast_to(shape)",
  expand_as = "it is t:broadcast_to(x.shape)",
  fill = element_text .. ", all of them t[{ {} }] = value",
  fill_ = element_text .. ", all of them t[{ {} }] = value",
  flat = "it is t:flatten()",
  float = 'it is t:cast "float32"',
  gather = "it is t:take(positions, axis), or t:take_along_axis(positions, axis)",
  ge = "it is t:greater_equal(x)",
  get_shape = "it is t.shape",
  get_value = "it is t",
  grad = tape_text,
  grad_fn = tape_text,
  gt = "it is t:greater(x)",
  half = 'it is t:cast "float16"',
  head = "it is t:slice(1, 5)",
  hist = "it is cr.hist(t)",
  index_add = "it is cr.ops.scatter_update(t, indices, values)",
  index_select = "it is t:take(positions, axis)",
  int = 'it is t:cast "int32"',
  is_contiguous = "every tensor is contiguous",
  is_cuda = device_text,
  itemset = element_text,
  itemsize = "it is t.nbytes / t.size",
  iter = "rows are gone through by: for i, row in ipairs(t) do ... end",
  le = "it is t:less_equal(x)",
  len = "the length of t is #t",
  long = 'it is t:cast "int64"',
  lt = "it is t:less(x)",
  masked_fill = "elements are assigned: t[mask] = value; a new tensor is cr.ops.where(mask, x, t)",
  masked_fill_ = "elements are assigned: t[mask] = value",
  masked_select = "it is t[mask]",
  mm = "it is t:matmul(x)",
  mul = "it is t * x",
  mul_ = "it is t = t * x",
  narrow = "it is t:slice(first, last), both included and counted from 1",
  ne = "it is t:not_equal(x)",
  neg = "it is -t",
  nelement = "it is t.size",
  new_zeros = "it is cr.zeros(shape)",
  normal_ = "it is t = cr.random.normal(t.shape)",
  numel = "it is t.size",
  partition = "it is t:sort(axis)",
  permute = "it is t:transpose(axes)",
  plot = "it is cr.plot(t)",
  pow = "it is t ^ x",
  print = "it is print(t)",
  put = element_text,
  read_value = "it is t",
  requires_grad = "variables are trained: cr.Variable(t)",
  requires_grad_ = "variables are trained: cr.Variable(t)",
  reshape_as = "it is t:reshape(x.shape)",
  resize = "it is t:reshape(shape)",
  save = "it is cr.data.write_npy(path, t)",
  scatter_ = "it is cr.ops.scatter_update(t, indices, values)",
  scatter_add = "it is cr.ops.scatter_update(t, indices, values)",
  select = "it is t[position], counted from 1",
  set_shape = "it is t:reshape(shape)",
  show = "it is cr.show(t), of an image cr.imshow(t)",
  stack = "it is cr.ops.stack({ x, y }, axis)",
  sub = "it is t - x",
  sub_ = "it is t = t - x",
  t = "it is t.T",
  to = "it is t:cast(dtype); cr.config.set_device(name) chooses a device",
  to_list = "its numbers are t:totable()",
  tobytes = "cr.data.write_npy(path, t) writes a file; its numbers are t:totable()",
  tofile = "it is cr.data.write_npy(path, t)",
  tolist = "its numbers are t:totable()",
  topk = "it is t:top_k(count)",
  tostring = "it is tostring(t), with dtype and shape cr.show(t)",
  type = "it is t.dtype; t:cast(dtype) makes a tensor of another one",
  type_as = "it is t:cast(x.dtype)",
  unbind = "it is t:unstack(axis)",
  uniform_ = "it is t = cr.random.uniform(t.shape)",
  unsqueeze = "it is t:expand_dims(axis)",
  values = "its numbers are t:totable()",
  view_as = "it is t:reshape(x.shape)",
  zero_ = element_text .. ", all of them t[{ {} }] = 0",
}

local variable_texts = {
  clone = "a copy of its tensor is v.value:clone()",
  data = "it is v.value",
  detach = "it is v.value",
  initial_value = "it is v.value before the first update",
  read_value = "it is v.value",
}

local symbol_texts = {
  _keras_history = "it is symbol.node",
  _keras_shape = "it is symbol.shape",
  get_shape = "it is symbol.shape",
  keras_history = "it is symbol.node",
  op = "it is symbol.node.outbound_layer",
}
for _, name in ipairs { "item", "numpy", "tolist", "totable" } do
  symbol_texts[name] = "a symbol has no values; a model that ends in it computes them"
end

local dataset_texts = {
  as_numpy_iterator = elements_text,
  apply = "it is f(data)",
  cardinality = "it is data.batches",
  from_generator = "it is cr.data.from_generator(f)",
  from_tensors = "it is cr.data.from_tensor_slices(x)",
  get_single_element = "it is data:elements()()",
  iter = elements_text,
  len = "it is data.batches",
  list_files = "it is cr.data.list_files(pattern)",
  next = elements_text,
  padded_batch = "sequences get one length by cr.utils.pad_sequences(list)",
  rebatch = "it is data:unbatch():batch(size)",
  reduce = elements_text,
  ["repeat"] = "it is data:repeated(count)",
  sample_from_datasets = "it is data:interleave(f)",
}

local optimizer_texts = {
  add_param_group = "cr.optimizers.MultiOptimizer has an optimizer for each group of layers",
  assign = "settings are assigned: optimizer.learning_rate = x",
  compute_gradients = tape_text,
  get_gradients = tape_text,
  get_lr = "it is optimizer.learning_rate",
  get_updates = step_text,
  load_state_dict = "it is optimizer:set_weights(list)",
  minimize = step_text,
  param_groups = "the rate is optimizer.learning_rate",
  set_learning_rate = "it is optimizer.learning_rate = x",
  set_lr = "it is optimizer.learning_rate = x",
  state_dict = "it is optimizer.weights",
  step = step_text,
  update = step_text,
}

local metric_texts = {
  compute = "it is metric:result()",
  forward = "it is metric:update_state(y_true, y_pred)",
  get = "it is metric:result()",
  item = "it is metric:result():item()",
  numpy = "it is metric:result()",
  reset = "it is metric:reset_state()",
  total = "it is metric:result()",
  update = "it is metric:update_state(y_true, y_pred)",
  value = "it is metric:result()",
}

local object_texts = {
  W = "it is layer.kernel",
  add_layer = "it is model:add(layer)",
  add_module = "a layer in an attribute is enough: self.dense = cr.layers.Dense(3)",
  apply = "layers are gone through by: for i, layer in ipairs(model.layers) do ... end",
  b = "it is layer.bias",
  backward = tape_text,
  children = "it is model.layers",
  clone = "it is cr.models.clone_model(model)",
  compiled_loss = "it is model:compute_loss(x, y, y_pred)",
  compiled_metrics = "it is model:compute_metrics(x, y, y_pred)",
  count_parameters = "it is model:count_params()",
  cpu = device_text,
  cuda = device_text,
  double = "computing in doubles is chosen by cr.config.set_dtype_policy 'float64'",
  eval = "model:predict(x) and model(x) compute as after training",
  evaluate_generator = "it is model:evaluate(f), where f returns a batch x, y at each call",
  fit_generator = "it is model:fit(f), where f returns a batch x, y at each call",
  forward = "it is call: function Mine:call(x) return x end",
  freeze = "it is model.trainable = false",
  from_config = "a function of its class: cr.layers.deserialize, cr.models.from_config",
  get_layers = "it is model.layers",
  get_lr = "it is model.learning_rate",
  grad = tape_text,
  half = 'computing in halves is chosen by cr.config.set_dtype_policy "mixed_float16"',
  in_features = "it is layer.input_shape[2]",
  jit_compile = "it is an option of model:compile",
  load = "it is model:load_weights(path), or cr.models.load_model(path)",
  load_state_dict = "it is model:set_weights(list); model:load_weights(path) reads a file",
  make_predict_function = "steps are compiled by the methods that run them",
  make_test_function = "steps are compiled by the methods that run them",
  make_train_function = "steps are compiled by the methods that run them",
  modules = "it is model.layers",
  named_modules = "it is model.layers; each has a name",
  named_parameters = "it is model.weights; each has a name and a path",
  num_params = "it is model:count_params()",
  out_features = "it is layer.units",
  parameters = "it is model.trainable_weights",
  params = "it is model.trainable_weights",
  pop_layer = "it is model:pop()",
  predict = "models have it; a layer is called: layer(x)",
  predict_classes = "it is cr.ops.argmax(model:predict(x), -1)",
  predict_generator = "it is model:predict(f), where f returns a batch x at each call",
  predict_proba = "it is model:predict(x)",
  register_buffer = "it is layer:add_weight { shape = s, trainable = false }",
  requires_grad = "it is model.trainable",
  requires_grad_ = "it is model.trainable = true",
  save_model = "it is model:save(path)",
  score = "it is model:evaluate(x, y)",
  set_learning_rate = "it is model.learning_rate = x",
  set_lr = "it is model.learning_rate = x",
  state_dict = "it is model:get_weights(); model:save_weights(path) writes a file",
  steps_per_execution = "it is an option of model:compile",
  to = "cr.config.set_device(name) chooses a device, cr.config.set_dtype_policy(name) a dtype",
  to_yaml = "it is model:to_json()",
  train = "model:fit(x, y) trains; model(x, { training = true }) calls as in training",
  transform = "it is model:predict(x)",
  unfreeze = "it is model.trainable = true",
  weight = "it is layer.kernel",
  zero_grad = "a tape gives gradients anew: tape:gradient(y, x)",
}

local by_type = {
  tensor = { tensor_texts }, variable = { variable_texts, tensor_texts },
  symbol = { symbol_texts, tensor_texts },
  Dataset = { dataset_texts, object_texts },
}

-- The texts for a type, which is that of a value or the name of a class.
local function texts_for(kind)
  if by_type[kind] then return by_type[kind] end
  for class in pairs(cr.optimizers) do
    if class == kind then return { optimizer_texts, object_texts } end
  end
  for class in pairs(cr.metrics) do
    if class == kind then return { metric_texts, object_texts } end
  end
  return { object_texts }
end

--- What replaces an attribute or a method of an object; nil if that is not known. `kind` is the
--- type that the error message names: tensor, variable, symbol, or the class of an object.
function counterparts.attribute(kind, name)
  if kind == "History" then return "the logs are in history.history, as history.history.loss" end
  for _, texts in ipairs(texts_for(kind)) do
    if texts[name] then return texts[name] end
  end
end

return counterparts
