"""The billiard table and the robot of the site, in Node, against losses and gradients of DiffTaichi.

The numbers in `references/` were computed by its two programs in double precision. The robot's gradient
has 4,107 entries; kept are the sums of the rows and of the columns of its matrices.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from e2e.bench import elsewhere
from e2e.node import returned

REFERENCES = Path(__file__).parent / "references"
HIDDEN, SPRINGS, INPUTS = 32, 61, 116

Run = Callable[..., Any]


@pytest.fixture
def run(node: Callable[[str], str], tmp_path: Path) -> Run:
    """What the body of an async function returns, as JSON; it has the models, and `data` as given."""
    path = tmp_path / "data.json"

    def run(body: str, data: object = None) -> Any:
        path.write_text(json.dumps(data))
        head = f"""
            import {{ readFileSync }} from "node:fs";
            import {{ ready }} from "./rose.js";
            import * as collisions from "./site/billiards/collisions.js";
            import {{ CELLS, build }} from "./site/robot/body.js";
            import {{ walker }} from "./site/robot/walker.js";
            const data = JSON.parse(readFileSync({json.dumps(str(path))}));
            await ready();"""
        return returned(node, head, body)

    return run


def reference(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((REFERENCES / f"{name}.json").read_text())
    return found


def apart(found: list[float], expected: list[float]) -> float:
    """The largest relative difference."""
    return max(abs(a / b - 1) for a, b in zip(found, expected, strict=True))


# ---- billiards ----------------------------------------------------------------------


def test_two_hundred_shots_have_the_losses_of_the_reference(run: Run) -> None:
    losses, first, grazed = run(
        """const aim = await collisions.aim();
        const shot = { x: [0.1, 0.5], v: [0.3, 0] };
        const losses = [];
        let first;
        for (let k = 0; k < 200; ++k) {
          const { loss, grad } = aim(shot, [0.9, 0.75], 10);
          losses.push(loss);
          first ??= grad;
          for (const c of [0, 1]) {
            shot.x[c] -= 0.01 * grad.x[c];
            shot.v[c] -= 0.01 * grad.v[c];
          }
        }
        // away from the rack: nothing is touched
        return [losses, first, aim({ x: [0.1, 0.5], v: [-0.3, 0] }, [0.9, 0.75], 10).grad];"""
    )
    expected = reference("billiards")
    assert apart(losses, expected["loss"]) < 1e-9
    for part in ("x", "v"):
        assert first[part] == pytest.approx(expected["gradient"][part], rel=1e-10)
    assert grazed == {"x": [0, 0], "v": [0, 0]}


def test_frames_of_a_game_end_where_its_loss_is_measured(run: Run) -> None:
    frames, loss, count = run(
        """const shot = { x: [0.1, 0.5], v: [0.3, 0] };
        const frames = (await collisions.play())(shot);
        return [frames, (await collisions.aim())(shot, [0.9, 0.75], 4).loss, collisions.FRAMES];"""
    )
    assert len(frames) == count
    x, y = frames[-1][4]
    assert (x - 0.9) ** 2 + (y - 0.75) ** 2 == pytest.approx(loss, rel=1e-12)
    # until the cue ball arrives it rolls, and nothing else moves
    assert frames[9][0] == pytest.approx([0.1 + 0.3 * 40 * 0.003, 0.5], rel=1e-13)
    assert frames[9][1:] == frames[0][1:]
    # nowhere do two balls overlap by more than a time step's way
    assert min(math.dist(a, b) for balls in frames for a in balls for b in balls if a is not b) > 0.059


# ---- the robot ----------------------------------------------------------------------


def gaussians(seed: int) -> Callable[[], float]:
    """Normal numbers as numpy's `RandomState(seed).randn()` makes them: by the polar method, from the
    generator that Python has too, but for its way to begin."""
    state = [seed]
    for i in range(1, 624):
        state.append((1812433253 * (state[-1] ^ (state[-1] >> 30)) + i) & 0xFFFFFFFF)
    source = random.Random()
    source.setstate((3, (*state, 624), None))
    spare: list[float] = []

    def draw() -> float:
        if spare:
            return spare.pop()
        while True:
            a, b = 2 * source.random() - 1, 2 * source.random() - 1
            square = a * a + b * b
            if 0 < square < 1:
                factor = math.sqrt(-2 * math.log(square) / square)
                spare.append(factor * a)
                return factor * b

    return draw


def matrix(draw: Callable[[], float], rows: int, columns: int, scale: float) -> list[list[float]]:
    return [[draw() * scale for _ in range(columns)] for _ in range(rows)]


def first_network(muscles: list[int]) -> dict[str, Any]:
    """The reference's, which has an output for each spring: those of the muscles, as no other matters."""
    draw = gaussians(0)
    hidden = matrix(draw, HIDDEN, INPUTS, 2 * math.sqrt(2 / (HIDDEN + INPUTS)))
    output = matrix(draw, SPRINGS, HIDDEN, 3 * math.sqrt(2 / (HIDDEN + SPRINGS)))
    return {
        "hidden": {"weights": hidden, "bias": [0] * HIDDEN},
        "output": {"weights": [output[k] for k in muscles], "bias": [0] * len(muscles)},
    }


