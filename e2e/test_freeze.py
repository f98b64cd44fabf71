"""`rose freeze` uses pages as their readers do, and freezes what they compile then."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from e2e.frozen import PAGE, SCALES, SCRIPT, WARM_UP, Frozen, slide
from e2e.server import Server


def test_every_choice_of_a_page_is_frozen(tmp_path: Path, brief_browser: Browser) -> None:
    """In a folder that has the name of those that are made."""
    site = Frozen(tmp_path / "frozen", brief_browser)
    site.root.mkdir()
    site.fill()
    choice = '<select id="factor"><option>2<option>3<option>5<option>7</select>'
    site.write("pages/page.html", re.sub(r"<input.*>", choice, PAGE))
    done = site.freeze()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "pages/page.html: 4 programs" in done.stdout


def test_a_slider_of_few_positions_is_moved_to_each(site: Frozen) -> None:
    site.write("pages/page.html", PAGE.replace('max="3"', 'max="9" step="2"'))
    done = site.freeze()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "pages/page.html: 5 programs" in done.stdout


def test_a_slider_of_tenths_is_moved_to_its_end(site: Frozen) -> None:
    """Three steps of 0.1 are a little more than 0.3."""
    tenths = 'min="0" max="0.3" step="0.1" value="0"'
    site.write("pages/page.html", PAGE.replace('min="1" max="3" value="2"', tenths))
    done = site.freeze()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "pages/page.html: 4 programs" in done.stdout


def test_a_field_of_few_numbers_has_each_of_them(site: Frozen, page: Page) -> None:
    """As its arrows give them, without what is lost in binary."""
    bounds = 'type="number" min="0.1" max="0.5" step="0.1" value="0.2"'
    site.write("pages/page.html", re.sub('type="range".*"2"', bounds, PAGE))
    done = site.freeze()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "pages/page.html: 5 programs" in done.stdout
    with Server({"/": site.root}, quiet=True) as server:
        page.goto(f"{server.origin}/pages/page.html")
        expect(page).to_have_title("slope 0.2")
        page.locator("#factor").press("ArrowUp")
        expect(page).to_have_title("slope 0.3")
    assert not any("pyodide" in address for address in server.asked)


DRAWN_ANEW = """<!doctype html>
<link rel="icon" href="data:,">
<div id="app"></div>
<script type="module">
import { Real, compile, fn, mul } from "../rose/rose.js";
const app = document.getElementById("app");
let [a, b] = [2, 12];
const draw = () => {
    app.innerHTML = `<input type="range" min="1" max="5" value="${a}"><p>${a}</p>
        <input id="b" type="range" min="11" max="14" value="${b}">`;
    compile(fn([Real], Real, (x) => mul(a * b, x)));
};
app.addEventListener("input", ({ target: { id, value } }) => {
    if (id) b = +value;
    else a = +value;
    draw();
});
draw();
</script>
"""


def test_inputs_that_a_page_draws_anew_are_moved_to_all_positions(site: Frozen) -> None:
    """Of both of them at once."""
    site.write("pages/page.html", DRAWN_ANEW)
    done = site.freeze()
    assert done.returncode == 0, done.stdout + done.stderr
    products = {a * b for a in range(1, 6) for b in range(11, 15)}
    assert f"pages/page.html: {len(products)} programs" in done.stdout


NOTES_VISITS = """<!doctype html>
<link rel="icon" href="data:,">
<script type="module">
import { Real, compile, fn, mul } from "../rose/rose.js";
const factor = localStorage.getItem("seen") ? 81 : 82;
localStorage.setItem("seen", "yes");
await compile(fn([Real], Real, (x) => mul(factor, x)));
</script>
"""


def test_every_page_is_seen_by_somebody_who_was_on_none(site: Frozen) -> None:
    for name in ("page", "other"):
        site.write(f"pages/{name}.html", NOTES_VISITS)
    done = site.freeze()
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(site.files) == 1


CONTROLS = """<!doctype html>
<link rel="icon" href="data:,">
<input type="radio" name="kind" value="11" checked><input type="radio" name="kind" value="12">
<select id="some"><option value="" disabled selected>choose<option value="13"></select>
<input id="late" type="range" min="21" max="23" value="22">
<input id="later" type="range" min="25" max="27" value="26">
<input id="followed" type="range" min="31" max="33" value="32">
<input id="box" type="checkbox">
<input id="fixed" type="number" min="51" max="53" value="52" readonly>
<fieldset disabled><input id="off" type="range" min="61" max="63" value="62"></fieldset>
<select onchange="location.href = this.value"><option value="page.html">1<option value="a.html">2</select>
<iframe src="inner.html"></iframe>
<script type="module" src="controls.js"></script>
"""

USES = """
import { Real, compile, fn, mul } from "../rose/rose.js";
let last = new AbortController();
const use = async (factor) => {
    if (!(factor > 0)) throw Error("no such choice");
    last.abort();
    const { signal } = (last = new AbortController());
    // who is overtaken is given up
    await compile(fn([Real], Real, (x) => mul(factor, x)), { signal }).catch(() => {});
};
const on = (selector, type, act) => document.querySelector(selector).addEventListener(type, act);
for (const radio of document.querySelectorAll("[name=kind]"))
    radio.onchange = () => use(+document.querySelector("[name=kind]:checked").value);
