"""`rose freeze` does with pages what readers do: several things at once, and all that is listened to."""

from __future__ import annotations

from e2e.frozen import Frozen


def told_of(site: Frozen, body: str, script: str) -> str:
    """What is told of a page that has this script, and with which all goes well."""
    head = '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">'
    head += "<style>html { overflow: hidden }</style>"
    tail = f'<script type="module">import {{ scale }} from "./scales.js";{script}</script>'
    return site.told_of(head + body + tail).splitlines()[0]


TOGETHER = """
<select id="a"><option>2<option>3</select><input id="b" type="range" min="1" max="3" value="2">
<label><input id="c" type="checkbox">x 0.1</label><input id="d" type="range" min="101" max="102" value="102">
<select id="e" multiple><option selected>11<option>13</select><button id="f">go</button>
<label><input name="g" type="radio" value="19" checked></label><input name="g" type="radio" value="23">
"""

ACTS_TOGETHER = """
a.onchange = b.oninput = c.onchange = () => scale(10 ** +b.value * +a.value * (c.checked ? 0.001 : 1));
d.oninput = () => scale(d.value);
f.onclick = () => {
    const product = [...e.selectedOptions].reduce((total, { value }) => total * value, 1);
    scale(product * document.querySelector("[name=g]:checked").value);
};
"""


def test_what_depends_on_several_inputs_is_frozen_for_all_that_they_are(site: Frozen) -> None:
    """Three of them at once, one by itself, and two that matter when a button is pressed."""
    told = told_of(site, TOGETHER, ACTS_TOGETHER)
    together = {10**b * a * c for a in (2, 3) for b in (1, 2, 3) for c in (1, 0.001)}
    pressed = {x * y * g for x in (1, 11) for y in (1, 13) for g in (19, 23)}
    assert told == f"pages/page.html: {len(together) + 2 + len(pressed)} programs"


HEARD = """
<button id="opens">settings</button><dialog><input id="inner" type="range" min="1" max="3" value="2">
<button id="apply">apply</button><form method="dialog"><button>close</button></form></dialog>
<button popovertarget="pop">more</button><div id="pop" popover><select><option>11<option>12
<optgroup disabled><option>99</select></div>
<button id="adds">add</button><p id="list"></p><ul><li>13</li><li>14</li></ul>
<canvas id="canvas" width="99" height="60"></canvas>
<svg width="99" height="60"><circle id="handle" cx="20" cy="30" r="9" style="cursor: grab"></circle></svg>
<p id="card">card</p><div id="board" tabindex="0">board</div><kbd>z</kbd><kbd>Q</kbd><kbd>Esc</kbd>
<form id="form"><input value="1"><button>solve</button></form>
<table><tr><td contenteditable>1</td></tr></table>
<input id="colour" type="color"><input id="day" type="date"><input id="count" type="number" value="5">
<input id="offered" list="values" value="41"><datalist id="values"><option>41<option>42</datalist>
<nav><a href="/pages/view/one">one</a></nav>
<ol><a href="#">72</a><a href="javascript:void 0">73</a><a style="cursor: pointer">74</a></ol>
<form id="family"><input name="children" type="range" min="1" max="2"><input name="matches" type="hidden">
<input name="parentElement"></form><button id="asks">anew</button>
<input id="near" type="range" max="999" value="7" list="marks"><datalist id="marks"><option>81<option>82
</datalist><p id="from"><b id="carried" draggable="true">83</b></p><p id="to">here</p>
"""

