// Filters the list of terms while a reader types. The form works without this file.
"use strict";

const FILTER_DEBOUNCE_MS = 150; // without a key before a request

const filterForm = document.getElementById("term-filter");
let filterTimer = 0;
let filterRequest = null;

async function filterTerms() {
  if (filterRequest) filterRequest.abort();
  filterRequest = new AbortController();
  const address = `${filterForm.getAttribute("action")}?${new URLSearchParams(new FormData(filterForm))}`;
  try {
    const response = await fetch(address, { signal: filterRequest.signal, headers: { Accept: "text/html" } });
    if (!response.ok) return;
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    document.getElementById("term-list").replaceChildren(...page.getElementById("term-list").childNodes);
    history.replaceState(null, "", address);
  } catch (error) {
    // Without a response the list stays as it is; the button still works.
  }
}

if (filterForm) {
  filterForm.addEventListener("input", (event) => {
    clearTimeout(filterTimer);
    if (!event.isComposing) filterTimer = setTimeout(filterTerms, FILTER_DEBOUNCE_MS);
  });
  filterForm.addEventListener("compositionend", () => { filterTimer = setTimeout(filterTerms, FILTER_DEBOUNCE_MS); });
}
