"""Networks: shapes for every space, what the guesses decide, initial weights, distributions."""

import warnings
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium import spaces

from backplay.errors import BackplayError
from backplay.learners.encoders import Image, is_channels_last, make_encoder
from backplay.learners.networks import make_network
from backplay.learners.observations import as_tensors, numeric

torch.set_num_threads(1)

OBSERVATIONS = [
    spaces.Box(-1, 1, (5,), np.float32),
    spaces.Box(-1, 1, (2, 3), np.float64),
    spaces.Box(-1, 1, (), np.float32),
    spaces.Discrete(4, start=-2),
    spaces.MultiDiscrete([2, 3]),
    spaces.MultiDiscrete([[2, 3], [4, 5]]),
    spaces.MultiBinary([2, 2]),
    spaces.Box(0, 255, (7, 7, 3), np.uint8),
    spaces.Box(0, 255, (3, 3, 3), np.uint8),
    spaces.Box(0, 1, (4, 24, 24), np.float32),
    spaces.Box(0, 255, (64, 80, 3), np.uint8),
    spaces.Box(0, 255, (4, 84, 84), np.uint8),
    spaces.Box(-1, 9, (8, 8, 2), np.int64),
    spaces.Dict({"a.b": spaces.Discrete(3), "type": spaces.Box(-1, 1, (2,))}),
    spaces.Dict(image=spaces.Box(0, 255, (7, 7, 3), np.uint8), mission=spaces.Text(9)),
]
ACTIONS = [
    (spaces.Discrete(5), 5),
    (spaces.MultiDiscrete([2, 3]), 5),
    (spaces.MultiBinary(3), 6),
    (spaces.Box(-1, 1, (2, 2)), 8),
]


def batch_of(space: spaces.Space[Any], rows: int = 3) -> Any:
    """A batch of samples as a vector env gives them, as tensors."""
    space.seed(0)
    samples = [space.sample() for _ in range(rows)]
    empty = gym.vector.utils.create_empty_array(space, rows)
    return as_tensors(numeric(gym.vector.utils.concatenate(space, samples, empty)))


@pytest.mark.parametrize("space", OBSERVATIONS, ids=str)
def test_every_observation_space(space: spaces.Space[Any]) -> None:
    parameters, values = make_network(space, spaces.Discrete(5), seed=0)(batch_of(space))
    assert parameters.shape == (3, 5)
    assert values.shape == (3,)
    assert parameters.dtype == values.dtype == torch.float32
    assert values.std() > 0  # the observation matters


@pytest.mark.parametrize(("space", "size"), ACTIONS, ids=str)
def test_every_action_space(space: spaces.Space[Any], size: int) -> None:
    observations = spaces.Box(-1, 1, (4,))
    parameters, values = make_network(observations, space, seed=0)(batch_of(observations))
    assert parameters.shape == (3, size)
    assert values.shape == (3,)


def test_one_hot_marks_the_categories() -> None:
    encoder = make_encoder(spaces.MultiDiscrete([2, 3], start=[1, -1]), torch.Generator())
    features = encoder(torch.tensor([[1, -1], [2, 1]]))
    assert features.tolist() == [[1, 0, 1, 0, 0], [0, 1, 0, 0, 1]]


def test_dict_entries_are_concatenated_in_order() -> None:
    space = spaces.Dict(a=spaces.Discrete(2), b=spaces.Box(-1, 1, (2,)))
    encoder = make_encoder(space, torch.Generator())
    features = encoder({"a": torch.tensor([1]), "b": torch.tensor([[0.5, -0.5]])})
    assert features.tolist() == [[0, 1, 0.5, -0.5]]


def test_grid_categories_are_names_not_magnitudes() -> None:
    grid = spaces.Box(0, 255, (7, 7, 3), np.uint8)
    encoder = make_encoder(grid, torch.Generator().manual_seed(0))
    assert isinstance(encoder, Image)
    cells = torch.zeros(1, 3, 7, 7, dtype=torch.uint8)
    cells[0, :, 2, 4] = torch.tensor([8, 1, 255])
    vectors = encoder.categories(cells)
    table = encoder.categories.table
    expected = table[8] + table[256 + 1] + table[512 + 255]
    torch.testing.assert_close(vectors[0, :, 2, 4], expected)
    torch.testing.assert_close(vectors[0, :, 4, 2], table[0] + table[256] + table[512])


