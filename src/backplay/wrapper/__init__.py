"""Episodes that start where a curriculum says: in one env, in all workers of a vector env."""

from backplay.wrapper.env import BackplayEnv
from backplay.wrapper.resume import ResumableBackplayEnv
from backplay.wrapper.vector import BackplayVector, advance, set_curriculum, take_episodes