def must_agree(gradient: dict[str, Any], expected: dict[str, Any]) -> None:
    close = {"rel": 1e-10, "abs": 1e-10 * expected["norm"]}
    for name, layer in expected["gradient"].items():
        weights = gradient[name]["weights"]
        assert gradient[name]["bias"] == pytest.approx(layer["bias"], **close)
        assert [math.fsum(row) for row in weights] == pytest.approx(layer["rows"], **close)
        columns = [math.fsum(column) for column in zip(*weights, strict=True)]
        assert columns == pytest.approx(layer["columns"], **close)


TRAIN = """
    const { Memory } = WebAssembly;
    const memories = [];
    WebAssembly.Memory = class extends Memory { constructor(...x) { super(...x); memories.push(this); } };
    const train = await walker(build(CELLS)).train();
    const reals = (tree) => typeof tree === "number" ? [tree] : Object.values(tree).flatMap(reals);
    const norm = (tree) => Math.sqrt(reals(tree).reduce((total, x) => total + x * x, 0));
    const descend = (tree, grad, by) => {
      for (const k of Object.keys(tree))
        if (typeof tree[k] === "number") tree[k] -= by * grad[k];
        else descend(tree[k], grad[k], by);
    };
"""


def test_the_first_walks_have_the_losses_and_the_gradient_of_the_reference(run: Run) -> None:
    expected = reference("robot")
    losses, norm, gradient, bytes_ = run(
        TRAIN
        + """const losses = [];
        let first;
        for (let k = 0; k < 6; ++k) {
          const { loss, grad } = train(data);
          losses.push(loss);
          first ??= { norm: norm(grad), grad };
          descend(data, grad, 0.2 / (norm(grad) + 1e-6));
        }
        const bytes = memories.reduce((total, { buffer }) => total + buffer.byteLength, 0);
        return [losses, first.norm, first.grad, bytes];""",
        first_network(expected["muscles"]),
    )
    assert losses[0] == pytest.approx(expected["loss"][0], rel=1e-10)
    assert apart(losses, expected["loss"]) < 1e-8
    assert norm == pytest.approx(expected["norm"], rel=1e-10)
    must_agree(gradient, expected)
    assert 0 < bytes_ < 32e6


def test_frames_of_a_walk_end_where_its_loss_is_measured(run: Run) -> None:
    network = first_network(reference("robot")["muscles"])
    frames, masses, loss = run(
        """const body = build(CELLS);
        const robot = walker(body);
        return [(await robot.walk())(data), body.masses, (await robot.train())(data).loss];""",
        network,
    )
    assert frames[0]["x"] == masses
    assert all(-1 <= signal <= 1 for frame in frames for signal in frame["signals"])
    # the ground catches what moves down at more than 1e-4
    assert min(y for frame in frames for _, y in frame["x"]) > 0.1 - 1e-6
    # after the last frame there are a few updates
    assert abs(frames[-1]["x"][0][0] + loss) < 0.01


# ---- the same by libraries for Python, which benchmarks compare with ----------------

needs_libraries = pytest.mark.skipif(
    not elsewhere.is_there(), reason="build.py bench --cpython has not been run"
)


def problem_of(run: Run, name: str) -> Any:
    return run(f"return (await import('./bench/workloads/{name}.js')).problem;")


@needs_libraries
@pytest.mark.parametrize("library", elsewhere.NAMES)
def test_the_shot_by_libraries_for_python(run: Run, library: str) -> None:
    expected = reference("billiards")
    with elsewhere.contender(library, "billiards") as ask:
        found = ask(problem_of(run, "billiards"))
        assert ask(0) > 0  # milliseconds
    assert found["loss"] == pytest.approx(expected["loss"][0], rel=1e-12)
    for part in ("x", "v"):
        assert found["grad"][part] == pytest.approx(expected["gradient"][part], rel=1e-12)


@needs_libraries
@pytest.mark.parametrize("library", elsewhere.NAMES)
def test_the_first_walk_by_libraries_for_python(run: Run, library: str) -> None:
    expected = reference("robot")
    network = first_network(expected["muscles"])
    with elsewhere.contender(library, "robot") as ask:
        found = ask({**problem_of(run, "robot"), "weights": network})
    assert found["loss"] == pytest.approx(expected["loss"][0], rel=1e-10)
    must_agree(found["grad"], expected)
