-- The tour of the prompt that `crescent demo` shows: an explanation, and the entry that follows it.
return {
  { "Tensors show what they hold; lists in Lua count from 1, ranges have both ends.",
    "t = cr.arange(12):reshape { 3, 4 }; t, t[2], t[{ {}, -1 }]" },

  { "Data: points of two spirals, class 0 and class 1.", [[
turn = cr.ops.linspace(0.5, 9, 500)
arm = cr.ops.stack({ turn * turn:cos(), turn * turn:sin() }, -1) / 9
x = cr.ops.concatenate({ arm, -arm }, 0)
y = cr.ops.concatenate({ cr.zeros { 500 }, cr.ones { 500 } }, 0)]] },

  { "Pictures stand at the terminal, or go to a file where one is named.",
    'cr.plot(x[{ {}, 1 }], x[{ {}, 2 }], { style = "points", width = 60, height = 18 })' },

  { "A misspelt option is answered with the right one.",
    'cr.layers.Dense(32, { activaton = "relu" })' },

  { "?name tells what is known of it; Tab completes names, options and their values.",
    "?cr.layers.LeakyReLU" },

  { "A model is a list of layers, as in Keras.", [[
cr.random.seed(1)
model = cr.Sequential {
  cr.layers.Dense(64, { activation = "relu", input_shape = { 2 } }),
  cr.layers.Dense(64, { activation = "relu" }),
  cr.layers.Dense(1, { activation = "sigmoid" }),
}
model:summary()]] },

  { "The graph of the model.", "model:plot()" },

  { "compile, then fit: the step is traced once and runs as one compiled program.", [[
model:compile { optimizer = cr.optimizers.Adam(0.01), loss = "binary_crossentropy",
  metrics = { "accuracy" } }
history = model:fit(x, y, { epochs = 5, batch_size = 50 })]] },

  { "A run in the background: the prompt is free while it trains.",
    "run = model:fit_async(x, y, { epochs = 100, batch_size = 50, verbose = 0 }); run" },

  { "It is looked at, paused, led on by single batches, and changed between two of them.", [[
run:pause()
model.optimizer.learning_rate = 0.002
run:step(20)
run:resume(); run]] },

  { "wait gives its history, and a history draws itself.",
    "history = run:wait(); history:plot()" },

  { "What the model says of every place of the plane.", [[
side = cr.ops.linspace(-1, 1, 40)
across, down = table.unpack(cr.ops.meshgrid(side, -side))
plane = cr.ops.stack({ across, down }, -1):reshape { 1600, 2 }
cr.imshow(model:predict(plane, { verbose = 0 }):reshape { 40, 40 }, { height = 20 })]] },

  { "trace: what each layer gave, its mean, its zeros, whether something is not finite.",
    "model:trace(x)" },

  { "profile: where the time of a training step goes.", "model:profile(x, y)" },

  { "Gradients of any function: the slope of the squares' sum is twice the place.", [[
place = cr.tensor { 1, 2, 3 }
tape = cr.GradientTape(function() total = place:square():sum() end, { place })
slope = tape:gradient(total, place); slope]] },

  { "Models are saved as Keras saves them; what comes back predicts the same.", [[
model:save "spirals.keras"
again = cr.models.load_model "spirals.keras"
change = again:predict(x, { verbose = 0 }) - model:predict(x, { verbose = 0 })
change:abs():max(), change.shape]] },

  { "_ is the last result; :time says what an entry took.",
    ":time model:evaluate(x, y, { verbose = 0, return_dict = true })" },
}