def test_grid_categories_count_from_the_lower_bound() -> None:
    encoder = make_encoder(spaces.Box(-1, 9, (8, 8, 2), np.int64), torch.Generator())
    assert isinstance(encoder, Image)
    vectors = encoder.categories(torch.full((1, 2, 8, 8), -1))
    table = encoder.categories.table
    assert len(table) == 2 * 11
    torch.testing.assert_close(vectors[0, :, 0, 0], table[0] + table[11])


@pytest.mark.parametrize(
    ("space", "expected"),
    [
        (spaces.Box(0, 255, (7, 7, 3), np.uint8), True),
        (spaces.Box(0, 10, (30, 30, 3), np.int64), True),
        (spaces.Box(0, 255, (64, 64, 3), np.uint8), False),
        (spaces.Box(0, 1, (4, 24, 24), np.uint8), False),  # planes are numbers already
        (spaces.Box(0, 255, (7, 7, 3), np.float32), False),
    ],
    ids=str,
)
def test_which_images_hold_categories(space: spaces.Box, expected: bool) -> None:
    encoder = make_encoder(space, torch.Generator())
    assert isinstance(encoder, Image)
    assert (encoder.categories is not None) == expected
    asked = make_encoder(space, torch.Generator(), categorical=False)
    assert isinstance(asked, Image)
    assert asked.categories is None


def test_a_picture_of_middle_size_has_no_larger_network_than_a_large_one() -> None:
    def size(side: int) -> int:
        space = spaces.Box(0, 255, (side, side, 3), np.uint8)
        made = make_network(space, spaces.Discrete(4), seed=0)
        return sum(part.numel() for part in made.parameters())

    assert size(20) < size(40) < size(63) < 2 * size(64)


@pytest.mark.parametrize(
    ("shape", "expected"),
    [((7, 7, 3), True), ((4, 84, 84), False), ((210, 160, 3), True), ((3, 210, 160), False),
     ((5, 5, 20), True), ((3, 3, 3), True)],
)  # fmt: skip
def test_which_axis_holds_the_channels(shape: tuple[int, ...], expected: bool) -> None:
    assert is_channels_last(shape) == expected


def test_both_layouts_of_an_image_give_the_same() -> None:
    last = make_network(spaces.Box(0, 255, (64, 70, 3), np.uint8), spaces.Discrete(2), seed=0)
    first = make_network(spaces.Box(0, 255, (3, 64, 70), np.uint8), spaces.Discrete(2), seed=0)
    images = torch.randint(0, 256, (2, 64, 70, 3), dtype=torch.uint8)
    for left, right in zip(last(images), first(images.permute(0, 3, 1, 2)), strict=True):
        torch.testing.assert_close(left, right)


def test_pictures_are_scaled_to_one() -> None:
    encoder = make_encoder(spaces.Box(0, 255, (64, 64, 3), np.uint8), torch.Generator())
    white = torch.full((1, 64, 64, 3), 255, dtype=torch.uint8)
    expected = encoder.convolutions(torch.ones(1, 3, 64, 64)).flatten(1)
    torch.testing.assert_close(encoder(white), expected)


def test_actor_and_critic_are_separate_for_vectors_and_share_for_images() -> None:
    def critic_moves_actor(space: spaces.Space[Any]) -> bool:
        network = make_network(space, spaces.Discrete(2), seed=0)
        observations = batch_of(space)
        values = network(observations)[1]
        gradients = torch.autograd.grad(
            values.sum(), list(network.parameters()), allow_unused=True, materialize_grads=True
        )
        before = network(observations)[0].detach()
        with torch.no_grad():
            for parameter, gradient in zip(network.parameters(), gradients, strict=True):
                parameter += gradient
        return not torch.equal(network(observations)[0].detach(), before)

    assert not critic_moves_actor(spaces.Box(-1, 1, (4,)))
    assert critic_moves_actor(spaces.Box(0, 255, (7, 7, 3), np.uint8))


def test_separate_trunks_compute_two_plain_networks() -> None:
    network = make_network(spaces.Box(-1, 1, (4,)), spaces.Discrete(2), seed=0, hidden=(8, 6))
    inputs = torch.randn(5, 4, generator=torch.Generator().manual_seed(0))
    state = network.state_dict()
    for which, output, head in zip((0, 1), network(inputs), ("policy", "value"), strict=True):
        features = inputs
        for layer in range(2):
            weight = state[f"trunk.weights.{layer}"][which]
            assert weight.shape[1] == (8, 6)[layer]
            features = torch.tanh(features @ weight + state[f"trunk.biases.{layer}"][which])
        expected = features @ state[f"{head}.weight"].T + state[f"{head}.bias"]
        torch.testing.assert_close(output.reshape(expected.shape), expected)


