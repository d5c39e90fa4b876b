// Suggestions under the search box: the combobox pattern of the ARIA practices. Every form works without this file.
"use strict";

const PAUSE = 120; // milliseconds without a key before the site is asked
const KEPT = 200; // answers

function suggestTo(box) {
  const place = document.getElementById(box.dataset.suggest);
  const list = place.querySelector("ul");
  const spoken = place.querySelector("[role=status]");
  const answers = new Map();
  let typed = box.value; // what the reader has typed, while the box shows a suggestion
  let shown = [];
  let present = -1;
  let composing = false;
  let timer = 0;
  let asking = null;

  box.type = "text"; // a search field may not have this role
  for (const [name, value] of Object.entries({
    role: "combobox", "aria-autocomplete": "list", "aria-haspopup": "listbox", "aria-expanded": "false",
    "aria-controls": list.id,
  })) box.setAttribute(name, value);

  function stop() {
    clearTimeout(timer);
    if (asking) asking.abort();
    asking = null;
  }

  function close() {
    stop();
    shown = [];
    present = -1;
    list.hidden = true;
    list.replaceChildren();
    spoken.textContent = "";
    box.setAttribute("aria-expanded", "false");
    box.removeAttribute("aria-activedescendant");
  }

  function option(suggestion, index) {
    const item = document.createElement("li");
    item.id = `${list.id}-${index}`;
    item.setAttribute("role", "option");
    item.setAttribute("aria-selected", "false");
    const text = document.createElement("bdi");
    text.textContent = suggestion.text;
    const kind = document.createElement("span");
    kind.className = "kind";
    kind.textContent = place.dataset[suggestion.kind] || "";
    item.append(text, " ", kind);
    item.addEventListener("mousedown", (event) => event.preventDefault()); // the box keeps the focus
    item.addEventListener("click", () => choose(index));
    return item;
  }

  function open(suggestions) {
    if (suggestions.length === 0 || document.activeElement !== box) return close();
    shown = suggestions;
    present = -1;
    list.replaceChildren(...suggestions.map(option));
    list.hidden = false;
    box.setAttribute("aria-expanded", "true");
    box.removeAttribute("aria-activedescendant");
    const count = suggestions.length;
    spoken.textContent = count === 1 ? place.dataset.countOne : place.dataset.count.replace("{n}", count);
  }

  function go(step) {
    stop(); // a late answer would take the list away from under the reader
    const places = shown.length + 1; // one more: what was typed
    present = ((present + 1 + step + places) % places) - 1;
    list.querySelectorAll("[role=option]").forEach((item, index) => {
      item.setAttribute("aria-selected", String(index === present));
      if (index === present) item.scrollIntoView({ block: "nearest" });
    });
    box.value = present < 0 ? typed : shown[present].text;
    if (present < 0) box.removeAttribute("aria-activedescendant");
    else box.setAttribute("aria-activedescendant", `${list.id}-${present}`);
  }

  function choose(index) {
    box.value = shown[index].text;
    close();
    box.form.requestSubmit();
  }

  async function ask() {
    const query = typed.trim();
    if (!query) return close();
    if (answers.has(query)) return open(answers.get(query));
    const own = new AbortController();
    asking = own;
    try {
      const address = `${place.dataset.address}?${new URLSearchParams({ q: query, format: "json" })}`;
      const response = await fetch(address, { signal: own.signal, headers: { Accept: "application/json" } });
      if (!response.ok) return close();
      const { suggestions } = await response.json();
      if (answers.size >= KEPT) answers.clear();
      answers.set(query, suggestions);
      if (asking === own) open(suggestions);
    } catch (error) {
      if (asking === own) close(); // else a newer question has ended this one
    }
  }

  function soon() {
    stop();
    typed = box.value;
    timer = setTimeout(ask, PAUSE);
  }

  // While an input method is composing, its own list is open, and the letters in the box are not the query.
  box.addEventListener("compositionstart", () => { composing = true; close(); });
  box.addEventListener("compositionend", () => { composing = false; soon(); });
  box.addEventListener("input", (event) => {
    if (!composing && !event.isComposing) soon();
  });

  box.addEventListener("keydown", (event) => {
    if (composing || event.isComposing || event.keyCode === 229) return;
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const isOpen = shown.length > 0;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (isOpen) go(event.key === "ArrowDown" ? 1 : -1);
      else if (event.key === "ArrowDown") soon();
      else return;
    } else if (event.key === "Escape" && isOpen) {
      box.value = typed;
      close();
    } else if (event.key === "Enter" && present >= 0) {
      choose(present);
    } else {
      return;
    }
    event.preventDefault();
  });

  box.addEventListener("blur", close);
  box.form.addEventListener("submit", close);
  window.addEventListener("pageshow", close); // back from a result: the list that was open is stale
}

document.querySelectorAll("input[data-suggest]").forEach(suggestTo);
