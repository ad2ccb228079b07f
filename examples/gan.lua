-- A generative adversarial network: a generator makes points that should look like the data, and a
-- critic learns to tell generated points from real ones; each is trained against the other.
--   crescent examples/gan.lua [EPOCHS]
local cr = require "crescent"
local layers, ops = cr.layers, cr.ops
local epochs = tonumber(arg[1]) or 60
print "One network forges points of a ring, another one looks for forgeries."
cr.random.seed(5)

-- The data: eight clusters of points on a circle.
local point_count = 4000
local angles = ops.floor(cr.random.uniform({ point_count, 1 }, 0, 8)) * (math.pi / 4)
local real_points = ops.concatenate({ angles:cos(), angles:sin() }, -1)
  + cr.random.normal({ point_count, 2 }, 0, 0.05)

local function dense_network(input_count, output_count)
  return cr.Sequential {
    layers.Dense(64, { activation = "leaky_relu", input_shape = { input_count } }),
    layers.Dense(64, { activation = "leaky_relu" }),
    layers.Dense(output_count),
  }
end

-- A model with its own train_step: fit calls it for each batch, and it is compiled.
local Gan = cr.Model:subclass "Gan"
function Gan:init()
  self.generator, self.critic = dense_network(8, 2), dense_network(2, 1)
  self.generator_optimizer = cr.optimizers.Adam { learning_rate = 1e-3, beta_1 = 0.5 }
  self.critic_optimizer = cr.optimizers.Adam { learning_rate = 2e-3, beta_1 = 0.5 }
end
function Gan:call(points) return self.critic(points) end
function Gan:train_step(data)
  local points, bce = data[1], cr.losses.BinaryCrossentropy { from_logits = true }
  local batch = points.shape[1]
  local ones, zeros = cr.ones { batch, 1 }, cr.zeros { batch, 1 }

  local critic_loss
  local tape = cr.GradientTape(function()
    local generated_points = self.generator(cr.random.normal { batch, 8 })
    critic_loss = bce(ones, self.critic(points)) + bce(zeros, self.critic(generated_points))
  end)
  local weights = self.critic.trainable_weights
  self.critic_optimizer:apply_gradients(tape:gradient(critic_loss, weights), weights)

  local generator_loss
  tape = cr.GradientTape(function()
    generator_loss = bce(ones, self.critic(self.generator(cr.random.normal { batch, 8 })))
  end)
  weights = self.generator.trainable_weights
  self.generator_optimizer:apply_gradients(tape:gradient(generator_loss, weights), weights)
  return { critic = critic_loss, generator = generator_loss }
end

local gan = Gan()
gan:compile { optimizer = "adam" }
gan:fit(real_points, { batch_size = 100, epochs = epochs, verbose = 0, callbacks = {
  cr.callbacks.LambdaCallback { on_epoch_end = function(epoch, logs)
    if (epoch + 1) % 10 == 0 then
      print(("epoch %d: critic %.3f, generator %.3f")
        :format(epoch + 1, logs.critic, logs.generator))
    end
  end },
} })

local generated_points = gan.generator:predict(cr.random.normal { 500, 8 }, { verbose = 0 })
local radius = generated_points:square():sum(-1):sqrt()
local path = cr.utils.writable_path "gan.png"
cr.plot(generated_points[{ {}, 1 }], generated_points[{ {}, 2 }], { style = "points", file = path,
  title = "forged points", width = 500, height = 500 })
print(("Forged points lie %.3f from the middle (real ones: 1.0), and %.3f off the ring"):format(
  radius:mean():item(), (radius - 1):abs():mean():item()))
print("Picture: " .. path)
