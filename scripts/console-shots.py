#!/usr/bin/env python3
"""Drives the console in a real browser, and takes pictures of its pages for people to look at.

    scripts/console-shots.py FOLDER-WITH-THE-TOOLS FOLDER-FOR-THE-PICTURES

Needs Debian's chromium and, from PyPI, playwright. `make shots` says how to install them.
"""
import json, os, sqlite3, subprocess, sys, tempfile
from playwright.sync_api import sync_playwright

tools, pictures = (os.path.abspath(folder) for folder in sys.argv[1:3])
os.makedirs(pictures, exist_ok=True)
# As long as words get.
LONG = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft ist das längste Wort weit und breit"


def run(tool, *words):
    return subprocess.run([f"{tools}/{tool}", *words], capture_output=True, text=True, check=True).stdout


def sql(database, statements):
    connection = sqlite3.connect(database)
    connection.executescript(statements)
    connection.close()


def prepare():
    """A hub, a phone, and a conflict with a long word in it."""
    sql("office.sqlite", "CREATE TABLE reviews (id TEXT PRIMARY KEY, stars INTEGER, words TEXT); INSERT INTO reviews VALUES ('r1', 4, 'quiet')")
    with open("camp.json", "w") as file:
        json.dump({"dataset": "camp", "version": 1, "tables": {"reviews": {"conflict": "manual"}}}, file)
    run("satchel-hub", "init", "hub", "--dataset", "camp.json", "--database", "office.sqlite")
    run("satchel-hub", "-C", "hub", "user", "add", "ann")
    run("satchel-hub", "-C", "hub", "device", "provision", "phone", "--user", "ann", "--into", os.path.abspath("phone"))
    sql("phone/data.sqlite", f"UPDATE reviews SET stars = 2, words = '{LONG}'")
    sql("office.sqlite", "UPDATE reviews SET stars = 5, words = 'loud'")
    run("satchel", "-C", "phone", "export")


def drive(page, address):
    count = 0

    def shoot(name):
        nonlocal count
        count += 1
        page.screenshot(path=f"{pictures}/{count}-{name}.png", full_page=True)

    page.goto(address)
    # The folder of the session, in which all pages lie.
    site = page.url.rstrip("/")
    page.set_input_files("#files", "phone/bundles/outbox/camp-phone-hub-1.satchel")
    shoot("overview")
    page.get_by_role("button", name="Import", exact=True).click()
    assert "2 changes taken" in page.inner_text("main") or "1 conflict" in page.inner_text("main"), page.inner_text("main")
    shoot("imported")
    page.goto(site + "/conflicts")
    shoot("conflicts")
    page.click("table a")
    shoot("conflict")
    page.check("input[name=pick0][value=device]")
    page.fill("input[name=own1]", "calm")
    page.get_by_role("button", name="Decide", exact=True).click()
    assert "State: resolved" in page.inner_text("main"), page.inner_text("main")
    shoot("decided")
    for name in ["bundles", "scopes?user=ann", "rows?text=calm", "row?table=reviews&key=r1", "steps"]:
        page.goto(f"{site}/{name}")
        shoot(name.split("?")[0])
    page.set_viewport_size({"width": 400, "height": 700})
    page.goto(site + "/conflicts?state=all")
    shoot("narrow")
    page.emulate_media(color_scheme="dark")
    page.goto(site)
    shoot("dark")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    prepare()
    console = subprocess.Popen([f"{tools}/satchel-hub", "-C", "hub", "console", "--json"], stdout=subprocess.PIPE, text=True)
    document = ""
    while not document.endswith("}\n"):
        document += console.stdout.readline()
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
            drive(browser.new_page(viewport={"width": 1000, "height": 700}), json.loads(document)["address"])
            browser.close()
    finally:
        console.terminate()
    assert console.wait() == 0
found = sorted(name for name in os.listdir(pictures) if name.endswith(".png"))
print(f"{len(found)} pictures in {pictures}")