HEARS = """
const find = (selector) => document.querySelector(selector);
opens.onclick = () => find("dialog").showModal();
inner.oninput = () => find("dialog").open ? scale(inner.value) : scale(2);
apply.onclick = () => scale(4);
pop.ontoggle = ({ newState }) => newState === "open" && scale(10);
find("#pop select").onchange = ({ target }) => scale(target.value);
adds.onclick = () => {
    list.append("x");
    scale(20 + Math.min(3, list.textContent.length));
};
find("ul").addEventListener("click", ({ target }) => target.matches("li") && scale(target.textContent));
find("ul").style.cursor = "auto";
for (const item of document.querySelectorAll("li")) item.style.cursor = "pointer";
let held;
canvas.onmousedown = ({ offsetX }) => (held = offsetX);
addEventListener("mousemove", ({ offsetX, buttons, target }) => {
    if (target === canvas && buttons && offsetX > held) scale(30);
});
handle.addEventListener("pointerdown", ({ pointerId }) => {
    handle.setPointerCapture(pointerId);
    handle.onpointermove = ({ buttons }) => buttons && scale(31);
});
canvas.onwheel = () => scale(32);
card.onmouseenter = () => scale(33);
addEventListener("keydown", ({ key, code }) => {
    if (key === "ArrowRight") scale(34);
    if (key === "z") scale(35);
    if (key === "q" && code === "KeyQ") scale(70);
    if (key === "Escape") scale(71);
});
board.onkeyup = ({ key }) => key === "Enter" && scale(36);
form.onsubmit = (event) => {
    event.preventDefault();
    scale(37);
};
find("td").oninput = () => scale(38);
colour.oninput = () => colour.value !== "#000000" && scale(39);
day.onchange = () => day.value && scale(40);
offered.onchange = () => scale(offered.value);
count.oninput = () => scale(50 + +count.value);
document.onclick = (event) => {
    if (!event.target.matches("nav a")) return;
    event.preventDefault();
    history.pushState(null, "", event.target.href);
    scale(60);
};
addEventListener("resize", () => scale(innerWidth < 500 ? 61 : 62));
find("ol").onclick = ({ target }) => target.matches("a") && scale(target.textContent);
asks.onclick = () => confirm("sure?") && scale(75);
family.oninput = ({ target }) => target.type === "range" && scale(75 + +target.value);
near.onchange = () => [81, 82].includes(+near.value) && scale(near.value);
carried.ondragstart = ({ dataTransfer }) => dataTransfer.setData("text/plain", carried.textContent);
from.ondragover = to.ondragover = (event) => event.preventDefault();
to.ondrop = ({ dataTransfer }) => {
    scale(dataTransfer.getData("text/plain"));
    to.append(carried);
};
from.ondrop = () => from.contains(carried) || scale(84);
canvas.onkeydown = ({ key }) => key === "z" && scale(85);
"""


def test_what_a_page_listens_to_is_done(site: Frozen) -> None:
    told = told_of(site, HEARD, HEARS)
    wanted = {1, 2, 3, 4, 10, 11, 12, 21, 22, 23, 13, 14, *range(30, 41), 41, 42, 54, 55, 56, 60, 61, 62}
    wanted |= {*range(70, 78), *range(81, 86)}
    assert told == f"pages/page.html: {len(wanted)} programs"


SLIDER = """
<div style="width: 300px"><b id="thumb">held</b></div>
"""

SLIDES = """
let last;
const move = ({ clientX }) => {
    const place = Math.floor(clientX / 100);
    if (place !== last) scale(1 + (last = place));
};
thumb.onpointerdown = () => document.addEventListener("pointermove", move);
document.addEventListener("pointerup", () => document.removeEventListener("pointermove", move));
"""


def test_what_is_moved_itself_is_dragged_to_all_sides(site: Frozen) -> None:
    """As the thumb of a slider that scripts have made."""
    assert told_of(site, SLIDER, SLIDES) == "pages/page.html: 4 programs"


FINGERS = """
<canvas id="canvas" width="90" height="60"></canvas><b id="thumb" style="cursor: grab">held</b>
<button id="go">go</button>
"""

FEELS = """
let start;
canvas.addEventListener("touchstart", ({ touches: [{ pageX, pageY }] }) => (start = [pageX, pageY]));
canvas.ontouchmove = ({ targetTouches: [{ pageX }] }) => pageX > start[0] && scale(2);
canvas.ontouchend = ({ touches, changedTouches }) => scale(3 + touches.length + changedTouches.length);
document.addEventListener("touchmove", ({ target, changedTouches: [{ clientX }] }) => {
    if (target === thumb) scale(clientX < innerWidth / 2 ? 5 : 6);
});
go.ontouchend = () => scale(7);
"""


