// Bookmarks and recent searches, which only this browser keeps. Shared lists and their exports work without this file.
"use strict";

const BOOKMARKS_KEY = "plumbline.bookmarks"; // document ids, newest first
const SEARCHES_KEY = "plumbline.searches"; // queries, newest first; null: the reader does not want them
const MAX_STORED_SEARCHES = 10;
const MAX_MAIL_CHARS = 1800; // longer links are cut by mail programs

function readStored(key, fallback) {
  try {
    const stored = JSON.parse(localStorage.getItem(key) ?? "");
    return stored === null || (Array.isArray(stored) && stored.every((item) => typeof item === "string")) ? stored : fallback;
  } catch (error) {
    return fallback; // nothing stored, or storage is off
  }
}

function store(key, value) {
  try {
    localStorage.setItem(key, JSON.stringify(value));
    return true;
  } catch (error) {
    return false; // full, or storage is off
  }
}

const readBookmarks = () => readStored(BOOKMARKS_KEY, []) || [];
const readSearches = () => readStored(SEARCHES_KEY, []) || [];
const keepsSearches = () => readStored(SEARCHES_KEY, []) !== null;

function showStar(star, bookmarks) {
  const isKept = bookmarks.has(star.dataset.bookmark);
  star.hidden = false;
  star.setAttribute("aria-pressed", String(isKept));
  star.firstElementChild.textContent = isKept ? "★" : "☆";
}

function showStars() {
  const bookmarks = new Set(readBookmarks());
  document.querySelectorAll("[data-bookmark]").forEach((star) => showStar(star, bookmarks));
}

function setBookmarks(ids, button) {
  const isWithinLimit = ids.length <= Math.max(Number(document.body.dataset.maxBookmarks), readBookmarks().length);
  document.querySelectorAll(".not-kept").forEach((note) => note.remove());
  if (!isWithinLimit || !store(BOOKMARKS_KEY, ids)) {
    const note = document.createElement("span");
    note.className = "not-kept field-error";
    note.setAttribute("role", "alert");
    note.textContent = document.body.dataset.notKept;
    button.after(note);
  }
  showStars();
}

document.addEventListener("click", (event) => {
  const star = event.target.closest("[data-bookmark]");
  if (!star) return;
  const others = readBookmarks().filter((id) => id !== star.dataset.bookmark);
  const isKept = star.getAttribute("aria-pressed") === "true";
  setBookmarks(isKept ? others : [star.dataset.bookmark, ...others], star);
});
window.addEventListener("storage", showStars); // another tab
window.addEventListener("pageshow", showStars);

const searched = document.querySelector("[data-searched]")?.dataset.searched;
if (searched && keepsSearches()) {
  store(SEARCHES_KEY, [searched, ...readSearches().filter((query) => query !== searched)].slice(0, MAX_STORED_SEARCHES));
}

// The page of bookmarks: the browser asks for the articles of its list, as for a shared list.
const bookmarkList = document.getElementById("bookmarks");

async function fillBookmarks() {
  const ids = readBookmarks(), size = Number(bookmarkList.dataset.maxShared);
  let gone = 0;
  bookmarkList.setAttribute("aria-busy", "true");
  for (let start = 0; start < ids.length; start += size) {
    const response = await fetch(`?${new URLSearchParams({ ids: ids.slice(start, start + size) })}`, { headers: { Accept: "text/html" } });
    if (!response.ok) throw new Error(String(response.status));
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    bookmarkList.append(...page.getElementById("bookmarks").children);
    gone += Number(page.getElementById("gone").dataset.count);
    showStars();
  }
  bookmarkList.removeAttribute("aria-busy");
  const note = document.getElementById("gone");
  note.hidden = gone === 0;
  note.textContent = note.dataset.text.replace("{n}", gone);
}

function showActions() {
  const ids = readBookmarks(), form = document.getElementById("export-bookmarks");
  document.getElementById("no-bookmarks").hidden = ids.length > 0;
  form.hidden = ids.length === 0;
  form.elements.ids.value = ids.join(",");
  const link = document.getElementById("share-link"), mail = document.getElementById("share-mail");
  const isShareable = ids.length <= Number(bookmarkList.dataset.maxShared);
  document.getElementById("share").hidden = false;
  link.search = isShareable ? `ids=${ids.join(",")}` : "";
  if (!isShareable) link.parentElement.textContent = link.dataset.tooMany;
  else mail.href = mailAddress(mail.dataset.subject, link.href);
}

function mailAddress(subject, address) {
  const lines = [address, ""];
  for (const item of bookmarkList.querySelectorAll("li > a")) {
    if (encodeURIComponent([...lines, item.textContent].join("\n")).length > MAX_MAIL_CHARS) break;
    lines.push(item.textContent);
  }
  return `mailto:?subject=${encodeURIComponent(subject)}&body=${encodeURIComponent(lines.join("\n"))}`;
}

function showSearches() {
  const list = document.getElementById("recent-searches"), switchBox = document.getElementById("remember-searches");
  switchBox.checked = keepsSearches();
  list.replaceChildren(...readSearches().map((query) => {
    const item = document.createElement("li"), link = document.createElement("a"), text = document.createElement("bdi");
    text.textContent = query;
    link.href = `${list.dataset.address}?${new URLSearchParams({ q: query })}`;
    link.append(text);
    item.append(link);
    return item;
  }));
}

async function initBookmarks() {
  const keepAll = document.getElementById("keep-all");
  if (keepAll) {
    const shared = [...bookmarkList.querySelectorAll("li")].map((item) => item.dataset.id);
    keepAll.hidden = shared.length === 0;
    keepAll.addEventListener("click", () => setBookmarks([...new Set([...readBookmarks(), ...shared])], keepAll));
    return;
  }
  document.getElementById("recent").hidden = false;
  document.getElementById("remember-searches").addEventListener("change", (event) => {
    store(SEARCHES_KEY, event.target.checked ? [] : null);
    showSearches();
  });
  document.getElementById("remove-all").addEventListener("click", (event) => {
    if (!window.confirm(event.target.dataset.question)) return;
    setBookmarks([], event.target);
    bookmarkList.replaceChildren();
    showActions();
  });
  showSearches();
  try {
    await fillBookmarks();
  } finally {
    showActions();
  }
}

showStars();
if (bookmarkList) initBookmarks();
