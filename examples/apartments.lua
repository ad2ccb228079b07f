-- A table of apartments with numbers, categories and short texts: FeatureSpace converts each column
-- to numbers, a small network learns from these whether an apartment is rented within a week, and
-- the printed accuracies show how much each column helps. A known rule generates the apartments, so
-- that the result can be checked against the rule.
--   crescent examples/apartments.lua
local cr = require "crescent"
cr.random.seed(7)
math.randomseed(7)

-- ---- the table

local districts = { "harbour", "old town", "university", "hills", "airport" }
local district_scores = {
  harbour = 0.5, ["old town"] = 1.5, university = 1.0, hills = -0.5, airport = -2.0,
}
local remark_scores = {
  ["Bright rooms, quiet street."] = 1, ["Needs some repairs!"] = -1.5, ["Balcony with a view"] = 1,
  ["Ground floor, no balcony"] = -0.5,
  ["Newly painted; bright."] = 0.5, ["Noisy street"] = -1,
}
local remarks = {}
for remark in pairs(remark_scores) do remarks[#remarks + 1] = remark end
table.sort(remarks)

--- Returns the columns {name = list of values} of `count` random apartments, and a tensor with the
--- label of each: 1 if it was rented within a week, else 0.
local function random_apartments(count)
  local columns, labels = { size = {}, rooms = {}, district = {}, heating = {}, remark = {} }, {}
  for i = 1, count do
    local size, district, remark = 25 + 100 * math.random(), districts[math.random(#districts)],
      remarks[math.random(#remarks)]
    columns.size[i], columns.district[i], columns.remark[i] = size, district, remark
    columns.rooms[i] = math.max(1, math.floor(size / 25 + math.random() * 2))
    columns.heating[i] = ({ "gas", "district", "oil" })[math.random(3)]
    -- In this rule, small flats go fast near the university, and large ones in the hills.
    local is_popular = district == "university" and size < 50 or district == "hills" and size > 90
    local score = district_scores[district] + remark_scores[remark] + (is_popular and 2.5 or 0)
      + (columns.heating[i] == "oil" and -1 or 0) + math.random() - 0.5
    labels[i] = { score > 0 and 1 or 0 }
  end
  return columns, cr.tensor(labels)
end

local train_table, train_labels = random_apartments(2000)
local test_table, test_labels = random_apartments(1000)

-- ---- the type of each column

local FeatureSpace = cr.utils.FeatureSpace
local function feature_specs()
  return {
    size = FeatureSpace.float_discretized { num_bins = 6 },
    rooms = "integer_categorical",
    district = "string_categorical",
    heating = "string_categorical",
    remark = FeatureSpace.feature {
      dtype = "string", output_mode = "float",
      preprocessor = cr.layers.TextVectorization { output_mode = "multi_hot", max_tokens = 40 },
    },
  }
end

--- Trains a network on the named columns and returns its accuracy on the test table.
local function train_and_test(column_names, crosses)
  local all_features, chosen_features = feature_specs(), {}
  for _, name in ipairs(column_names) do chosen_features[name] = all_features[name] end
  local feature_space = FeatureSpace { features = chosen_features, crosses = crosses,
    crossing_dim = 64 }
  feature_space:adapt(train_table)
  local x, x_test = feature_space(train_table), feature_space(test_table)
  local model = cr.Sequential {
    cr.layers.Dense(16, { activation = "relu", input_shape = { x.shape[2] } }),
    cr.layers.Dense(1, { activation = "sigmoid" }),
  }
  model:compile { optimizer = cr.optimizers.Adam { learning_rate = 0.01 },
    loss = "binary_crossentropy", metrics = { "accuracy" } }
  model:fit(x, train_labels, { epochs = 15, batch_size = 64, verbose = 0 })
  return model:evaluate(x_test, test_labels, { verbose = 0, return_dict = true }).accuracy,
    x.shape[2]
end

print "Is an apartment rented within a week? What the columns of a table tell of it:\n"
local all_columns = { "size", "rooms", "district", "heating", "remark" }
print(string.format("%-44s %8s %9s", "columns", "features", "accuracy"))
local function print_row(label, column_names, crosses)
  local test_accuracy, feature_count = train_and_test(column_names, crosses)
  print(string.format("%-44s %8d %8.1f%%", label, feature_count, 100 * test_accuracy))
  return test_accuracy
end
print_row("size", { "size" })
print_row("district", { "district" })
print_row("remark (the words of a text)", { "remark" })
local baseline_accuracy = print_row("all", all_columns)
print_row("all, and district with size as one", all_columns, { { "district", "size" } })
assert(baseline_accuracy > 0.8, "the columns tell most of it")
