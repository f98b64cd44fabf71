"""The page about deblurring, used as a reader would; its model against sums that are written out here."""

from __future__ import annotations

import json
import math
import re
import struct
import zlib
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, FilePayload, Page, expect

from e2e.gestures import PHONE, settle
from e2e.workbench import Opened, button, opening, pixels, shown

SIDE = 128
DONE = re.compile(r"^After 1\u202f000 steps the guess is [\d.]+ times as close")

Plane = list[list[float]]
Kernel = list[list[float]]


# ---- the model ----------------------------------------------------------------------


def inside(at: int) -> int:
    return min(SIDE - 1, max(0, at))


def blurred(kernel: Kernel, plane: Plane) -> Plane:
    reach = len(kernel) // 2
    taps = [(j - reach, i - reach, w) for j, row in enumerate(kernel) for i, w in enumerate(row) if w]
    return [
        [sum(w * plane[inside(y + j)][inside(x + i)] for j, i, w in taps) for x in range(SIDE)]
        for y in range(SIDE)
    ]


def slopes(kernel: Kernel, guess: Plane, given: Plane) -> tuple[float, Plane]:
    """The sum of the squared differences, and its gradient: each difference goes back to where it is from."""
    reach = len(kernel) // 2
    rest = [
        [a - b for a, b in zip(*rows, strict=True)]
        for rows in zip(blurred(kernel, guess), given, strict=True)
    ]
    grad = [[0.0] * SIDE for _ in range(SIDE)]
    for y in range(SIDE):
        for x in range(SIDE):
            for j, row in enumerate(kernel):
                for i, w in enumerate(row):
                    if w:
                        grad[inside(y + j - reach)][inside(x + i - reach)] += 2 * w * rest[y][x]
    return sum(r * r for row in rest for r in row), grad


def roughness(plane: Plane) -> tuple[float, Plane]:
    grad = [[0.0] * SIDE for _ in range(SIDE)]
    total = 0.0
    for y in range(SIDE):
        for x in range(SIDE):
            down, across = inside(y + 1), inside(x + 1)
            dy, dx = plane[down][x] - plane[y][x], plane[y][across] - plane[y][x]
            length = math.sqrt(0.05**2 + dy * dy + dx * dx)
            total += length
            grad[y][x] -= (dy + dx) / length
            grad[down][x] += dy / length
            grad[y][across] += dx / length
    return total, grad


def plane(channel: int, seed: int) -> Plane:
    """Numbers between 0 and 1 that JavaScript can make, too."""
    return [[(((y * SIDE + x) * 3 + channel) * seed % 1009) / 1009 for x in range(SIDE)] for y in range(SIDE)]


def test_the_loss_and_its_gradient_are_those_of_the_sums(node: Callable[[str], str]) -> None:
    code = """
        import { descent, SIDE, TAPS } from "./site/deblurring/blur.js";
        const gradient = await descent();
        const length = SIDE ** 2 * 3;
        const numbers = (seed) => Float64Array.from({ length }, (_, k) => (k * seed % 1009) / 1009);
        const kernel = Float64Array.from({ length: TAPS ** 2 }, (_, k) => (k * k % 7) / 150);
        const [k, guess, given, weight] = gradient.args;
        k.set(kernel);
        guess.set(numbers(7919));
        given.set(numbers(523));
        const found = [0, 0.01].map((w) => {
          weight[0] = w;
          const { loss, grad } = gradient.run();
          return [loss[0], [...grad]];
        });
        console.log(JSON.stringify(found));"""
    (plain, plain_grad), (smooth, smooth_grad) = json.loads(node(code))
    kernel = [[(k * k % 7) / 150 for k in range(7 * j, 7 * j + 7)] for j in range(7)]
    fits = [slopes(kernel, plane(c, 7919), plane(c, 523)) for c in range(3)]
    assert plain == pytest.approx(sum(loss for loss, _ in fits), rel=1e-12)
    rough = [roughness(plane(c, 7919)) for c in range(3)]
    assert smooth == pytest.approx(plain + 0.01 * sum(total for total, _ in rough), rel=1e-12)
    for found, weight in ((plain_grad, 0), (smooth_grad, 0.01)):
        expected = [
            fits[c][1][y][x] + weight * rough[c][1][y][x]
            for y in range(SIDE)
            for x in range(SIDE)
            for c in range(3)
        ]
        assert max(abs(a - b) for a, b in zip(found, expected, strict=True)) < 1e-12