def test_weights_start_orthogonal_with_the_asked_gains() -> None:
    network = make_network(
        spaces.Box(-1, 1, (4,)), spaces.Discrete(3), seed=0, policy_gain=0.5, value_gain=2.0
    )
    state = network.state_dict()
    for pair in (state["trunk.weights.0"], state["trunk.weights.1"]):
        for weight in pair:
            torch.testing.assert_close(
                weight @ weight.T, 2 * torch.eye(len(weight)), atol=1e-5, rtol=0
            )
    policy, value = state["policy.weight"], state["value.weight"]
    torch.testing.assert_close(policy @ policy.T, 0.25 * torch.eye(3), atol=1e-5, rtol=0)
    torch.testing.assert_close(value @ value.T, 4 * torch.eye(1), atol=1e-5, rtol=0)
    assert all(not part.any() for key, part in state.items() if "bias" in key)


def test_the_seed_alone_decides_the_weights() -> None:
    space = spaces.Dict(image=spaces.Box(0, 255, (7, 7, 3), np.uint8), goal=spaces.Discrete(2))

    def weights(seed: int) -> list[torch.Tensor]:
        network = make_network(space, spaces.Box(-1, 1, (2,)), seed=seed)
        return list(network.state_dict().values())

    before = torch.get_rng_state()
    first = weights(0)
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(1)
    assert all(torch.equal(a, b) for a, b in zip(first, weights(0), strict=True))
    assert any(not torch.equal(a, b) for a, b in zip(first, weights(1), strict=True))


@pytest.mark.parametrize(
    "space", [spaces.Text(3), spaces.Tuple([spaces.Discrete(2)])], ids=["text", "tuple"]
)
def test_unknown_spaces_are_named(space: spaces.Space[Any]) -> None:
    with pytest.raises(BackplayError, match="observation space"):
        make_network(space, spaces.Discrete(2), seed=0)
    with pytest.raises(BackplayError, match="action space"):
        make_network(spaces.Discrete(2), space, seed=0)


def seen_as(space: spaces.Box, examples: Any, row: Any) -> list[float]:
    listed = None if examples is None else list(examples)
    encoder = make_encoder(space, torch.Generator(), examples=listed)
    return encoder(torch.as_tensor(np.array([row], space.dtype)))[0].tolist()


def test_vectors_are_scaled_by_examples() -> None:
    space = spaces.Box(-np.inf, np.inf, (3,))
    examples = np.array([[100.0, 0.01, 5.0], [102.0, 0.03, 5.0]], np.float32)
    assert seen_as(space, examples, examples[0]) == pytest.approx([-1, -1, 0], abs=1e-3)
    assert seen_as(space, examples, [103.0, 0.02, 6.0]) == pytest.approx([2, 0, 1], abs=1e-3)
    assert seen_as(space, examples, [1e6, -1e6, 5.5]) == pytest.approx([10, -10, 0.5], abs=1e-3)
    assert seen_as(space, None, [1e6, -1e6, 5.5]) == [1e6, -1e6, 5.5]


def test_what_is_the_same_in_all_examples_is_scaled_by_far_bounds() -> None:
    """A place in pixels that differs from episode to episode, of which one was demonstrated."""
    examples = np.array([[300.0], [300.0]], np.float32)
    pixels = spaces.Box(0, 600, (1,))
    assert seen_as(pixels, examples, [100.0]) == pytest.approx([-2.0])
    assert seen_as(pixels, examples, [600.0]) == pytest.approx([3.0])
    for low, high in (
        (294.5, 305.5),
        (-np.inf, np.inf),
        (0, 3e38),
    ):  # near, none, and said for form
        space = spaces.Box(low, high, (1,), np.float32)
        assert seen_as(space, examples, [302.0]) == pytest.approx([2.0])


def test_what_is_rare_in_the_examples_is_not_blown_up() -> None:
    once = np.zeros((100, 1), np.float32)
    once[7] = 1.0
    space = spaces.Box(0, 1, (1,))
    assert seen_as(space, once, [1.0]) == pytest.approx([3.0])


def test_numbers_that_hardly_vary_keep_their_scale() -> None:
    examples = np.array([[100_000.0], [100_000.5]], np.float32)
    assert seen_as(spaces.Box(0, 2e5, (1,)), examples, [100_001.25]) == pytest.approx([1.0])


