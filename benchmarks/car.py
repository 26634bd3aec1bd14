"""A copy of MountainCar with a copy of Stable-Baselines3's PPO, for `choose_curriculum.py`.

Comes in: a curriculum, a seed. Goes out: success from the true start. Both are written out in
numpy: a run of 300,000 frames takes some 10 s of one core instead of 130. Differs from the original
in its random streams alone.
"""

import gymnasium as gym
import numpy as np

from backplay import curricula
from backplay.records import Episode, Start, steps_allowed

FRAMES, ENVS, STEPS, BATCH, EPOCHS = 300_000, 8, 2048, 64, 10
GAMMA, LAMBDA, CLIP, RATE, NORM = 0.99, 0.95, 0.2, 3e-4, 0.5
LIMIT, EVERY = 200, 125  # the env's time limit; steps between two updates of the curriculum


def drive(states: np.ndarray, actions: np.ndarray) -> np.ndarray:
    """The next states [n, 2], position and velocity."""
    position, velocity = states.T
    velocity = velocity + (actions - 1) * 0.001 - 0.0025 * np.cos(3 * position)
    velocity = np.clip(velocity, -0.07, 0.07)
    position = np.clip(position + velocity, -1.2, 0.6)
    return np.stack([position, np.where((position == -1.2) & (velocity < 0), 0, velocity)], 1)


def demonstration() -> np.ndarray:
    """Push in the direction of the motion; the shortest of ten episodes: states [114, 2]."""
    found = []
    for seed in range(10):
        env = gym.make("MountainCar-v0")
        path, over = [env.reset(seed=seed)[0]], False
        while not over:
            seen, _, terminated, truncated, _ = env.step(2 if path[-1][1] >= 0 else 0)
            path.append(seen)
            over = terminated or truncated
        found.append(np.array(path[:-1], np.float64))
    return min(found, key=len)


