"""What a reader sees of a page, in a real browser: overlaps, what is cut off, what axe finds."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = "/usr/bin/chromium"
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
WIDTHS = (1440, 768, 375)
SCHEMES = ("light", "dark")

# Takes away what page.js adds: the same must be left as without it.
WITHOUT_SCRIPT = """document.querySelectorAll('.copying, .zooming').forEach(one => one.remove());
if (document.getElementById('search')) document.getElementById('search').hidden = true;"""
OPEN = "document.querySelectorAll('details').forEach(one => one.open = true)"
# Texts that lie over one another by more than a sliver: of each picture, and of the page's lines.
OVERLAPS = """() => {
  const found = [];
  const compare = (boxes, where, share) => {
    boxes.sort((a, b) => a.box.top - b.box.top);
    boxes.forEach((a, i) => {
      for (let j = i + 1; j < boxes.length && boxes[j].box.top < a.box.bottom; j++) {
        const b = boxes[j];
        const wide = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left);
        const high = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top);
        if (wide > 2 && high > share * Math.min(a.box.height, b.box.height))
          found.push(where + a.text + ' | ' + b.text);
      }
    });
  };
  for (const svg of document.querySelectorAll('svg'))
    compare([...svg.querySelectorAll('text')].map(
      text => ({ text: text.textContent, box: text.getBoundingClientRect() })), svg.id, 0.3);
  const lines = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode;
    // A table scrolls inside its box, and its first column stays over the others.
    if (!node.data.trim() || node.parentElement.closest('svg, style, script, .scroll')) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const box of range.getClientRects()) lines.push({ text: node.data.trim(), box });
  }
  compare(lines, '', 0.5);
  return found;
}"""
# Labels that a picture cuts off, and lines of the page that leave it.
CUT_OFF = """() => {
  const found = [];
  for (const svg of document.querySelectorAll('svg')) {
    const all = svg.getBoundingClientRect();
    for (const text of svg.querySelectorAll('text')) {
      const box = text.getBoundingClientRect();
      if (box.left < all.left - 2 || box.right > all.right + 2
        || box.top < all.top - 2 || box.bottom > all.bottom + 2) found.push(text.textContent);
    }
  }
  for (const one of document.querySelectorAll('body *:not(svg *)')) {
    const box = one.getBoundingClientRect();
    const out = box.width && (box.right > innerWidth + 1 || box.left < -1);
    if (out && !one.closest('.scroll *, pre *')) found.push(one.outerHTML.slice(0, 200));
  }
  return found;
}"""
STRUCTURE = """() => {
  const all = (what) => [...document.querySelectorAll(what)];
  return {
    language: document.documentElement.lang,
    title: document.title,
    levels: all('h1, h2, h3, h4').map(one => Number(one.tagName[1])),
    landmarks: all('nav, main, footer').map(one => one.tagName.toLowerCase()),
    unnamed: all('svg, img, .scroll').filter(
      one => !(one.getAttribute('aria-label') || one.alt || one.closest('[aria-hidden]'))).length,
    ids: all('[id]').map(one => one.id),
    empty: all('h1, h2, h3, figcaption, summary, thead th').filter(
      one => !one.textContent.trim()).length,
    unscoped: all('th:not([scope])').map(one => one.textContent),
  };
}"""
# Of texts with the same way to them (names, classes and colours of all that they lie in) one: what
# axe takes most of its time for, the contrast of each, is the same for all of them.
DIFFERENT = """() => {
  const seen = new Set(), found = [], ways = new Map([[document.documentElement, '']]);
  const way = (one) => {
    if (!ways.has(one)) {
      const { color, backgroundColor, backgroundImage, fill, fontSize, fontWeight, opacity } =
        getComputedStyle(one);
      ways.set(one, [one.tagName, one.getAttribute('class'), one.getAttribute('style'), color,
        backgroundColor, backgroundImage, fill, fontSize, fontWeight, opacity,
        way(one.parentElement)].join(' '));
    }
    return ways.get(one);
  };
  for (const one of document.querySelectorAll('body, body *')) {
    if (![...one.childNodes].some(node => node.nodeType === 3 && node.data.trim())) continue;
    if (!seen.has(way(one))) found.push(one);
    seen.add(way(one));
  }
  return found;
}"""
WIDTH = "document.documentElement.scrollWidth"
PAPER = "getComputedStyle(document.body).backgroundColor"


@cache
def _axe() -> str:
    return files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")


def opened(browser: Browser, path: Path, width: int = WIDTHS[0], **more: Any) -> Page:
    """The page in a window of this width."""
    shown = browser.new_page(viewport={"width": width, "height": 800}, **more)
    shown.goto(path.as_uri())
    return shown


def look(browser: Browser, path: Path) -> dict[str, Any]:
    """What is seen of a page at every width: each list is empty where all is well."""
    shown = browser.new_page(viewport={"width": WIDTHS[0], "height": 800})
    messages, requests = _heard(shown)
    shown.goto(path.as_uri())
    shown.evaluate(WITHOUT_SCRIPT)
    seen: dict[str, Any] = {"text": _text(shown), **shown.evaluate(STRUCTURE)}
    shown.evaluate(OPEN)
    seen["unfolded"] = _text(shown)
    seen |= _at_each_width(shown)
    shown.close()
    return seen | {"messages": messages, "requests": requests}


def look_without_script(browser: Browser, path: Path) -> dict[str, Any]:
    """What `look` sees where JavaScript is off and the reader prefers the dark."""
    context = browser.new_context(java_script_enabled=False, color_scheme="dark")
    shown = context.new_page()
    messages, requests = _heard(shown)
    shown.goto(path.as_uri())
    seen: dict[str, Any] = {"text": _text(shown), "paper": shown.evaluate(PAPER)}
    shown.evaluate(OPEN)
    seen |= _at_each_width(shown)
    context.close()
    return seen | {"messages": messages, "requests": requests}


def _text(shown: Page) -> str:
    """What the page says; its contents say again what its headings do."""
    contents = shown.locator(".contents")
    again = contents.inner_text() if contents.count() else ""
    return shown.inner_text("body").replace(again, "", 1)


def _heard(shown: Page) -> tuple[list[str], list[str]]:
    messages: list[str] = []
    requests: list[str] = []
    shown.on("console", lambda message: messages.append(message.text))
    shown.on("pageerror", lambda error: messages.append(str(error)))
    shown.on("request", lambda request: requests.append(request.url))
    return messages, requests


def _at_each_width(shown: Page) -> dict[str, Any]:
    seen: dict[str, Any] = {"widths": {}, "overlaps": [], "cut_off": []}
    for width in WIDTHS:
        shown.set_viewport_size({"width": width, "height": 800})
        seen["widths"][width] = shown.evaluate(WIDTH)
        seen["overlaps"] += shown.evaluate(OVERLAPS)
        seen["cut_off"] += shown.evaluate(CUT_OFF)
    return seen


def violations(browser: Browser, path: Path) -> list[str]:
    """What axe finds: everything in the light, and contrast of different texts in both schemes."""
    shown = opened(browser, path)
    shown.evaluate(OPEN)
    shown.evaluate(_axe())
    lines = []
    for scheme in SCHEMES:
        shown.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        contrast = "runOnly: ['color-contrast']"
        runs = [f"{{include: ({DIFFERENT})()}}, {{resultTypes: ['violations'], {contrast}}}"]
        if scheme == "light":
            others = "rules: {'color-contrast': {enabled: false}}"
            runs.append(f"document, {{resultTypes: ['violations'], {others}}}")
        for arguments in runs:
            result = shown.evaluate(f"() => axe.run({arguments})")
            lines += [
                f"{scheme}: {violation['id']}: {node['html'][:200]}"
                for violation in result["violations"]
                for node in violation["nodes"]
            ]
    shown.close()
    return lines
