"""TorchRL's collector and PPO loss; the curriculum is moved between two batches.

pip install "backplay[train]" torchrl
python examples/torchrl_ppo.py --frames 120000
"""

import argparse

import gymnasium as gym
import numpy as np
import torch
from tensordict import TensorDict
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.collectors import Collector
from torchrl.envs import GymWrapper, TransformedEnv
from torchrl.envs.transforms import Compose, DoubleToFloat, ObservationNorm
from torchrl.modules import OneHotCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

import backplay as bp

parser = argparse.ArgumentParser()
parser.add_argument("--frames", type=int, default=120_000)
parser.add_argument("--batch", type=int, default=2_048)
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
torch.manual_seed(args.seed)
torch.set_num_threads(1)

demo = bp.record(gym.make("MountainCar-v0"), lambda seen: 2 if seen[1] >= 0 else 0, seed=7)
curriculum = bp.Frontier()
wrapped = bp.BackplayEnv(gym.make("MountainCar-v0"), [demo], curriculum)  # 1: the wrapper
seen = torch.as_tensor(np.array(demo.observations))
scale = ObservationNorm(
    seen.mean(0), seen.std(0), in_keys=["observation"], standard_normal=True
)  # its numbers are far from 1
env = TransformedEnv(GymWrapper(wrapped), Compose(DoubleToFloat(), scale))
env.set_seed(args.seed)


def network(outputs: int) -> nn.Module:
    return nn.Sequential(
        nn.Linear(2, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, outputs)
    )


actor = ProbabilisticActor(
    TensorDictModule(network(3), in_keys=["observation"], out_keys=["logits"]),
    spec=env.action_spec, in_keys=["logits"], distribution_class=OneHotCategorical,
    return_log_prob=True,
)  # fmt: skip
critic = ValueOperator(network(1), in_keys=["observation"])
advantage = GAE(gamma=0.99, lmbda=0.95, value_network=critic)
loss_of = ClipPPOLoss(actor, critic, clip_epsilon=0.2, entropy_coeff=0.001)
optimiser = torch.optim.Adam(loss_of.parameters(), lr=1e-3, eps=1e-5)

frames = 0
collector = Collector(
    env, actor, frames_per_batch=args.batch, total_frames=args.frames // args.batch * args.batch
)
for batch in collector:
    frames += batch.numel()
    with torch.no_grad():
        advantage(batch)
    steps = batch.reshape(-1)
    for _ in range(8):
        for chosen in torch.randperm(len(steps)).split(256):
            losses = loss_of(steps[chosen])
            loss = sum(value for name, value in losses.items() if name.startswith("loss_"))
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(loss_of.parameters(), 0.5)
            optimiser.step()

    episodes = wrapped.take_episodes()
    curriculum = curriculum.update(episodes, frames)  # 2: move the starts back
    wrapped.set_curriculum(curriculum)
    true_starts = [e.success for e in episodes if e.start and e.start.step == 0]  # 3: see
    share = f"{sum(true_starts) / len(true_starts):.0%}" if true_starts else "–"
    print(f"{frames:>8} frames  true start {share:>4}  {curriculum.describe()}", flush=True)
collector.shutdown()


def act(observation):
    """The actor's likeliest action."""
    with torch.no_grad():
        return int(actor.get_dist(scaled(observation)).logits.argmax())


def scaled(observation):
    return TensorDict(observation=(torch.as_tensor(observation) - seen.mean(0)) / seen.std(0))


measured = bp.evaluate(lambda: gym.make("MountainCar-v0"), act, demos=[demo])
print(f"from the true start: {measured}")