def test_what_only_fingers_do_is_done(site: Frozen) -> None:
    """The mouse is not enough: for a drawing, for what the document listens for, and for a button."""
    wanted = {2, 4, 5, 6, 7}
    assert told_of(site, FINGERS, FEELS) == f"pages/page.html: {len(wanted)} programs"


PAIRS = """
<canvas id="canvas" width="90" height="60"></canvas><canvas id="other" width="90" height="60"></canvas>
<canvas id="pad" width="90" height="60"></canvas>
"""

FEELS_TWO = """
const down = new Map();
let first;
const between = () => {
    const [a, b] = [...down.values()];
    return { distance: Math.hypot(a.x - b.x, a.y - b.y), angle: Math.atan2(b.y - a.y, b.x - a.x) };
};
canvas.onpointerdown = ({ pointerId, x, y }) => {
    canvas.setPointerCapture(pointerId);
    down.set(pointerId, { x, y });
    if (down.size === 2) first = between();
};
canvas.onpointermove = ({ pointerId, x, y }) => down.has(pointerId) && down.set(pointerId, { x, y });
canvas.onpointerup = ({ pointerId, pointerType }) => {
    if (down.size === 2 && pointerType === "touch") {
        const { distance, angle } = between();
        scale(angle > first.angle + 0.1 ? 2 : distance > first.distance ? 3 : 4);
    }
    canvas.releasePointerCapture(pointerId);
    down.delete(pointerId);
};
let width;
const widthOf = ({ touches: [a, b] }) => Math.round(Math.hypot(b.clientX - a.clientX, b.clientY - a.clientY));
other.addEventListener("touchstart", (event) => event.touches.length === 2 && (width = widthOf(event)));
other.addEventListener("touchmove", (event) => {
    if (event.targetTouches.length === 2) scale(widthOf(event) > width ? 5 : widthOf(event) < width ? 6 : 7);
});
other.addEventListener("touchend", ({ touches: left, changedTouches: { length } }) => {
    if (length === 2) scale(8 + left.length);
});
pad.onwheel = ({ ctrlKey, deltaY }) => ctrlKey && scale(deltaY > 0 ? 10 : 11);
"""


def test_what_two_fingers_do_is_done(site: Frozen) -> None:
    """Pinching and turning, by pointers that the page captures and by touches; and on a touchpad."""
    wanted = {2, 3, 4, 5, 6, 7, 8, 10, 11}
    assert told_of(site, PAIRS, FEELS_TWO) == f"pages/page.html: {len(wanted)} programs"


LATER = """<!doctype html><link rel="icon" href="data:,">
<button id="first">1</button><button id="second">2</button>
<script>
first.onclick = async () => (await import("./scales.js")).scale(2);
</script>
<script type="module" src="later.js"></script>
"""


def test_pages_that_load_what_compiles_when_it_is_needed_are_used(site: Frozen) -> None:
    site.write("pages/later.js", 'second.onclick = async () => (await import("./scales.js")).scale(3);')
    assert "pages/page.html: 2 programs\n" in site.told_of(LATER)


BY_ITSELF = """
setTimeout(() => scale(2), 100);
setTimeout(() => scale(3), 7000);
globalThis.warmUp = () => {};
"""


def test_what_a_page_does_by_itself_is_waited_for(site: Frozen) -> None:
    assert told_of(site, "", BY_ITSELF) == "pages/page.html: 2 programs"


STEPS = """<form id="form">
<fieldset id="one"><input name="a" type="radio" value="2" checked><input name="a" type="radio" value="3">
<button type="button" id="next">next</button></fieldset>
<fieldset id="two" hidden disabled><input name="b" type="number" min="1" max="3" value="1">
<button type="button" id="back">back</button><button>solve</button></fieldset></form>
"""

