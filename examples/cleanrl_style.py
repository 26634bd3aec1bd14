"""A single-file PPO loop in the style of CleanRL; the three numbered lines are all Backplay adds.

python examples/cleanrl_style.py --env-id MountainCar-v0 --frames 200000
"""

import argparse

import gymnasium as gym
import numpy as np
import torch
from torch import nn

import backplay as bp

parser = argparse.ArgumentParser()
parser.add_argument("--env-id", default="MountainCar-v0")
parser.add_argument("--frames", type=int, default=200_000)
parser.add_argument("--num-envs", type=int, default=8)
parser.add_argument("--num-steps", type=int, default=256)
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
torch.manual_seed(args.seed)
torch.set_num_threads(1)
rng = np.random.default_rng(args.seed)
gamma, gae_lambda, clip, passes, minibatch_size = 0.99, 0.95, 0.2, 8, 256

demo = bp.record(gym.make(args.env_id), lambda o: 2 if o[1] >= 0 else 0, seed=7)
curriculum = bp.Frontier()


def make() -> gym.Env:
    return bp.BackplayEnv(gym.make(args.env_id), [demo], curriculum)  # 1: the wrapper


# SAME_STEP: an ended episode is reset in the same step; its last observation is in the infos.
envs = gym.vector.SyncVectorEnv(
    [make] * args.num_envs, autoreset_mode=gym.vector.AutoresetMode.SAME_STEP
)
size, actions_count = envs.single_observation_space.shape[0], int(envs.single_action_space.n)
actor = nn.Sequential(
    nn.Linear(size, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, actions_count)
)
critic = nn.Sequential(
    nn.Linear(size, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1)
)
optimiser = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=1e-3, eps=1e-5)

shape = (args.num_steps, args.num_envs)
obs, _ = envs.reset(seed=args.seed)
frames = 0
while frames < args.frames:
    # Rollout
    seen, taken = np.zeros((*shape, size), np.float32), np.zeros(shape, np.int64)
    log_probs, values = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
    rewards, next_values = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
    done = np.zeros(shape, bool)
    for t in range(args.num_steps):
        seen[t] = obs
        with torch.no_grad():
            policy = torch.distributions.Categorical(logits=actor(torch.from_numpy(seen[t])))
            action = policy.sample()
            values[t] = critic(torch.from_numpy(seen[t])).squeeze(-1)
            log_probs[t] = policy.log_prob(action)
        taken[t] = action
        obs, rewards[t], terminated, truncated, infos = envs.step(taken[t])
        done[t] = terminated | truncated
        if t:
            next_values[t - 1] = np.where(done[t - 1], next_values[t - 1], values[t])
        for i in np.flatnonzero(truncated & ~terminated):  # a time limit is no ending
            with torch.no_grad():
                next_values[t, i] = critic(torch.as_tensor(infos["final_obs"][i])).item()
    with torch.no_grad():
        last = critic(torch.from_numpy(np.asarray(obs, np.float32))).squeeze(-1).numpy()
    next_values[-1] = np.where(done[-1], next_values[-1], last)
    frames += rewards.size

    # Advantages
    advantages, running = np.zeros(shape, np.float32), np.zeros(args.num_envs, np.float32)
    for t in reversed(range(args.num_steps)):
        delta = rewards[t] + gamma * next_values[t] - values[t]
        running = delta + gamma * gae_lambda * ~done[t] * running
        advantages[t] = running

    # Update
    parts = (seen, taken, log_probs, advantages, advantages + values)
    batch = [torch.from_numpy(x.reshape(rewards.size, *x.shape[2:])) for x in parts]
    for _ in range(passes):
        for chosen in np.array_split(rng.permutation(rewards.size), rewards.size // minibatch_size):
            b_obs, b_actions, b_log_probs, b_adv, b_returns = (x[chosen] for x in batch)
            policy = torch.distributions.Categorical(logits=actor(b_obs))
            ratio = (policy.log_prob(b_actions) - b_log_probs).exp()
            b_adv = (b_adv - b_adv.mean()) / (b_adv.std() + 1e-8)
            gain = torch.min(ratio * b_adv, ratio.clamp(1 - clip, 1 + clip) * b_adv).mean()
            value_loss = 0.5 * (critic(b_obs).squeeze(-1) - b_returns).square().mean()
            loss = -gain + value_loss - 0.001 * policy.entropy().mean()
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_([*actor.parameters(), *critic.parameters()], 0.5)
            optimiser.step()

    curriculum, episodes = bp.advance(envs, curriculum, frames)  # 2: move the starts back
    true_starts = [e.success for e in episodes if e.start and e.start.step == 0]  # 3: see
    share = f"{np.mean(true_starts):.0%}" if true_starts else "–"
    print(f"{frames:>8} frames  true start {share:>4}  {curriculum.describe()}")