# ---- the page -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def opened(browser: Browser, frozen_url: str) -> Iterator[Opened]:
    with opening(browser, frozen_url + "site/deblurring.html") as (page, problems):
        expect(button(page, "Step")).to_be_enabled()
        yield page, problems


@pytest.fixture
def paused(opened: Opened) -> Iterator[Page]:
    """The page as it is at first, before the first step."""
    page, problems = opened
    for name, value in (("Picture", "house"), ("Blur", "focus"), ("Begin with", "grey")):
        page.get_by_label(name, exact=True).select_option(value)
    for name, value in (("Step size", "0.9"), ("Noise", "0"), ("Smoothness", "0")):
        page.get_by_label(name).fill(value)
    button(page, "Start over").click()
    page.evaluate("scrollTo(0, 0)")
    expect(shown(page, "steps")).to_have_text("0")
    yield page
    assert problems == []


def rings() -> Plane:
    def grey(y: int, x: int) -> float:
        r = math.hypot(x, y) / SIDE
        return round(127.5 * (1 + math.cos(0.8 * math.pi * r * r * SIDE / 2))) / 255

    return [[grey(y, x) for x in range(SIDE)] for y in range(SIDE)]


def test_steps_go_down_the_gradient(paused: Page) -> None:
    paused.get_by_label("Picture", exact=True).select_option("rings")
    paused.get_by_label("Blur", exact=True).select_option("box")
    expect(paused.locator("article [data-show=unknowns]")).to_have_text("49\u202f152")
    expect(paused.locator("header [data-show=taps]")).to_have_text("9")
    kernel = [[1 / 9] * 3] * 3
    truth, guess = rings(), [[0.5] * SIDE for _ in range(SIDE)]
    given = blurred(kernel, truth)
    for step in range(4):
        loss, grad = slopes(kernel, guess, given)
        error = sum(
            (a - b) ** 2 for rows in zip(guess, truth, strict=True) for a, b in zip(*rows, strict=True)
        )
        expect(shown(paused, "steps")).to_have_text(str(step))
        # of three colours that are the same
        assert float(shown(paused, "loss").inner_text()) == pytest.approx(3 * loss, rel=1e-3)
        off = 255 * math.sqrt(error) / SIDE
        assert float(shown(paused, "off").inner_text()) == pytest.approx(off, abs=0.006)
        guess = [[a - 0.9 * g for a, g in zip(*rows, strict=True)] for rows in zip(guess, grad, strict=True)]
        button(paused, "Step").click()


def test_a_descent_runs_can_be_stopped_and_goes_on(paused: Page, screenshot: Callable[..., object]) -> None:
    before = {name: pixels(paused, name) for name in ("guess", "again", "gradient", "losses")}
    button(paused, "Run").click()
    expect(shown(paused, "steps")).to_have_text(re.compile(r"^\d\d"))
    button(paused, "Pause").click()
    expect(button(paused, "Run")).to_be_visible()
    settle(paused)
    steps = shown(paused, "steps").inner_text()
    screenshot(paused, "deblurring-light")
    assert all(pixels(paused, name) != was for name, was in before.items())
    assert shown(paused, "steps").inner_text() == steps
    button(paused, "Run").click()
    expect(paused.locator("#status")).to_have_text(DONE)
    off, given = (float(shown(paused, name).inner_text()) for name in ("off", "givenOff"))
    assert off < given / 2
    paused.emulate_media(color_scheme="dark")
    screenshot(paused, "deblurring-dark")
    paused.emulate_media(color_scheme="light")
    # from where it is
    button(paused, "Step").click()
    expect(shown(paused, "steps")).to_have_text("1\u202f001")


