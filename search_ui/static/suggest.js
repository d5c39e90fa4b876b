// Suggestions under the search box: the combobox pattern of the ARIA practices. Every form works without this file.
"use strict";

const DEBOUNCE_MS = 120; // without a key before a request
const MAX_CACHED_QUERIES = 200;

function initSuggest(box) {
  const container = document.getElementById(box.dataset.suggest);
  const list = container.querySelector("ul");
  const statusBox = container.querySelector("[role=status]");
  const cache = new Map();
  let typed = box.value; // the typed text, while the box shows a suggestion
  let visible = [];
  let selected = -1;
  let composing = false;
  let timer = 0;
  let request = null;

  box.type = "text"; // a search field must not have this role
  for (const [name, value] of Object.entries({
    role: "combobox", "aria-autocomplete": "list", "aria-haspopup": "listbox", "aria-expanded": "false",
    "aria-controls": list.id,
  })) box.setAttribute(name, value);

  function stop() {
    clearTimeout(timer);
    if (request) request.abort();
    request = null;
  }

  function close() {
    stop();
    visible = [];
    selected = -1;
    list.hidden = true;
    list.replaceChildren();
    statusBox.textContent = "";
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
    kind.textContent = container.dataset[suggestion.kind] || "";
    item.append(text, " ", kind);
    item.addEventListener("mousedown", (event) => event.preventDefault()); // keeps the focus in the box
    item.addEventListener("click", () => choose(index));
    return item;
  }

  function open(suggestions) {
    if (suggestions.length === 0 || document.activeElement !== box) return close();
    visible = suggestions;
    selected = -1;
    list.replaceChildren(...suggestions.map(option));
    list.hidden = false;
    box.setAttribute("aria-expanded", "true");
    box.removeAttribute("aria-activedescendant");
    const count = suggestions.length;
    statusBox.textContent = count === 1 ? container.dataset.countOne : container.dataset.count.replace("{n}", count);
  }

  function move(step) {
    stop(); // a late response must not replace the list
    const slots = visible.length + 1; // the typed text is one of them
    selected = ((selected + 1 + step + slots) % slots) - 1;
    list.querySelectorAll("[role=option]").forEach((item, index) => {
      item.setAttribute("aria-selected", String(index === selected));
      if (index === selected) item.scrollIntoView({ block: "nearest" });
    });
    box.value = selected < 0 ? typed : visible[selected].text;
    if (selected < 0) box.removeAttribute("aria-activedescendant");
    else box.setAttribute("aria-activedescendant", `${list.id}-${selected}`);
  }

  function choose(index) {
    box.value = visible[index].text;
    close();
    box.form.requestSubmit();
  }

  async function fetchSuggestions() {
    const query = typed.trim();
    if (!query) return open(readSearches().map((text) => ({ text, kind: "recent" }))); // from bookmarks.js
    if (cache.has(query)) return open(cache.get(query));
    const controller = new AbortController();
    request = controller;
    try {
      const address = `${container.dataset.address}?${new URLSearchParams({ q: query, format: "json" })}`;
      const response = await fetch(address, { signal: controller.signal, headers: { Accept: "application/json" } });
      if (!response.ok) return close();
      const { suggestions } = await response.json();
      if (cache.size >= MAX_CACHED_QUERIES) cache.clear();
      cache.set(query, suggestions);
      if (request === controller) open(suggestions);
    } catch (error) {
      if (request === controller) close(); // otherwise a newer request has aborted this one
    }
  }

  function schedule() {
    stop();
    typed = box.value;
    timer = setTimeout(fetchSuggestions, DEBOUNCE_MS);
  }

  // While an input method is composing, its own list is open and the letters in the box are not the query.
  box.addEventListener("compositionstart", () => { composing = true; close(); });
  box.addEventListener("compositionend", () => { composing = false; schedule(); });
  box.addEventListener("input", (event) => {
    if (!composing && !event.isComposing) schedule();
  });

  box.addEventListener("keydown", (event) => {
    if (composing || event.isComposing || event.keyCode === 229) return;
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const isOpen = visible.length > 0;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (isOpen) move(event.key === "ArrowDown" ? 1 : -1);
      else if (event.key === "ArrowDown") schedule();
      else return;
    } else if (event.key === "Escape" && isOpen) {
      box.value = typed;
      close();
    } else if (event.key === "Enter" && selected >= 0) {
      choose(selected);
    } else {
      return;
    }
    event.preventDefault();
  });

  box.addEventListener("click", () => { if (!box.value && visible.length === 0) schedule(); });
  box.addEventListener("blur", close);
  box.form.addEventListener("submit", close);
  window.addEventListener("pageshow", close); // back from a result: the list is stale
}

document.querySelectorAll("input[data-suggest]").forEach(initSuggest);