on("#some", "change", (event) => use(+event.target.value));
let waits;
const delays = { late: 300, later: 1500 };
for (const [id, delay] of Object.entries(delays))
    on(`#${id}`, "input", (event) => {
        clearTimeout(waits);
        waits = setTimeout(use, delay, +event.target.value);
    });
// as libraries do that draw what they are told only where it is new
const own = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value");
let known = followed.value;
Object.defineProperty(followed, "value", {
    get: own.get,
    set(value) {
        known = `${value}`;
        own.set.call(this, value);
    },
});
on("#followed", "input", () => {
    if (followed.value !== known) use(+(known = followed.value));
});
on("#box", "click", () => use(box.checked ? 41 : 42));
on("#fixed", "input", () => use(NaN));
on("#off", "input", () => use(NaN));
"""

INNER = """<!doctype html>
<link rel="icon" href="data:,">
<script type="module">
import { Real, compile, fn, mul } from "../rose/rose.js";
await compile(fn([Real], Real, (x) => mul(71, x)));
</script>
"""


def test_what_readers_can_do_is_done(site: Frozen) -> None:
    for name, text in (("page.html", CONTROLS), ("inner.html", INNER), ("controls.js", USES)):
        site.write(f"pages/{name}", text)
    done = site.freeze()
    assert done.returncode == 0, done.stdout + done.stderr
    # two radios, a choice, three of each slider, two of the box, and one within
    assert "pages/page.html: 15 programs" in done.stdout
    assert "pages/inner.html: 1 program\n" in done.stdout


ROUTED = """<!doctype html>
<link rel="icon" href="data:,">
<select id="view"><option value="2">2<option value="3">3<option value="5">5</select>
<script type="module">
import { scale } from "/pages/scales.js";
const factorIn = (url) => new URL(url).searchParams.get("view");
const route = (event) => {
    const factor = factorIn(event.destination.url);
    if (factor) event.intercept({ handler: () => scale(factor) });
};
</script>
"""

ROUTERS = {
    "page": """navigation.addEventListener("navigate", route);
        view.onchange = () => navigation.navigate(`${view.value}?view=${view.value}`);""",
    "handler": """navigation.onnavigate = route;
        view.onchange = () => (location = `?view=${view.value}`);""",
    "history": """view.onchange = () => {
            history.pushState(null, "", `?view=${view.value}`);
            scale(factorIn(location));
        };""",
    "leaves": """navigation.onnavigate = () => {};
        view.onchange = () => navigation.navigate(`${view.value}.html`);""",
    "wrong": """navigation.onnavigate = (event) => event.intercept({ handler: async () => nobody });
        view.onchange = () => (location = "?");""",
}


def test_pages_that_navigate_within_themselves_are_used_and_none_is_left(site: Frozen) -> None:
    site.write("pages/scales.js", SCALES)
    for name, router in ROUTERS.items():
        site.write(f"pages/{name}.html", ROUTED.replace("</script>", f"{router}\n</script>"))
    done = site.freeze()
    for name in ("page", "handler", "history"):
        assert f"pages/{name}.html: 3 programs" in done.stdout
    assert "pages/leaves.html: 0 programs" in done.stdout
    (told,) = (line for line in done.stdout.splitlines() if line[0] == "!")
    assert re.fullmatch(r"! pages/wrong.html: pages/wrong.html, line \d+: nobody is not defined", told)


def told_of_page(site: Frozen, page: str) -> str:
    """What the command tells of a page with this text, which has `SCALES` beside it."""
    site.write("pages/scales.js", SCALES)
    site.write("pages/page.html", page)
    return site.freeze().stdout


QUERIED = """<!doctype html>
<link rel="icon" href="data:,">
<input id="factor" type="range" min="61" max="63">
<form><select name="factor" onchange="form.submit()"><option>61<option>64</select></form>
<a href="?factor=65">65</a>
<form><select name="factor"><option>66<option>67</select><button>go</button></form>
<form method="post"><input type="checkbox" onchange="form.submit()"></form>
<iframe srcdoc='<form><input name="k" type="checkbox" onchange="form.submit()"></form>'></iframe>
<script type="module">
import { scale } from "./scales.js";
const factor = document.getElementById("factor");
const query = new URLSearchParams(location.search);
factor.onchange = () => (location.search = `?factor=${factor.value}`);
scale(query.get("factor") ?? 61);
</script>
"""


def test_a_page_that_asks_for_itself_with_another_query_is_opened_so(site: Frozen) -> None:
    told = told_of_page(site, QUERIED)
    assert "pages/page.html: 7 programs\n" in told
    assert not [line for line in told.splitlines() if line[0] == "!"]


STORED = """<!doctype html>
<link rel="icon" href="data:,">
<select><option>1<option>2</select><input type="checkbox"><button>anew</button><iframe src="page.js"></iframe>
<script type="module">
import { scale } from "./scales.js";
const [select, box, button] = document.querySelectorAll("select, input, button");
select.onchange = () => {
    document.cookie = `k=${(localStorage.k = select.value)}`;
    location.href = location.href;
};
box.onchange = () => (sessionStorage.k = +box.checked);
button.onclick = () => location.reload();
const k = localStorage.k ?? "1";
select.value = k;
box.checked = +sessionStorage.k;
if (k === "1" || document.cookie === "k=2") scale(k + +box.checked);
</script>
"""


def test_a_page_that_asks_for_itself_anew_has_what_it_stored(site: Frozen) -> None:
    told = told_of_page(site, STORED)
    assert "pages/page.html: 4 programs\n" in told
    assert not [line for line in told.splitlines() if line[0] == "!"]


LED_ON = "(of the queries and stored values with which it reloads itself, 2 were tried)"


def test_a_stored_number_that_grows_does_not_lead_on_for_ever(site: Frozen) -> None:
    counted = "sessionStorage.visits = +(sessionStorage.visits ?? 0) + 1; location.reload();"
    script = f'import {{ scale }} from "./scales.js"; scale(61); {counted}'
    page = f'<!doctype html><link rel="icon" href="data:,"><script type="module">{script}</script>'
    assert f"pages/page.html: 1 program {LED_ON}\n" in told_of_page(site, page)


def test_a_query_that_tells_the_time_does_not_lead_on_for_ever(site: Frozen) -> None:
    timed = (
        'import { scale } from "./scales.js"; scale(61); location.search = `?t=${performance.timeOrigin}`;'
    )
    page = f'<!doctype html><link rel="icon" href="data:,"><script type="module">{timed}</script>'
    assert f"pages/page.html: 1 program {LED_ON}\n" in told_of_page(site, page)


HIDDEN = """<!doctype html>
<link rel="icon" href="data:,">
<div id="open"></div><div id="closed"></div><input id="more" type="checkbox">
<script type="module">
import { scale } from "./scales.js";
for (const mode of ["open", "closed"]) {
    const root = document.getElementById(mode).attachShadow({ mode });
    root.innerHTML = `<input type="range" min="${mode.length}1" max="${mode.length}3">`;
    root.addEventListener("input", ({ target }) => scale(target.value));
}
// one appears when the page has the data for it, one when it is asked for
const appear = (min) => {
    const input = Object.assign(document.createElement("input"), { type: "number", min });
    input.oninput = () => scale(input.value || 1);
    document.body.append(input);
};
fetch("late.txt").then(() => appear(71));
more.onclick = () => appear(81);
</script>
"""


def test_inputs_in_shadows_and_those_that_come_late_are_used(site: Frozen) -> None:
    site.write("pages/page.html", HIDDEN)
    site.write("pages/scales.js", SCALES)
    site.write("pages/late.txt", "")
    done = site.freeze()
    assert done.returncode == 0, done.stdout + done.stderr
    # three in each shadow; 71 and 1, and 81 of the two that a box makes
    assert "pages/page.html: 9 programs" in done.stdout


MADE = """<!doctype html>
<link rel="icon" href="data:,">
<input id="held" type="range" min="11" max="13" value="12">
<div id="made" role="slider" tabindex="0" aria-valuemin="21" aria-valuemax="24" aria-valuenow="22"></div>
<div id="off" role="slider" aria-disabled="true" aria-valuenow="1"></div>
<button role="tab" aria-selected="true">3</button><button role="tab">4</button><div id="panel"></div>
<button id="switch" role="switch">on</button>
<details><summary>more</summary><p id="more"></p></details>
<own-slider><template shadowrootmode="closed"><input type="range" min="61" max="62"></template></own-slider>
<script type="module">
import { scale } from "./scales.js";
let isHeld = false;
held.onpointerdown = ({ pointerId }) => {
    held.setPointerCapture(pointerId);
    isHeld = true;
};
held.oninput = () => isHeld || scale(NaN);
held.onpointerup = () => {
    isHeld = false;
    scale(held.value);
};
made.onkeydown = ({ key }) => {
    const steps = { ArrowLeft: -1, ArrowRight: 1 };
    made.ariaValueNow = Math.max(21, Math.min(24, +made.ariaValueNow + (steps[key] ?? 0)));
    setTimeout(scale, 0, made.ariaValueNow);
};
off.onkeydown = () => scale(1);
document.getElementById("switch").onclick = ({ target }) => {
    target.ariaChecked = target.ariaChecked !== "true";
    scale(target.ariaChecked === "true" ? 71 : 72);
};
// one has a slider that takes the place of another's; what was moved before is back
for (const tab of document.querySelectorAll("[role=tab]"))
    tab.onclick = () => {
        panel.innerHTML = `<input type="range" min="${tab.innerText}1" max="${tab.innerText}2">`;
        panel.firstChild.onchange = ({ target }) => made.ariaValueNow === "22" && scale(target.value);
    };