def test_a_step_size_that_is_too_large_is_noticed(paused: Page, screenshot: Callable[..., object]) -> None:
    limit = float(shown(paused, "limit").inner_text())
    assert 0.9 < limit < 1.05
    status = paused.locator("#status")
    paused.get_by_role("button", name="η = 1.05").click()
    expect(status).to_have_text(
        re.compile(r"A step size of 1.05 is too large: after \d+ steps the loss was .* and growing")
    )
    expect(status).to_have_class(re.compile("failed"))
    screenshot(paused, "deblurring-lost")
    best = float(shown(paused, "loss").inner_text())
    # the page goes on from there
    paused.get_by_label("Step size").fill("0.5")
    expect(status).not_to_have_class(re.compile("failed"))
    button(paused, "Pause").click()
    expect(button(paused, "Run")).to_be_visible()
    assert float(shown(paused, "loss").inner_text()) < best


def test_with_noise_the_best_guess_is_an_early_one(paused: Page) -> None:
    paused.get_by_role("button", name="four levels of it").click()
    status = paused.locator("#status")
    expect(status).to_have_text(re.compile("What it fits since then is noise"))
    late = float(shown(paused, "off").inner_text())
    steps = re.search(r"after (\d+) steps", status.inner_text())
    assert steps and 1 < int(steps[1]) < 100
    paused.get_by_role("button", name="stop in time").click()
    expect(status).to_have_text(re.compile(f"^After {steps[1]} steps the guess is"))
    assert float(shown(paused, "off").inner_text()) < late / 2


def test_a_step_of_a_half_sets_the_brightness(paused: Page) -> None:
    def brightness(which: str) -> float:
        pixels(paused, which)
        mean = """e => { const { data } = e.getContext("2d").getImageData(0, 0, e.width, e.height);
            return data.reduce((total, x) => total + x, 0) / data.length; }"""
        return float(paused.locator(f"#{which}").evaluate(mean))

    paused.get_by_label("Step size").fill("0.5")
    assert abs(brightness("guess") - brightness("truth")) > 5
    button(paused, "Step").click()
    assert brightness("guess") == pytest.approx(brightness("truth"), abs=0.5)


def test_everything_is_reached_with_the_keyboard(paused: Page) -> None:
    before = pixels(paused, "given")
    paused.get_by_label("Blur", exact=True).focus()
    paused.keyboard.press("ArrowDown")
    expect(paused.get_by_label("Blur", exact=True)).to_have_value("fog")
    assert pixels(paused, "given") != before
    slider = paused.get_by_label("Noise")
    slider.focus()
    paused.keyboard.press("End")
    expect(shown(paused, "noise")).to_have_text("20")
    paused.locator("#file").focus()
    ring = "e => getComputedStyle(e.nextElementSibling).outlineStyle"
    assert paused.locator("#file").evaluate(ring) == "solid"
    # a key on the field is a click on it, which opens the browser's own dialogue
    paused.locator("#file").evaluate(
        """e => e.addEventListener("click", (event) => {
          event.preventDefault();
          document.title = "asked";
        }, { once: true })"""
    )
    paused.keyboard.press("Space")
    expect(paused).to_have_title("asked")


# ---- the reader's own picture -------------------------------------------------------


def chunk(kind: bytes, data: bytes) -> bytes:
    body = kind + data
    return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))


def png(width: int, height: int, rows: bytes) -> bytes:
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )


def stripes(width: int, height: int) -> bytes:
    """A picture of red and blue columns."""
    row = b"\0" + b"".join(b"\xff\0\0" if x % 40 < 20 else b"\0\0\xff" for x in range(width))
    return png(width, height, row * height)


def segment(kind: int, data: bytes) -> bytes:
    return struct.pack(">HH", kind, len(data) + 2) + data


