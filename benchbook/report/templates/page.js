"use strict";
// What the page can do beyond being read: commands are copied, sweeps zoomed, the index searched.
(() => {
  const make = (name, text, more) => Object.assign(document.createElement(name), { textContent: text }, more);

  function taken(element) {
    const range = document.createRange();
    range.selectNodeContents(element);
    const selected = getSelection();
    selected.removeAllRanges();
    selected.addRange(range);
    return document.execCommand("copy");
  }

  for (const command of document.querySelectorAll("code.command")) {
    const button = make("button", "Copy", { type: "button", className: "copy" });
    const said = make("span", "", { className: "told" });
    said.setAttribute("role", "status");
    button.setAttribute("aria-label", "Copy the command " + command.textContent);
    button.addEventListener("click", async () => {
      let done = true;
      try {
        await navigator.clipboard.writeText(command.textContent);
      } catch {
        done = taken(command);
      }
      said.textContent = done ? "copied" : "select it and copy it by hand";
      setTimeout(() => { said.textContent = ""; }, 4000);
    });
    const both = make("span", " ", { className: "copying" });
    both.append(button, " ", said);
    command.after(both);
  }

  // Without a font for a script every character of it is the same empty box: a note stands instead.
  const drawnWith = (character) => {
    const canvas = make("canvas", "", { width: 40, height: 40 });
    const pen = canvas.getContext("2d");
    pen.font = "30px sans-serif";
    pen.fillText(character, 2, 32);
    return canvas.toDataURL();
  };
  const foreign = document.querySelectorAll(".foreign");
  if (foreign.length && drawnWith("\u8a9e") === drawnWith("\u4e00")) {
    document.documentElement.classList.add("no-font");
  }
  // A part that is folded is opened; one that stands on the paper's other page is looked up there.
  function lead() {
    const name = decodeURIComponent(location.hash.slice(1));
    const part = name && document.getElementById(name);
    const other = document.body.dataset.other;
    if (name && !part && other && document.referrer.split("#")[0].split("/").pop() !== other) location.replace(other + location.hash);
    if (part && part.closest(".claim.later")) document.getElementById("show-every").checked = true;
    for (let fold = part; fold; fold = fold.parentElement) if (fold.tagName === "DETAILS") fold.open = true;
    if (part) part.scrollIntoView();
  }
  addEventListener("hashchange", lead);
  lead();

  // A sweep's picture is zoomed: marks move apart and keep their size, and ticks move with them.
  function zoomable(box) {
    const picture = box.querySelector("svg");
    const frame = picture && [...picture.querySelectorAll("path")][1]?.getBBox();
    if (!frame || !frame.width) return;
    const BELOW = 37, SMALL = 16;
    const unit = picture.viewBox.baseVal.width / picture.getBoundingClientRect().width;
    const corner = picture.getBoundingClientRect();
    const parts = [...picture.querySelectorAll("path, use, text, image")].slice(2)
      .filter((part) => !part.closest("defs")).map((part) => {
        const seen = part.getBoundingClientRect();
        const place = { x: (seen.left - corner.left) * unit, y: (seen.top - corner.top) * unit, w: seen.width * unit, h: seen.height * unit };
        return { part, place, x: place.x + place.w / 2, y: place.y + place.h / 2 };
      });
    const right = frame.x + frame.width, bottom = frame.y + frame.height;
    // Texts below the frame are numbers of ticks, of one line or more; the last line names the axis.
    const below = parts.filter(({ part, y }) => part.tagName === "text" && y > bottom && y < bottom + BELOW).map(({ y }) => y);
    const named = Math.max(...below) - 2;
    for (const each of parts) {
      const { x, y, place, part } = each;
      const text = part.tagName === "text", clipped = part.hasAttribute("clip-path") || Boolean(part.closest("[clip-path]"));
      const tall = place.h > 0.9 * frame.height, wide = place.w > 0.9 * frame.width;
      const edge = !clipped && ((tall && wide) || (tall && place.w < 2) || (wide && place.h < 2));
      const within = x > frame.x - 1 && x < right + 1 && y > frame.y - 1 && y < bottom + 1;
      if (edge) each.kind = "kept";
      else if (clipped || (within && (text || (Math.abs(x - frame.x) > 4 && Math.abs(y - bottom) > 4)))) each.kind = place.w < SMALL && place.h < SMALL || text ? "mark" : "line";
      else if (y > bottom - 4 && y < (text ? named : bottom + SMALL) && x > frame.x - 4 && x < right + 4) each.kind = "across";
      else if (text && y < frame.y && y > frame.y - BELOW && x > frame.x) each.kind = "across";
      else if (x < frame.x + 4 && y > frame.y - 4 && y < bottom + 4) each.kind = "up";
      else each.kind = x > right && !text ? "lead" : "kept";
    }
    // A name of a mark moves with the mark that is nearest to it.
    const marks = parts.filter(({ kind, part }) => kind === "mark" && part.tagName !== "text");
    for (const each of parts) {
      const far = (mark) => Math.hypot(mark.x - each.x, mark.y - each.y);
      const nearest = marks.length && marks.reduce((best, mark) => (far(mark) < far(best) ? mark : best));
      each.by = each.part.tagName === "text" && nearest && far(nearest) < 2 * SMALL ? nearest : each;
    }
    // A mark that moved must not leave the frame, and what clips a part would move with it.
    const make = (name) => document.createElementNS(picture.namespaceURI, name);
    const clip = make("clipPath"), hole = make("rect"), field = make("g");
    clip.id = "zoom-" + document.querySelectorAll("clipPath").length;
    for (const side of ["x", "y", "width", "height"]) hole.setAttribute(side, frame[side]);
    clip.append(hole);
    picture.prepend(clip);
    field.setAttribute("clip-path", "url(#" + clip.id + ")");
    const whole = { left: 0, top: 0, size: 1 };
    let view = whole;
    function show(next) {
      const size = Math.min(1, Math.max(1 / 32, next.size));
      const inside = (start) => Math.min(Math.max(0, start), 1 - size);
      view = { left: inside(next.left), top: inside(next.top), size };
      if (size < 1 && !field.isConnected) {
        const moved = parts.filter(({ kind }) => kind === "mark" || kind === "line");
        moved[0]?.part.closest("svg > *").before(field);
        for (const { part } of moved) {
          const style = part.parentElement === picture ? "" : part.parentElement.getAttribute("style");
          const holder = make("g");
          if (style) holder.setAttribute("style", style);
          part.removeAttribute("clip-path");
          holder.append(part);
          field.append(holder);
        }
      }
      const across = (x) => frame.x + ((x - frame.x) / frame.width - view.left) / size * frame.width;
      const up = (y) => frame.y + ((y - frame.y) / frame.height - view.top) / size * frame.height;
      const pixels = picture.getBoundingClientRect().width / picture.viewBox.baseVal.width;
      for (const { part, kind, x, y, by } of parts) {
        const own = part.dataset.own ??= part.getAttribute("transform") || "";
        const to = { mark: [across(by.x) - by.x, up(by.y) - by.y], across: [across(x) - x, 0], up: [0, up(y) - y] }[kind];
        if (to) part.setAttribute("transform", "translate(" + to.join(" ") + ") " + own);
        if (kind === "line") {
          part.dataset.thick ??= parseFloat(getComputedStyle(part).strokeWidth) || 0;
          part.style.strokeWidth = part.dataset.thick * pixels;
          part.setAttribute("vector-effect", "non-scaling-stroke");
          part.setAttribute("transform", "matrix(" + [1 / size, 0, 0, 1 / size, across(0), up(0)].join(" ") + ") " + own);
        }
        const out = (kind === "across" && (across(x) < frame.x - 2 || across(x) > right + 2)) || (kind === "up" && (up(y) < frame.y - 2 || up(y) > bottom + 2));
        part.style.visibility = out || (kind === "lead" && size < 1) ? "hidden" : "";
      }
      said.textContent = size < 1 ? Math.round(10 / size) / 10 + " times as large" : "";
    }
    const about = (x, y, factor) => show({ size: view.size / factor, left: x - (x - view.left) / factor, top: y - (y - view.top) / factor });
    const middle = (factor) => about(view.left + view.size / 2, view.top + view.size / 2, factor);
    const move = (x, y) => show({ ...view, left: view.left + x * view.size / 4, top: view.top + y * view.size / 4 });
    const actions = { "+": () => middle(1.5), "=": () => middle(1.5), "-": () => middle(1 / 1.5), "0": () => show(whole) };
    const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    box.addEventListener("keydown", (event) => {
      const act = actions[event.key] || (view.size < 1 && arrows[event.key] && (() => move(...arrows[event.key])));
      if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      act();
    });
    // Where a pointer is, as a share of what the frame shows.
    const at = (event) => {
      const now = picture.getBoundingClientRect(), scale = picture.viewBox.baseVal.width / now.width;
      const share = (value, start, length) => Math.min(Math.max((value * scale - start) / length, 0), 1);
      return [share(event.clientX - now.left, frame.x, frame.width), share(event.clientY - now.top, frame.y, frame.height)];
    };
    let from = null;
    const drawn = make("rect");
    drawn.setAttribute("class", "zoom-area");
    picture.addEventListener("pointerdown", (event) => {
      if (event.pointerType !== "mouse" || event.button) return;
      from = at(event);
      picture.setPointerCapture(event.pointerId);
      event.preventDefault();
      box.focus({ preventScroll: true });
    });
    picture.addEventListener("pointermove", (event) => {
      if (!from) return;
      const to = at(event);
      const sides = { x: frame.x + Math.min(from[0], to[0]) * frame.width, y: frame.y + Math.min(from[1], to[1]) * frame.height, width: Math.abs(to[0] - from[0]) * frame.width, height: Math.abs(to[1] - from[1]) * frame.height };
      for (const [side, value] of Object.entries(sides)) drawn.setAttribute(side, value);
      picture.append(drawn);
    });
    picture.addEventListener("pointerup", (event) => {
      if (!from) return;
      const to = at(event), size = Math.max(Math.abs(to[0] - from[0]), Math.abs(to[1] - from[1]));
      drawn.remove();
      const centre = [0, 1].map((k) => (from[k] + to[k]) / 2);
      from = null;
      if (size > 0.03) show({ size: view.size * size, left: view.left + view.size * (centre[0] - size / 2), top: view.top + view.size * (centre[1] - size / 2) });
    });
    const bar = document.createElement("p"), said = document.createElement("span");
    bar.className = "zooming";
    said.setAttribute("role", "status");
    for (const [sign, name] of [["+", "Zoom in"], ["-", "Zoom out"], ["0", "Show the whole picture"]]) {
      const button = Object.assign(document.createElement("button"), { type: "button", textContent: sign === "0" ? "whole" : sign === "-" ? "−" : sign });
      button.setAttribute("aria-label", name);
      button.addEventListener("click", actions[sign]);
      bar.append(button, " ");
    }
    bar.append("Drag over a part of the picture, or press + and −. ", said);
    box.after(bar);
  }
  document.querySelectorAll(".scroll.zoom").forEach(zoomable);

  const search = document.getElementById("search");
  if (!search) return;
  const list = document.getElementById("entries");
  const count = document.getElementById("found");
  const lines = [...list.querySelectorAll("li")].map((line) => [line, line.textContent.toLowerCase()]);
  search.hidden = false;
  search.querySelector("input").addEventListener("input", (event) => {
    const words = event.target.value.toLowerCase().split(/\s+/).filter(Boolean);
    let found = 0;
    for (const [line, text] of lines) {
      line.hidden = !words.every((word) => text.includes(word));
      found += !line.hidden;
    }
    list.open = words.length > 0;
    count.textContent = words.length ? found + " of " + lines.length + " found" : "";
  });
})();