new IntersectionObserver(([{ isIntersecting }]) => isIntersecting && scale(51)).observe(more);
customElements.define("own-slider", class extends HTMLElement {
    constructor() {
        super();
        this.attachInternals().shadowRoot.firstChild.oninput = ({ target }) => scale(target.value);
    }
});
</script>
"""


LIBRARY = """<!doctype html>
<link rel="icon" href="data:,">
<kept-slider tabindex="0"></kept-slider>
<button id="menu" role="combobox" aria-expanded="false">a</button>
<button id="fold" aria-expanded="false">more</button>
<button id="first" aria-pressed="true">1</button><button id="second" aria-pressed="false">2</button>
<svg><a href="#svg"></a><circle role="switch" r="9"></circle></svg>
<a href="#/view">view</a><a href="#menu">to the menu</a><a href="#">nowhere</a>
<script type="module">
import { scale } from "./scales.js";
customElements.define("kept-slider", class extends HTMLElement {
    constructor() {
        super();
        const internals = this.attachInternals();
        Object.assign(internals, { role: "slider", ariaValueMin: "11", ariaValueMax: "13" });
        internals.ariaValueNow = "12";
        this.onkeydown = ({ key }) => {
            const now = +internals.ariaValueNow + ({ ArrowLeft: -1, ArrowRight: 1 }[key] ?? 0);
            if (now >= 11 && now <= 13) scale((internals.ariaValueNow = `${now}`));
        };
    }
});
// as libraries do, which know who is a mouse
let list;
menu.onpointerdown = () => {
    list ??= document.body.appendChild(document.createElement("div"));
    list.innerHTML = [21, 22, 23].map((k) => `<p role="option" aria-selected="${k === 21}">${k}</p>`);
    menu.ariaExpanded = "true";
    for (const option of list.children)
        option.onpointerup = () => {
            scale(option.textContent);
            list.innerHTML = "";
            menu.ariaExpanded = "false";
        };
};
fold.onclick = () => {
    fold.ariaExpanded = fold.ariaExpanded === "false";
    scale(31);
};
for (const button of [first, second])
    button.onclick = () => {
        for (const each of [first, second]) each.ariaPressed = each === button;
        scale(button === first ? 41 : 42);
    };