HUGE = (10_000, 5_000)
LARGE_FILES = {
    "png": png(*HUGE, b""),
    "gif": b"GIF89a" + struct.pack("<HHBBB", *HUGE, 0, 0, 0),
    "bmp": b"BM" + bytes(12) + struct.pack("<Iii", 40, HUGE[0], -HUGE[1]) + bytes(28),
    "jpg": b"\xff\xd8"
    + segment(0xFFE1, bytes(60_000))
    + segment(0xFFC4, bytes(20))
    + segment(0xFFC2, struct.pack(">BHHB", 8, HUGE[1], HUGE[0], 3)),
    "vp8": b"RIFF" + bytes(4) + b"WEBPVP8 " + bytes(10) + struct.pack("<HH", *HUGE) + bytes(8),
    "vp8l": b"RIFF"
    + bytes(4)
    + b"WEBPVP8L"
    + bytes(5)
    + struct.pack("<I", (HUGE[0] - 1) | (HUGE[1] - 1) << 14)
    + bytes(8),
    "vp8x": b"RIFF"
    + bytes(4)
    + b"WEBPVP8X"
    + bytes(8)
    + (HUGE[0] - 1).to_bytes(3, "little")
    + (HUGE[1] - 1).to_bytes(3, "little")
    + bytes(8),
    "avif": struct.pack(">I", 16)
    + b"ftypavif"
    + bytes(20)
    + b"ispe"
    + struct.pack(">III", 0, *HUGE)
    + bytes(9),
}


def choose(page: Page, name: str, data: bytes) -> None:
    file: FilePayload = {"name": name, "mimeType": "", "buffer": data}
    page.locator("#file").set_input_files(file)


def test_a_picture_of_the_readers_own_is_taken(paused: Page) -> None:
    was = pixels(paused, "truth")
    choose(paused, "stripes.png", stripes(300, 200))
    expect(paused.get_by_label("Picture", exact=True)).to_have_value("own")
    assert pixels(paused, "truth") != was
    # the middle square of it, from column 50 on: red up to a twentieth, then blue for a tenth
    middle = paused.locator("#truth").evaluate(
        """e => [0.025, 0.1, 0.2].map((part) =>
          [...e.getContext("2d").getImageData(part * e.width, e.height / 2, 1, 1).data])"""
    )
    assert middle == [[255, 0, 0, 255], [0, 0, 255, 255], [255, 0, 0, 255]]
    expect(shown(paused, "givenOff")).not_to_have_text("0.00")
    button(paused, "Step").click()
    expect(shown(paused, "steps")).to_have_text("1")
    # it is still there after another one
    own = pixels(paused, "truth")
    paused.get_by_label("Picture", exact=True).select_option("rings")
    paused.get_by_label("Picture", exact=True).select_option("own")
    assert pixels(paused, "truth") == own


def test_a_picture_is_dropped(paused: Page, screenshot: Callable[..., object]) -> None:
    was = pixels(paused, "truth")
    transfer = paused.evaluate_handle(
        """(bytes) => { const transfer = new DataTransfer();
          transfer.items.add(new File([new Uint8Array(bytes)], "stripes.png"));
          return transfer; }""",
        list(stripes(64, 80)),
    )
    told = {"bubbles": True, "cancelable": True, "dataTransfer": transfer}
    paused.dispatch_event("h1", "dragover", told)
    expect(paused.locator("#workbench")).to_have_class(re.compile("over"))
    screenshot(paused, "deblurring-over")
    paused.dispatch_event("h1", "drop", told)
    expect(paused.get_by_label("Picture", exact=True)).to_have_value("own")
    expect(paused.locator("#workbench")).not_to_have_class(re.compile("over"))
    assert pixels(paused, "truth") != was