class Network:
    """2 - 64 - 64 - outputs with tanh; its weights are parts of one flat array."""

    def __init__(self, outputs: int) -> None:
        self.shapes = [(2, 64), (64,), (64, 64), (64,), (64, outputs), (outputs,)]

    def bind(self, flat: np.ndarray) -> None:
        """Takes its weights from the front of `flat`."""
        ends = np.cumsum([int(np.prod(shape)) for shape in self.shapes])
        parts = np.split(flat[: ends[-1]], ends[:-1])
        self.w = [part.reshape(shape) for part, shape in zip(parts, self.shapes, strict=True)]

    def forward(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        first = np.tanh(x @ self.w[0] + self.w[1])
        second = np.tanh(first @ self.w[2] + self.w[3])
        return first, second, second @ self.w[4] + self.w[5]

    def backward(self, x, first, second, out) -> list[np.ndarray]:
        inner = (out @ self.w[4].T) * (1 - second**2)
        outer = (inner @ self.w[2].T) * (1 - first**2)
        return [
            x.T @ outer, outer.sum(0), first.T @ inner, inner.sum(0), second.T @ out, out.sum(0),
        ]  # fmt: skip


def orthogonal(rng: np.random.Generator, shape: tuple[int, int], gain: float) -> np.ndarray:
    q, r = np.linalg.qr(rng.normal(size=(max(shape), min(shape))))
    q = q * np.sign(np.diag(r))
    return gain * (q if shape[0] >= shape[1] else q.T)


class Learner:
    """PPO at Stable-Baselines3's defaults."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng, self.pi, self.v = rng, Network(3), Network(1)
        gains = ((2**0.5, 2**0.5, 0.01), (2**0.5, 2**0.5, 1.0))
        made = []
        for net, of in zip((self.pi, self.v), gains, strict=True):
            for k, shape in enumerate(net.shapes):
                made.append(orthogonal(rng, shape, of[k // 2]) if k % 2 == 0 else np.zeros(shape))
        self.flat = np.concatenate([part.ravel() for part in made]).astype(np.float32)
        self.mean, self.square, self.count = np.zeros_like(self.flat), np.zeros_like(self.flat), 0
        self.pi.bind(self.flat)
        self.v.bind(self.flat[sum(w.size for w in self.pi.w) :])

    def update(self, seen, actions, before, advantages, returns) -> None:
        for _ in range(EPOCHS):
            for rows in self.rng.permutation(len(seen)).reshape(-1, BATCH):
                self._step(seen[rows], actions[rows], before[rows], advantages[rows], returns[rows])

    def _step(self, x, action, before, advantage, returns) -> None:
        each = np.arange(BATCH)
        advantage = (advantage - advantage.mean()) / (advantage.std(ddof=1) + 1e-8)
        first, second, logits = self.pi.forward(x)
        chance = softmax(logits)
        ratio = chance[each, action] / np.exp(before)
        cut = np.where(advantage > 0, ratio > 1 + CLIP, ratio < 1 - CLIP)
        weight = np.where(cut, 0.0, -advantage * ratio) / BATCH
        slope = -chance * weight[:, None]
        slope[each, action] += weight
        gradient = self.pi.backward(x, first, second, slope.astype(np.float32))
        first, second, value = self.v.forward(x)
        error = ((value[:, 0] - returns) / BATCH)[:, None].astype(np.float32)  # vf_coef is 0.5
        gradient += self.v.backward(x, first, second, error)
        flat = np.concatenate([part.ravel() for part in gradient])
        flat *= min(1.0, NORM / (float(np.sqrt(flat @ flat)) + 1e-6))
        self.count += 1
        self.mean += 0.1 * (flat - self.mean)
        self.square += 0.001 * (flat * flat - self.square)
        scale = np.sqrt(self.square / (1 - 0.999**self.count)) + 1e-5
        self.flat -= RATE / (1 - 0.9**self.count) * self.mean / scale


def softmax(logits: np.ndarray) -> np.ndarray:
    raised = np.exp(logits - logits.max(1, keepdims=True))
    return raised / raised.sum(1, keepdims=True)


class Cars:
    """Cars that start where a curriculum says."""

    def __init__(self, curriculum: curricula.Curriculum, rng: np.random.Generator) -> None:
        self.curriculum, self.rng, self.demo = curriculum, rng, demonstration()
        self.states, self.starts = np.zeros((ENVS, 2)), np.zeros(ENVS, int)
        self.clocks, self.lengths = np.zeros(ENVS, int), np.zeros(ENVS, int)
        self.finished: list[Episode] = []
        for i in range(ENVS):
            self.begin(i)

    def begin(self, i: int) -> None:
        step = int(self.curriculum.sample([len(self.demo)], 1, self.rng)[1][0])
        self.states[i] = self.demo[step] if step else (self.rng.uniform(-0.6, -0.4), 0.0)
        self.starts[i], self.clocks[i], self.lengths[i] = step, step, 0

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Arrived [n], out of time [n], and the states then."""
        self.states[:] = drive(self.states, actions)
        self.clocks += 1
        self.lengths += 1
        back = len(self.demo) - self.starts
        arrived = self.states[:, 0] >= 0.5
        late = self.lengths >= steps_allowed(self.curriculum.patience, back)
        late = ~arrived & (late | (self.clocks >= LIMIT))
        then = self.states.copy()
        for i in np.flatnonzero(arrived | late):
            start, cost = Start(0, int(self.starts[i])), -float(self.lengths[i])
            end = (cost, int(self.lengths[i]), bool(arrived[i]), int(back[i]), -float(back[i]))
            self.finished.append(Episode(start, *end))
            self.begin(i)
        return arrived, late, then


def run(curriculum: curricula.Curriculum, seed: int) -> dict:
    """Success from the true start at the end, and what training episodes from it came to."""
    rng = np.random.default_rng(seed)
    learner, cars, frames, curve = Learner(rng), Cars(curriculum, rng), 0, []
    while frames < FRAMES:
        seen = np.zeros((STEPS, ENVS, 2), np.float32)
        actions, logs = np.zeros((STEPS, ENVS), int), np.zeros((STEPS, ENVS), np.float32)
        rewards, ended = np.full((STEPS, ENVS), -1.0), np.zeros((STEPS, ENVS), bool)
        values, told = np.zeros((STEPS + 1, ENVS)), []
        for k in range(STEPS):
            seen[k] = cars.states
            chance = softmax(learner.pi.forward(seen[k])[2])
            actions[k] = (chance.cumsum(1) < rng.random((ENVS, 1))).sum(1).clip(0, 2)
            logs[k] = np.log(chance[np.arange(ENVS), actions[k]])
            values[k] = learner.v.forward(seen[k])[2][:, 0]
            arrived, late, then = cars.step(actions[k])
            if late.any():
                beyond = learner.v.forward(then.astype(np.float32))[2][:, 0]
                rewards[k] += GAMMA * np.where(late, beyond, 0.0)
            ended[k] = arrived | late
            frames += ENVS
            if k % EVERY == EVERY - 1:
                cars.curriculum = cars.curriculum.update(cars.finished, frames)
                told += cars.finished
                cars.finished = []
        values[STEPS] = learner.v.forward(cars.states.astype(np.float32))[2][:, 0]
        advantages, now = np.zeros((STEPS, ENVS)), np.zeros(ENVS)
        for k in reversed(range(STEPS)):
            on = GAMMA * ~ended[k]
            now = rewards[k] + on * values[k + 1] - values[k] + LAMBDA * on * now
            advantages[k] = now
        returns = (advantages + values[:STEPS]).ravel()
        learner.update(
            seen.reshape(-1, 2), actions.ravel(), logs.ravel(), advantages.ravel(), returns
        )
        wins = [e.success for e in told if e.start and e.start.step == 0]
        curve.append(round(float(np.mean(wins)), 2) if wins else None)
    return {"sampled": measured(learner, False), "greedy": measured(learner, True), "curve": curve}


def measured(learner: Learner, greedy: bool, episodes: int = 200) -> float:
    """Success from the true start."""
    rng = np.random.default_rng(9)
    states = np.stack([rng.uniform(-0.6, -0.4, episodes), np.zeros(episodes)], 1)
    won = np.zeros(episodes, bool)
    for _ in range(LIMIT):
        logits = learner.pi.forward(states.astype(np.float32))[2]
        noise = 0.0 if greedy else rng.gumbel(size=logits.shape)
        states = np.where(won[:, None], states, drive(states, (logits + noise).argmax(1)))
        won |= states[:, 0] >= 0.5
    return float(won.mean())
