"use strict";
// What the page can do beyond being read: commands are copied, the index is searched.
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
    for (let fold = part; fold; fold = fold.parentElement) if (fold.tagName === "DETAILS") fold.open = true;
    if (part) part.scrollIntoView();
  }
  addEventListener("hashchange", lead);
  lead();

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
