"""dist/ as it is served: from the root of a host, from a folder of it, and in Node."""

import re

import pytest


@pytest.mark.parametrize("place", ["site_url", "folder_url"])
def test_the_index_page_opens(page, place, request):
    page.goto(request.getfixturevalue(place) + "site/index.html")
    assert page.title()


def test_the_host_s_root_leads_to_the_site(page, folder_url):
    page.goto(folder_url)
    assert page.url == folder_url + "site/"


def test_the_classic_script_defines_rose(page, folder_url):
    page.goto(folder_url + "site/index.html")
    page.add_script_tag(url="../rose.global.js")
    assert page.evaluate("typeof window.rose") == "object"


def test_the_module_loads_in_node(node):
    assert node("import * as rose from './rose.js'; console.log(typeof rose)").strip() == "object"


def test_what_goes_wrong_on_a_page_is_noticed(page, site_url, problems):
    page.goto(site_url + "site/index.html")
    page.evaluate("console.error('on the console')")
    page.evaluate("setTimeout(() => { throw new Error('an exception') })")
    page.evaluate("new Promise(done => { new Worker('gone.js').onerror = done })")
    page.wait_for_timeout(100)
    for problem in (
        "console: on the console",
        "uncaught: an exception",
        "404 .*/gone.js",
        "failed .*/gone.js",
    ):
        assert any(re.match(problem, line) for line in problems), problem
    problems.clear()


@pytest.mark.provokes("console: expected")
def test_what_a_test_provokes_does_not_fail_it(page, site_url):
    page.goto(site_url + "site/index.html")
    page.evaluate("console.error('expected')")
