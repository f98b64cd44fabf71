def test_the_index_page_opens(page, site_url):
    page.goto(site_url + "site/index.html")
    assert page.title()