document.querySelector("circle").onclick = () => scale(51);
onhashchange = ({ newURL }) => {
    const { hash } = new URL(newURL);
    if (hash) scale(hash === "#/view" && first.ariaPressed === "true" ? 61 : NaN);
};
</script>
"""


def test_what_libraries_and_scripts_make_is_used(site: Frozen) -> None:
    """A slider by its internals, a menu, and what opens, switches, or shows another view."""
    told = site.told_of(LIBRARY)
    # three of the slider and of the menu, two of the buttons, and three more
    assert "pages/page.html: 11 programs\n" in told


def test_sliders_are_used_as_by_mouse_and_keyboard_and_what_is_closed_is_opened(site: Frozen) -> None:
    told = site.told_of(MADE)
    # three of that which is held, four of that which is made, two of a switch and in each tab, and the rest
    assert "pages/page.html: 16 programs\n" in told


def test_a_page_that_adds_inputs_on_and_on_is_left(site: Frozen) -> None:
    site.write("pages/scales.js", SCALES)
    adds = """
        import { scale } from "./scales.js";
        setInterval(() => {
            const field = Object.assign(document.createElement("input"), { type: "number", min: 2 });
            field.oninput = () => scale(field.value || 1);
            document.body.append(field);
        }, 50);"""
    page = f'<!doctype html><link rel="icon" href="data:,"><body><script type="module">{adds}</script>'
    site.write("pages/page.html", page)
    done = site.freeze()
    assert done.returncode == 0, done.stdout + done.stderr
    told = "(it keeps adding inputs, of which only some were moved)"
    assert f"pages/page.html: 2 programs {told}\n" in done.stdout


WORKING = """<!doctype html>
<link rel="icon" href="data:,">
<input id="factor" type="range" min="91" max="93" value="92">
<script type="module">
const worker = new Worker("worker.js", { type: "module" });
factor.oninput = () => worker.postMessage(factor.value);
// who has something else to do lets a worker go
const other = new Worker("worker.js?other", { type: "module" });
other.postMessage(94);
other.onmessage = () => other.terminate();
// one that starts one of its own, one from a text, and one that several pages have
const outer = new Worker("outer.js", { type: "module" });
const rose = new URL("scales.js", location);
const text = `import { scale } from "${rose}"; scale(96);`;
const script = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
const fromText = new Worker(script, { type: "module" });
URL.revokeObjectURL(script);
const shared = new SharedWorker("shared.js", { type: "module" });
// of one without an origin nothing is known
const alone = new Worker("data:text/javascript,0");
</script>
"""

OUTER = """import "./part.js";
const inner = new Worker("worker.js", { type: "module" });
inner.postMessage(95);
"""

PART_OF_OUTER = "import { scale } from './scales.js'; await scale(98);"

SHARED = "import { scale } from './scales.js'; onconnect = () => scale(97);"

WORKER = """import { scale } from "./scales.js";
onmessage = ({ data }) => {
    postMessage("begins");
    scale(data);
};
"""


def test_what_a_page_compiles_in_its_own_workers_is_frozen(site: Frozen) -> None:
    site.write("pages/page.html", WORKING)
    site.write("pages/scales.js", SCALES)
    site.write("pages/worker.js", WORKER)
    site.write("pages/outer.js", OUTER)
    site.write("pages/part.js", PART_OF_OUTER)
    site.write("pages/shared.js", SHARED)
    done = site.freeze()
    assert done.returncode == 0, done.stdout + done.stderr
    unseen = "what a worker from a data: address compiles is not seen"
    assert f"pages/page.html: 7 programs ({unseen})\n" in done.stdout


def test_addresses_of_workers_begin_where_the_page_says(site: Frozen) -> None:
    (site.root / "parts").mkdir()
    for name, text in (("scales.js", SCALES), ("worker.js", WORKER)):
        site.write(f"parts/{name}", text)
    script = """<script type="module">
        new Worker("worker.js", { type: "module" }).postMessage(2);
        </script>"""
    icon = '<link rel="icon" href="data:,">'
    site.write("pages/page.html", f'<!doctype html><base href="/parts/">{icon}{script}')
    done = site.freeze()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "pages/page.html: 1 program\n" in done.stdout


LONG_PAGE = """<!doctype html>
<link rel="icon" href="data:,">
<div style="height: 9000px"></div><p id="end"></p><iframe src="inner.html" loading="lazy"></iframe>
<script type="module">
import { scale } from "./scales.js";
new IntersectionObserver(([{ isIntersecting }]) => isIntersecting && scale(51)).observe(end);
</script>
"""


def test_what_a_page_compiles_when_it_is_seen_is_frozen(site: Frozen) -> None:
    """At the end of a long page, also in a frame that is loaded there, and in another at the end of that."""
    inner = LONG_PAGE.replace("inner", "innermost").replace("51", "52")
    site.write("pages/scales.js", SCALES)
    for name, text in (("page", LONG_PAGE), ("inner", inner), ("innermost", INNER)):
        site.write(f"pages/{name}.html", text)
    done = site.freeze()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "pages/page.html: 3 programs" in done.stdout


BOXES = """<!doctype html>
<link rel="icon" href="data:,">
<style>html, body, main { height: 100%; margin: 0; overflow: hidden } main { overflow: auto }</style>
<main>
    <div style="height: 9000px"></div>
    <section dir="rtl" style="display: flex; width: 200px; overflow: auto">
        <div style="min-width: 900px"></div><p id="left">left</p>
    </section>
    <p id="end">end</p>
