"""Follow a training with Weights & Biases (offline, nothing is sent) and TensorBoard.

pip install "backplay[tensorboard]" wandb
python examples/tracking.py --frames 50000
wandb sync tracked/wandb/offline-run-*      # when you want it on a server
tensorboard --logdir tracked/tensorboard
"""

import argparse
from pathlib import Path

import gymnasium as gym
import wandb

import backplay as bp
from backplay.integrations.tensorboard import open_logs

parser = argparse.ArgumentParser()
parser.add_argument("--frames", type=int, default=50_000)
parser.add_argument("--dir", type=Path, default=Path("tracked"))
args = parser.parse_args()


def make():
    return gym.make("FrozenLake-v1", map_name="8x8", is_slippery=False)


demo = bp.record(make(), [2] * 7 + [1] * 7, seed=0)
args.dir.mkdir(parents=True, exist_ok=True)
run = wandb.init(project="backplay", mode="offline", dir=args.dir, config={"frames": args.frames})
with open_logs(args.dir / "tensorboard", resumed_at=0) as tensorboard:

    def follow(progress):
        """Told after every update what came of it."""
        tensorboard(progress)
        told = {f"learner/{name}": value for name, value in progress.metrics.items()}
        if progress.evaluation is not None:
            told["success/true_start"] = progress.evaluation.success
        run.log({**told, "starts": progress.starts}, step=progress.frames)

    agent = bp.train(make, [demo], frames=args.frames, show_progress=follow)
run.finish()
print(f"from the true start: {bp.evaluate(make, agent)}")