GOES_ON = """
next.onclick = () => (one.hidden = !(two.hidden = two.disabled = false));
back.onclick = () => (one.hidden = !(two.hidden = two.disabled = true));
form.onsubmit = (event) => {
    event.preventDefault();
    const { a, b } = form.elements;
    scale(10 * a.value + +b.value);
};
"""


def test_a_form_of_several_steps_is_gone_through(site: Frozen) -> None:
    """Also where what leads back comes before what leads on, and a step is disabled before its turn."""
    assert told_of(site, STEPS, GOES_ON) == "pages/page.html: 6 programs"


ACTS = """
<table id="rows"><tr><td>a<td><button>remove</button><tr><td>b<td><button>remove</button></table>
<button id="adds">add</button><button id="fits">fit</button>
<button id="one">one</button><button id="two">two</button><button id="runs">run</button>
<main id="main"></main><canvas id="canvas" width="90" height="60"></canvas>
"""

DOES = """
const hear = (button) => (button.onclick = () => button.closest("tr").remove());
rows.querySelectorAll("button").forEach(hear);
adds.onclick = () => {
    if (rows.rows.length > 2) return;
    rows.tBodies[0].insertAdjacentHTML("beforeend", "<tr><td>c<td><button>remove</button>");
    hear(rows.rows[rows.rows.length - 1].querySelector("button"));
};
fits.onclick = () => scale(10 + rows.rows.length);
let mode = 0;
one.onclick = () => (mode = 1);
two.onclick = () => (mode = 2);
runs.onclick = () => mode && scale(20 + mode);
let step = 0;
const show = () => {
    main.innerHTML = `${step}<button id="next">next</button>${"<input>".repeat(step)}`;
    next.onclick = () => (step < 4 ? (++step, show()) : scale(31));
};
show();
canvas.onclick = ({ ctrlKey }) => ctrlKey && scale(0);
canvas.onpointermove = ({ buttons }) => buttons && scale(32);
canvas.ondblclick = () => scale(33);
canvas.oncontextmenu = () => scale(34);
"""


def test_buttons_are_pressed_after_others(site: Frozen) -> None:
    """What there is at first is used before what takes it away, what leads on leads to the end."""
    wanted = {*range(11, 14), 21, 22, *range(31, 35)}
    assert told_of(site, ACTS, DOES) == f"pages/page.html: {len(wanted)} programs"


DOES_TOO_MUCH = """
const BUTTONS = {
    opens: () => open("other.html").focus(),
    again: () => location.reload(),
    asks: () => [alert("a"), confirm("b"), prompt("c")],
    fills: () => document.documentElement.requestFullscreen(),
    locks: () => document.body.requestPointerLock(),
    copies: () => navigator.clipboard.writeText("x"),
    sends: () => fetch("https://rose.invalid/", { method: "POST", mode: "no-cors", body: "x" }),
    leaves: () => (location.href = "https://rose.invalid/"),
    closes: () => close(),
    back: () => history.back(),
};
for (const [text, onclick] of Object.entries(BUTTONS))
    document.body.append(Object.assign(document.createElement("button"), { textContent: text, onclick }));
const on = new Set();
for (let k = 0; k < 40; ++k) {
    const onclick = () => {
        if (!on.delete(k)) on.add(k);
        scale([...on].reduce((total, n) => total + 2 ** n, 1));
    };
    cells.append(Object.assign(document.createElement("button"), { textContent: k, onclick }));
}
fine.oninput = () => scale(fine.value);
"""


def test_what_leads_away_from_a_page_or_on_without_end_is_left(site: Frozen) -> None:
    """What is too much for a page is told; what buttons send to others does not get there."""
    fine = '<input id="fine" type="range" min="0.5" max="0.9" step="0.001">'
    told = told_of(site, f'<body><p id="cells"></p>{fine}', DOES_TOO_MUCH)
    seen, _, hint = told.removeprefix("pages/page.html: ").partition(" programs ")
    # three positions, and of the forty cells those that show what they are
    assert int(seen) < 16
    assert hint == "(each position of fine makes a program of its own: pass its number as an argument)"
