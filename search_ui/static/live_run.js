// Replaces the progress of the active run every few seconds. When the run has ended, the page is loaded again.
"use strict";

const liveRun = document.querySelector("#live-run");
const POLL_MS = 4000;

async function refreshLiveRun() {
  if (document.hidden) return;
  try {
    const response = await fetch(liveRun.dataset.url, { headers: { Accept: "text/html" } });
    if (!response.ok || response.redirected) return; // the session has ended, or the site is starting again
    const html = await response.text();
    if (html.trim()) liveRun.querySelector("div").innerHTML = html;
    else location.reload();
  } catch {
    // The site does not answer: the next attempt follows.
  }
}

if (liveRun) setInterval(refreshLiveRun, POLL_MS);