</main>
<script type="module">
import { scale } from "./scales.js";
const observe = (element, factor) =>
    new IntersectionObserver(([{ isIntersecting }]) => isIntersecting && scale(factor)).observe(element);
observe(left, 52);
observe(end, 53);
</script>
"""


STORY = """<!doctype html>
<link rel="icon" href="data:,">
<section></section><section></section><section></section><section></section>
<section></section><section></section><section></section>
<style>section { height: 45vh; margin: 3vh }</style>
<script type="module">
import { Real, compile, fn, mul } from "../rose/rose.js";
let last = new AbortController();
const steps = [...document.querySelectorAll("section")];
const tell = (entries) => {
    for (const { target, isIntersecting } of entries) {
        if (!isIntersecting) continue;
        last.abort();
        last = new AbortController();
        const k = 51 + steps.indexOf(target);
        compile(fn([Real], Real, (x) => mul(k, x)), { signal: last.signal }).catch(() => {});
    }
};
const observer = new IntersectionObserver(tell, { rootMargin: "-49% 0px -49% 0px" });
for (const step of steps) observer.observe(step);
</script>
"""


def test_a_story_that_is_scrolled_is_seen_step_by_step(site: Frozen) -> None:
    """Each while it is in the middle, and given up when the next one is."""
    site.write("pages/page.html", STORY)
    done = site.freeze()
    assert done.returncode == 0, done.stdout + done.stderr
    # the first and the last are never in the middle
    assert "pages/page.html: 5 programs" in done.stdout


def test_what_scrolls_in_a_page_is_seen_to_its_end(site: Frozen) -> None:
    """As all does where the menu stays."""
    told = site.told_of(BOXES)
    assert "pages/page.html: 2 programs" in told


ENDLESS = """<!doctype html>
<link rel="icon" href="data:,"><input type="range" min="31" max="33">
<script type="module">
import { scale } from "./scales.js";
document.querySelector("input").oninput = ({ target }) => scale(target.value);
for (let k = 0; ; ++k) {
    await scale(k % 3);
    await new Promise((wake) => setTimeout(wake, 20));
}
</script>
"""


def test_a_page_that_goes_on_with_what_is_known_is_left(site: Frozen) -> None:
    told = site.told_of(ENDLESS)
    assert "pages/page.html: 6 programs" in told


FILLS = """<!doctype html>
<link rel="icon" href="data:,"><iframe></iframe><iframe></iframe><iframe></iframe><iframe></iframe>
<script type="module">
const filled = (k) => `<input type="range" min="${k}1" max="${k}2"><script type="module">
    import { scale } from "${new URL("scales.js", location)}";
    document.querySelector("input").oninput = ({ target }) => scale(target.value);
<${""}/script>`;
const [first, second, third] = document.querySelectorAll("iframe");
first.srcdoc = filled(1);
second.src = URL.createObjectURL(new Blob([filled(2)], { type: "text/html" }));
third.contentDocument.write(filled(3));
third.contentDocument.close();
</script>
"""


def test_frames_that_a_script_fills_are_used(site: Frozen) -> None:
    assert "pages/page.html: 6 programs" in site.told_of(FILLS)


TAKES_AWAY = """<!doctype html>
<link rel="icon" href="data:,"><input type="range" min="31" max="33"><iframe src="inner.html"></iframe>
<script type="module">
import { scale } from "./scales.js";
document.querySelector("input").oninput = ({ target }) => {
    document.querySelector("iframe")?.remove();
    scale(target.value);
};
</script>
"""


def test_a_frame_that_is_taken_away_is_no_mistake(site: Frozen) -> None:
    """And what it compiled before is frozen."""
    for name, text in (("page.html", TAKES_AWAY), ("inner.html", INNER), ("scales.js", SCALES)):
        site.write(f"pages/{name}", text)
    done = site.freeze()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "pages/page.html: 4 programs" in done.stdout


def test_a_page_that_calls_itself_something_else_warms_up(site: Frozen) -> None:
    moves = "history.pushState(null, '', '/some/place/else');\n"
    site.write("pages/page.js", moves + SCRIPT + WARM_UP.replace("[5, 6]", "[5]"))
    done = site.freeze()
    assert done.returncode == 0, done.stdout + done.stderr
    # when it is opened, and by its warm-up; there are three positions of its slider
    assert "pages/page.html: 2 programs\n" in done.stdout


def test_a_page_next_to_rose_is_frozen(site: Frozen, page: Page) -> None:
    """In a copy of all of Rose, which is not all of the site."""
    site.write("rose/package.json", '{"name": "rose-web"}')
    site.write("rose/page.js", SCRIPT.replace("../rose/", "./"))
    site.write("rose/page.html", PAGE)
    done = site.freeze()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "rose/page.html: 3 programs\n" in done.stdout
    with Server({"/": site.root}, quiet=True) as server:
        page.goto(f"{server.origin}/rose/page.html")
        slide(page, 3)
        assert "/rose/rose.worker.js" not in server.asked
    (site.root / "rose/page.html").unlink()
    done = site.freeze()
    assert "rose/frozen/manifest.json is stale" in done.stdout


def test_what_is_no_page_of_the_site_is_left_alone(site: Frozen) -> None:
    """What is hidden, what is npm's, and what comes with Rose; and who compiles on occasion is told how."""
    site.write("rose/package.json", '{"name": "rose-web"}')
    for place in (".drafts", "node_modules/one", "rose/site"):
        (site.root / place).mkdir(parents=True)
        site.write(f"{place}/page.html", PAGE)
    site.write("pages/page.html", PAGE.replace("<input", "<button>").replace("page.js", "click.js"))
    elsewhere = SCRIPT.replace("slider.oninput", "oncontextmenu").replace("\nshow();", "")
    site.write("pages/click.js", elsewhere)
    done = site.freeze()
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.findall(r"\S+\.html: \d programs.*", done.stdout) == [
        "pages/page.html: 0 programs (if something else makes it compile, "
        "export a function warmUp that does that)"
    ]
