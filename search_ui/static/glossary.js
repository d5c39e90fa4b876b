// Shows the definitions of terms on pages of other sites:
//   <script src="https://search.example.org/glossary.js" defer></script>
// It sends the text of the page to the search site, underlines the first occurrence of each term with a definition, and
// loads definition_cards.js. It inserts text only, never markup. The page's policy must allow the search site as a
// source of scripts and connections; inline styles are not needed.
"use strict";

{
  const MAX_TEXT_CHARS = 20000; // as in search_ui/pages/glossary_script.py
  const SKIPPED = "a, button, code, pre, kbd, samp, script, style, noscript, textarea, select, svg, math, iframe, " +
    "h1, h2, h3, h4, h5, h6, nav, header, footer, [contenteditable]";
  const STYLE = `
    a.plumbline-defined { color: inherit; text-decoration: underline dotted 2px; text-underline-offset: .25em; }
    .plumbline-card { position: absolute; z-index: 1000; left: var(--card-left); top: var(--card-top);
      box-sizing: border-box; width: min(24rem, 100vw); max-height: 60vh; overflow-y: auto; padding: .7rem 1rem;
      background: #fff; color: #1d2125; border: 1px solid #8b857a; border-radius: 10px; font-size: .95rem;
      line-height: 1.6; text-align: start; }
    .plumbline-card[hidden] { display: none; }
    .plumbline-card > * { display: block; }
    .plumbline-card a { color: #1f4b8f; text-decoration: underline; }
    .plumbline-card .plumbline-name { font-weight: 600; }
    @media (max-width: 38rem) {
      .plumbline-card { position: fixed; left: .5rem; right: .5rem; top: auto; bottom: .5rem; width: auto; }
    }`;
  const site = new URL(document.currentScript.src);

  // The text nodes to search, each with the offset of its text in the request.
  function collectNodes() {
    const root = document.querySelector("article, main") || document.body;
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    const nodes = [];
    let start = 0;
    while (walker.nextNode() && start < MAX_TEXT_CHARS) {
      const node = walker.currentNode;
      if (!node.data.trim() || node.parentElement.closest(SKIPPED)) continue;
      nodes.push({ node, start });
      start += node.data.length + 1;
    }
    return nodes;
  }

  function createPart(name, text, className) {
    const part = document.createElement(name);
    part.textContent = text;
    if (className) part.className = className;
    return part;
  }

  function createLink(address, text) {
    const link = createPart("a", text);
    link.href = address;
    link.rel = "noopener noreferrer";
    return link;
  }

  function createCard(definition, number, linkText) {
    const card = createPart("span", "", "plumbline-card");
    card.id = `plumbline-definition-${number}`;
    card.hidden = true;
    card.setAttribute("role", "group");
    card.setAttribute("aria-label", definition.label);
    const sentence = createPart("span", definition.text);
    sentence.lang = definition.language;
    const source = definition.source ? createLink(definition.source, definition.title || definition.source)
      : createPart("span", definition.title);
    card.append(createPart("span", definition.term, "plumbline-name"), sentence, source, createLink(definition.url, linkText));
    return card;
  }

  function underline(nodes, definition, number, linkText) {
    const place = nodes.find(({ node, start }) => start <= definition.start && definition.end <= start + node.data.length);
    if (!place) return;
    const word = place.node.splitText(definition.start - place.start);
    word.splitText(definition.end - definition.start);
    const card = createCard(definition, number, linkText);
    const link = createPart("a", word.data, "plumbline-defined");
    link.href = definition.url;
    link.dataset.card = card.id;
    word.replaceWith(link, card);
  }

  async function showDefinitions() {
    const nodes = collectNodes();
    const body = nodes.map(({ node }) => node.data.replace(/\s/g, " ")).join("\n");
    const response = await fetch(new URL("glossary.json", site), { method: "POST", body, credentials: "omit" });
    if (!response.ok) return;
    const { definitions, link } = await response.json();
    if (definitions.length === 0) return;
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(STYLE);
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
    // The last first, so that the offsets before it stay valid.
    definitions.reverse().forEach((definition, number) => underline(nodes, definition, number, link));
    const script = document.createElement("script");
    script.src = new URL("static/definition_cards.js", site);
    document.head.append(script);
  }

  showDefinitions().catch(() => {}); // without a response the page stays as it is
}
