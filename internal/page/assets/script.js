"use strict";
// The token is in the fragment, which the browser does not send, and is stored for this
// origin only. The server renders everything else.
(() => {
  const tokenKey = "pawl-token";
  const newToken = new URLSearchParams(location.hash.slice(1)).get("token");
  if (newToken) {
    localStorage.setItem(tokenKey, newToken);
    history.replaceState(null, "", location.pathname + location.search);
  }
  const token = localStorage.getItem(tokenKey) || "";
  const status = document.getElementById("status");
  const announce = (text) => { status.textContent = text; };
  // The output of a command stays for 10 s, even if the headline changes.
  let resultTime = 0;
  const showResult = (text) => { resultTime = Date.now(); announce(text); };
  const post = (path, body) => fetch(path, { method: "POST", body, headers: { "X-Pawl-Token": token } });

  if ("lock" in document.body.dataset && token) {
    post("/session", new URLSearchParams()).then((r) => {
      if (r.ok) { location.reload(); } else { announce("This token is no longer valid. Open the address that pawl serve printed."); }
    });
    return;
  }

  let shownAt = new Date();
  const showStale = () => announce("pawl serve does not answer: this page is as of " + shownAt.toLocaleTimeString() + ".");

  // update replaces the live elements with their current version. It keeps an element in
  // which the user types, and open details.
  const update = async () => {
    const r = await fetch(location.href, { headers: { Accept: "text/html" }, signal: AbortSignal.timeout(20000) });
    if (r.status === 401) { announce("This page is as of " + shownAt.toLocaleTimeString() + ": to go on, open the address that pawl serve printed."); }
    if (!r.ok) { return; }
    const next = new DOMParser().parseFromString(await r.text(), "text/html");
    shownAt = new Date();
    const before = document.querySelector("h1")?.textContent;
    for (const old of document.querySelectorAll("[data-live]")) {
      const now = next.getElementById(old.id);
      const typing = old.contains(document.activeElement) && document.activeElement.matches("input, textarea");
      if (!now || typing) { continue; }
      for (const d of old.querySelectorAll("details")) {
        const same = d.id && now.querySelector("#" + CSS.escape(d.id));
        if (same) { same.open = d.open; }
      }
      if (now.innerHTML === old.innerHTML) { continue; }
      const focused = old.contains(document.activeElement) ? [...old.querySelectorAll("a, button, summary, [tabindex]")].indexOf(document.activeElement) : -1;
      old.replaceChildren(...now.childNodes);
      if (focused >= 0) { old.querySelectorAll("a, button, summary, [tabindex]")[focused]?.focus({ preventScroll: true }); }
    }
    document.title = next.title;
    const after = document.querySelector("h1")?.textContent;
    if (after && after !== before && Date.now() - resultTime > 10000) { announce(after); }
  };

  // A disabled button would lose the focus.
  const sending = new WeakSet();
  document.addEventListener("submit", async (e) => {
    if (!(e.target instanceof HTMLFormElement) || !("act" in e.target.dataset)) { return; }
    e.preventDefault();
    if (!token) { announce("To act, open the address that pawl serve printed: it has the token."); return; }
    if (sending.has(e.target)) { return; }
    const question = e.submitter?.dataset.confirm;
    if (question && !confirm(question)) { return; }
    const body = new URLSearchParams(new FormData(e.target, e.submitter));
    sending.add(e.target);
    announce("…");
    try {
      const r = await post(e.target.action, body);
      showResult((await r.text()) || r.statusText);
      if (r.ok) { e.target.reset(); }
    } catch {
      showResult("pawl serve does not answer.");
    }
    sending.delete(e.target);
    update().catch(showStale);
  });

  if ("follow" in document.body.dataset) {
    let events = null, scheduled = false, again = 0, lost = 0;
    const changed = () => {
      if (scheduled) { return; }
      scheduled = true;
      setTimeout(() => { scheduled = false; update().catch(showStale); }, 300);
    };
    // The server sends an event every 15 seconds, since a connection may break unnoticed.
    const alive = () => {
      clearTimeout(again);
      again = setTimeout(() => { changed(); follow(); }, 60000);
    };
    const connected = () => {
      alive();
      clearTimeout(lost);
      lost = 0;
      if (status.textContent.startsWith("pawl serve does not answer")) { announce(""); }
      changed(); // there may be earlier changes
    };
    // A browser limits connections per server, so a hidden page has none. The browser connects
    // again by itself, but not after a refusal.
    const follow = () => {
      events?.close();
      clearTimeout(again);
      events = null;
      if (document.hidden) { return; }
      events = new EventSource("/events?loop=" + encodeURIComponent(document.body.dataset.follow));
      events.onmessage = () => { alive(); changed(); };
      events.addEventListener("alive", alive);
      events.onopen = connected;
      events.onerror = () => {
        lost ||= setTimeout(changed, 5000);
        if (events.readyState !== EventSource.CLOSED) { return; }
        clearTimeout(again);
        again = setTimeout(() => { changed(); follow(); }, 10000);
      };
    };
    document.addEventListener("visibilitychange", () => { follow(); if (!document.hidden) { changed(); } });
    follow();
  }
})();