def test_a_map_may_begin_far_away() -> None:
    """Metres of a grid of the country: 100 of them, half a million from where it begins."""
    examples = [np.array([500_000.0 + metres]) for metres in range(101)]
    space = spaces.Box(-np.inf, np.inf, (1,), np.float64)
    places = [seen_as(space, examples, row)[0] for row in (examples[0], examples[25], examples[50])]
    assert places == pytest.approx([-1.71, -0.86, 0.0], abs=0.01)


def test_whole_numbers_within_small_bounds_are_categories_too() -> None:
    low, high = np.array([-1, 0, 0, 0, 0]), np.array([1, 4, 70, 1, 9])
    space = spaces.Box(low.astype(np.float32), high.astype(np.float32))
    examples = np.array([[-1, 0, 0, 0, 2.5], [1, 4, 70, 1, 3.0]], np.float32)  # the last is not
    row = [0.0, 3.0, 35.0, 1.0, 2.75]
    scaled, first, second = [0, 0.5, 0, 1, 0], [0, 1, 0], [0, 0, 0, 1, 0]
    assert seen_as(space, examples, row) == pytest.approx([*scaled, *first, *second], abs=1e-6)
    beyond = seen_as(space, examples, [7.0, -2.0, 35.0, 1.0, 2.75])  # counts as the nearest
    assert beyond[5:] == [0, 0, 1, 1, 0, 0, 0, 0]
    assert seen_as(space, None, row) == row  # nothing says that they are whole
    wide = spaces.Box(0, 63, (200,))
    zeros = np.zeros(200, np.float32)
    assert len(seen_as(wide, [zeros], zeros)) == 200  # 12,800 categories are too many
    edge = spaces.Box(np.zeros(2, np.float32), np.array([63, 64], np.float32))
    assert len(seen_as(edge, np.zeros((2, 2)), [0.0, 0.0])) == 2 + 64  # 65 values are too many
    halves = spaces.Box(-0.5, 9.5, (1,))
    assert seen_as(halves, np.zeros((2, 1)), [3.0]) == [3.0]


@pytest.mark.parametrize("far", [1e30, np.inf])
def test_a_number_far_beyond_small_bounds_is_the_nearest_category(far: float) -> None:
    space, examples = spaces.Box(0, 2, (2,)), np.array([[0, 2]], np.float32)
    assert seen_as(space, examples, [far, -far])[2:] == [0, 0, 1, 1, 0, 0]


@pytest.mark.parametrize("kind", ["u1", "u2", "u4", "u8", "i1", "i2", "i8", "f2", "f8"])
def test_whole_numbers_of_every_type_are_categories(kind: str) -> None:
    space = spaces.Box(1, 3, (2,), np.dtype(kind))
    examples = np.array([[1, 3]], space.dtype)
    assert seen_as(space, examples, [2, 1])[2:] == [0, 1, 0, 1, 0, 0]


def test_bounds_as_far_apart_as_can_be_are_no_categories() -> None:
    most = np.finfo(np.float64).max
    space = spaces.Box(-most, most, (1,), np.float64)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert seen_as(space, np.zeros((1, 1)), [3.0]) == [3.0]


def test_parts_of_a_dict_are_scaled_apart_and_texts_and_categories_left_alone() -> None:
    space = spaces.Dict(
        speed=spaces.Box(-1, 1, (1,)), cell=spaces.Discrete(3), mission=spaces.Text(9)
    )
    examples = [{"speed": np.array([x], np.float32), "cell": 2, "mission": "go"} for x in (0, 0.02)]
    encoder = make_encoder(space, torch.Generator(), examples=examples)
    batch = {"speed": torch.tensor([[0.02]]), "cell": torch.tensor([2])}
    by_key = {"speed": [1.0], "cell": [0.0, 0.0, 1.0]}
    wanted = [x for key in space if key in by_key for x in by_key[key]]
    assert encoder(batch)[0].tolist() == pytest.approx(wanted)


def test_the_scale_goes_with_the_weights() -> None:
    space, actions = spaces.Box(-1, 1, (2,)), spaces.Discrete(2)
    examples = [np.array(row, np.float32) for row in ((0.0, 0.1), (0.01, 0.2))]
    taught = make_network(space, actions, seed=0, examples=examples)
    other = make_network(space, actions, seed=1)
    other.load_state_dict(taught.state_dict())
    batch = torch.tensor([[0.02, -0.7]])
    assert other(batch)[1].item() == taught(batch)[1].item()
    assert len(list(taught.parameters())) == len(list(other.parameters()))