@pytest.mark.parametrize("kind", LARGE_FILES)
def test_a_picture_of_fifty_megapixels_is_refused(paused: Page, kind: str) -> None:
    was = pixels(paused, "truth")
    choose(paused, f"large.{kind}", LARGE_FILES[kind])
    expect(paused.locator("#reading")).to_have_text(
        f"“large.{kind}” has 50 megapixels. Up to 40 are taken: please make it smaller."
    )
    assert pixels(paused, "truth") == was
    button(paused, "Step").click()
    expect(shown(paused, "steps")).to_have_text("1")


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("notes.txt", b"To be, or not to be: that is no picture.", "is no picture that can be read"),
        ("empty.png", b"", "is no picture that can be read"),
        ("cut.jpg", b"\xff\xd8\xff\xe0\x00\x10", "is no picture that can be read"),
        ("damaged.png", png(100, 100, b"")[:60], "cannot be read: it seems to be damaged"),
    ],
)
def test_what_is_no_picture_is_refused(paused: Page, name: str, data: bytes, message: str) -> None:
    was = pixels(paused, "truth")
    choose(paused, name, data)
    reading = paused.locator("#reading")
    expect(reading).to_have_text(re.compile(f"“{re.escape(name)}” {message}"))
    expect(reading).to_have_class(re.compile("failed"))
    assert pixels(paused, "truth") == was
    choose(paused, "good.png", stripes(50, 50))
    expect(reading).to_have_text("")
    expect(reading).not_to_have_class(re.compile("failed"))
    assert pixels(paused, "truth") != was


def test_a_folder_is_refused(paused: Page) -> None:
    was = pixels(paused, "truth")
    paused.evaluate(
        """() => {
        const folder = new File([], "holidays");  // whose content cannot be read
        folder.slice = () => ({ arrayBuffer: () => Promise.reject(new DOMException("", "NotFoundError")) });
        const event = new Event("drop", { cancelable: true });
        event.dataTransfer = { types: ["Files"], files: [folder] };
        dispatchEvent(event);
    }"""
    )
    expect(paused.locator("#reading")).to_have_text("“holidays” cannot be read. Is it a folder?")
    assert pixels(paused, "truth") == was


# ---- other readers ------------------------------------------------------------------


def test_with_a_finger_on_a_phone(
    new_page: Callable[..., Page], frozen_url: str, screenshot: Callable[..., object]
) -> None:
    page = new_page(**PHONE)
    page.goto(frozen_url + "site/deblurring.html")
    expect(shown(page, "steps")).to_have_text(re.compile(r"^[1-9]"))
    button(page, "Pause").tap()
    button(page, "Start over").tap()
    expect(shown(page, "steps")).to_have_text("0")
    button(page, "Step").tap()
    expect(shown(page, "steps")).to_have_text("1")
    boxes = [page.locator(f"#{name}").bounding_box() for name in ("truth", "guess", "given")]
    assert all(boxes)
    truth, guess, given = (box for box in boxes if box)
    assert truth["y"] == guess["y"] < given["y"] and truth["x"] < guess["x"]
    page.locator("#workbench").evaluate("e => e.scrollIntoView()")
    screenshot(page, "deblurring-phone")


def test_who_wants_little_motion_sees_the_end_of_the_way(
    new_page: Callable[..., Page], frozen_url: str
) -> None:
    page = new_page(reduced_motion="reduce")
    page.goto(frozen_url + "site/deblurring.html")
    expect(shown(page, "steps")).to_have_text(re.compile(r"^[1-9]"))
    frames = page.evaluate(
        """async () => {
            const [run, guess, steps] = ["#run", "#guess", "[data-show=steps]"].map(
                (selector) => document.querySelector(selector));
            const frames = [];
            while (run.textContent === "Pause" && frames.length < 30) {
                await new Promise(requestAnimationFrame);
                frames.push([steps.textContent, guess.toDataURL()]);
            }
            return frames.slice(1, -1);  // the end may come in the last of them
        }"""
    )
    steps, pictures = map(set, zip(*frames, strict=True))
    assert len(steps) > 1
    assert len(pictures) == 1
    expect(page.locator("#status")).to_have_text(DONE)
    assert pixels(page, "guess") not in pictures
