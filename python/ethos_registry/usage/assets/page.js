"use strict";
(() => {
  let usage = JSON.parse(document.getElementById("usage").textContent);
  let sortKey = "invocations", descending = true;

  const byId = (id) => document.getElementById(id);
  const whole = (number) => number.toLocaleString("en-US");
  const seconds = (value) => value === null ? "–" : value < 0.001 ? `${(value * 1e6).toFixed(0)} µs`
    : value < 1 ? `${(value * 1e3).toPrecision(3)} ms` : value < 100 ? `${value.toPrecision(3)} s`
    : value < 6000 ? `${whole(Math.round(value))} s` : `${whole(Math.round(value / 3600))} h`;
  const sumOfSeconds = (value) => value === 0 ? "–" : seconds(value);
  const dollars = (value) => value === 0 ? "–" : `$${value.toFixed(value < 1 ? 4 : 2)}`;
  const agentName = (id) => id === "" ? "(no agent)" : id;

  function element(name, text, className) {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (className) made.className = className;
    return made;
  }

  function shape(name, attributes, text) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return made;
  }

  const COLUMNS = [
    ["name", "Name", "text"], ["owner", "Owner", "text"], ["description", "Description", "text"],
    ["parameter_count", "Params", (count) => count === null ? "" : whole(count)], ["invocations", "Invocations", whole],
    ["refusals", "Refusals", whole], ["failures", "Failures", whole],
    ["median_seconds", "Median", seconds], ["p95_seconds", "95th", seconds],
    ["total_seconds", "Total time", sumOfSeconds], ["saved_chars", "Chars saved", whole],
    ["cost_usd", "Cost", dollars], ["repaired", "Repaired", whole],
  ];

  function heads() {
    for (const [key, title, kind] of COLUMNS) {
      const head = element("th", undefined, kind === "text" ? "" : "number");
      head.scope = "col";
      head.dataset.key = key;
      const button = element("button", title);
      button.type = "button";
      button.addEventListener("click", () => {
        descending = sortKey === key ? !descending : kind !== "text";
        sortKey = key;
        drawTools();
      });
      head.append(button);
      byId("heads").append(head);
    }
  }

  function compare(left, right) {
    const [a, b] = [left[sortKey], right[sortKey]];
    if (a === b) return left.name < right.name ? -1 : 1;
    if (a === null || a === undefined) return 1;
    if (b === null || b === undefined) return -1;
    const order = a < b ? -1 : 1;
    return descending ? -order : order;
  }

  function isShown(tool) {
    const words = byId("find").value.toLowerCase().split(/\s+/).filter(Boolean);
    const text = `${tool.name} ${tool.owner ?? ""} ${tool.description}`.toLowerCase();
    const agent = byId("agent").value;
    const flags = {
      "": true, dead: tool.is_dead, hot: tool.is_hot, failing: tool.failures > 0,
      refused: tool.refusals > 0, others: Object.keys(tool.called_by_others).length > 0,
    };
    return words.every((word) => text.includes(word)) && flags[byId("show").value]
      && (agent === "" || Object.hasOwn(tool.callers, agent.slice(1)));
  }

  function callers(calls) {
    return Object.entries(calls).map(([id, count]) => `${agentName(id)}: ${whole(count)}`).join("\n");
  }

  function row(tool) {
    const made = element("tr");
    made.dataset.name = tool.name;
    for (const [key, , kind] of COLUMNS) {
      const value = tool[key];
      const cell = element("td", undefined, kind === "text" ? key : "number");
      cell.dataset.key = key;
      cell.dataset.value = value === null ? "" : value;
      if (kind === "text") {
        cell.textContent = key === "description" ? value.trim().split("\n")[0] : value ?? "–";
        if (key === "description") cell.title = value;
      } else {
        cell.textContent = kind(value);
        if (key === "failures" && value > 0) cell.classList.add("bad");
      }
      if (key === "name") {
        for (const [flag, label, title] of [
          [tool.is_dead, "dead", "Registered long ago, and never reached by a call"],
          [tool.is_hot, "hot", "Called far more than others, or with the most time"],
          [Object.keys(tool.called_by_others).length > 0, "others",
            `Called by others than its owner:\n${callers(tool.called_by_others)}`],
        ]) {
          if (!flag) continue;
          const badge = element("span", label, `badge ${label}`);
          badge.title = title;
          cell.append(badge);
        }
      }
      if (key === "invocations") cell.title = callers(tool.callers);
      if (key === "refusals" || key === "failures") {
        cell.title = Object.entries(tool.outcomes).map(([name, count]) => `${name}: ${whole(count)}`).join("\n");
      }
      made.append(cell);
    }
    return made;
  }

  function drawTools() {
    const shown = usage.tools.filter(isShown).sort(compare);
    for (const head of byId("heads").children) {
      if (head.dataset.key === sortKey) head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    }
    byId("tools").tBodies[0].replaceChildren(...shown.map(row));
    byId("count").textContent = `${whole(shown.length)} of ${whole(usage.tools.length)} tools`;
  }

  function drawSums() {
    const sums = usage.totals;
    byId("sums").replaceChildren(...[
      ["calls", "calls", whole(sums.calls)], ["invocations", "invocations", whole(sums.invocations)],
      ["refusals", "refusals", whole(sums.refusals)], ["failures", "failures", whole(sums.failures)],
      ["saved_chars", "characters saved", whole(sums.saved_chars)], ["cost_usd", "cost", dollars(sums.cost_usd)],
    ].map(([key, title, text]) => {
      const tile = element("div");
      const figure = element("b", text);
      figure.dataset.sum = key;
      figure.dataset.value = sums[key];
      tile.append(figure, element("span", title));
      return tile;
    }));
    const period = usage.days === null ? "All days" : usage.days === 1 ? "Today" : `The last ${usage.days} days`;
    const of = [usage.agent !== null ? `agent ${usage.agent}` : "", usage.tool !== null ? `tool ${usage.tool}` : ""];
    byId("period").textContent = [period, ...of.filter(Boolean), usage.place, `as of ${usage.made_at}`].join(" · ");
    const notes = [];
    if (usage.problem !== null) notes.push(usage.problem);
    if (usage.unsaved_calls > 0) notes.push(`${whole(usage.unsaved_calls)} calls are in memory only`);
    if (usage.lost_calls > 0) notes.push(`${whole(usage.lost_calls)} calls were not counted`);
    byId("notice").hidden = notes.length === 0;
    byId("notice").textContent = notes.join(" · ");
  }

  function everyDay(days) {
    const latest = Date.parse(usage.made_at) + 86400000; // later ones are of a wrong clock
    const times = days.map((day) => Date.parse(day.date)).filter((time) => time <= latest);
    if (times.length === 0) return [];
    const found = new Map(days.map((day) => [day.date, day]));
    const all = [];
    const last = times[times.length - 1];
    for (let time = Math.max(times[0], last - 365 * 86400000); time <= last; time += 86400000) {
      const date = new Date(time).toISOString().slice(0, 10);
      all.push(found.get(date) ?? { date, calls: 0, ok: 0, failures: 0, refusals: 0 });
    }
    return all;
  }

  function drawDays() {
    const days = everyDay(usage.by_day);
    if (days.length === 0) {
      byId("days").replaceChildren(element("p", "No calls yet.", "legend"));
      return;
    }
    const [width, height, left, bottom] = [420, 190, 52, 20];
    const most = Math.max(...days.map((day) => day.calls), 1);
    const drawing = shape("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Calls per day" });
    const step = (width - left) / days.length;
    const scale = (height - bottom - 10) / most;
    for (const part of [0, 0.5, 1]) {
      const y = height - bottom - part * most * scale;
      drawing.append(shape("line", { x1: left, x2: width, y1: y, y2: y, class: "axis" }));
      drawing.append(shape("text", { x: left - 6, y: y + 4, "text-anchor": "end" }, whole(Math.round(most * part))));
    }
    const wide = Math.min(step * 0.82, 40);
    days.forEach((day, place) => {
      let y = height - bottom;
      const group = shape("g", { "data-date": day.date, "data-calls": day.calls });
      group.append(shape("title", {}, `${day.date}: ${whole(day.ok)} ok, ${whole(day.failures)} failed, ${whole(day.refusals)} refused`));
      for (const [calls, kind] of [[day.ok, "ok"], [day.failures, "failed"], [day.refusals, "refused"]]) {
        if (calls === 0) continue;
        y -= calls * scale;
        group.append(shape("rect", { x: left + place * step + (step - wide) / 2, y, width: wide, height: calls * scale, class: kind }));
      }
      drawing.append(group);
    });
    const ends = days.length === 1 ? [[0, "start"]] : [[0, "start"], [days.length - 1, "end"]];
    for (const [place, anchor] of ends) {
      const x = anchor === "start" ? left : width;
      drawing.append(shape("text", { x, y: height - 5, "text-anchor": anchor }, days[place].date));
    }
    byId("days").replaceChildren(drawing);
  }

  function bars(target, rows) {
    const grid = element("div", undefined, "bars");
    for (const { name, from, to, figure, title } of rows) {
      const label = element("span", name, "name");
      label.title = title;
      const track = element("span", undefined, "track");
      track.title = title;
      const bar = element("i");
      bar.style.left = `${from}%`;
      bar.style.width = `${Math.max(to - from, 0.6)}%`;
      track.append(bar);
      grid.append(label, track, element("span", figure, "figure"));
    }
    byId(target).replaceChildren(rows.length ? grid : element("p", "No calls yet.", "legend"));
  }

  function drawAgents() {
    const agents = [...usage.agents].sort((a, b) => b.calls - a.calls);
    const most = Math.max(...agents.map((agent) => agent.calls), 1);
    bars("agents", agents.slice(0, 20).map((agent) => ({
      name: agentName(agent.agent), from: 0, to: 100 * agent.calls / most, figure: whole(agent.calls),
      title: Object.entries(agent.tools).slice(0, 20).map(([name, calls]) => `${name}: ${whole(calls)}`).join("\n"),
    })));
    const chosen = byId("agent").value;
    const names = agents.map((agent) => agent.agent).sort();
    byId("agent").replaceChildren(new Option("all", ""), ...names.map((id) => new Option(agentName(id), `=${id}`)));
    byId("agent").value = chosen;
    if (byId("agent").selectedIndex < 0) byId("agent").selectedIndex = 0;
  }

  function drawTimes() {
    const tools = usage.tools.filter((tool) => tool.p95_seconds !== null)
      .sort((a, b) => b.total_seconds - a.total_seconds).slice(0, 12);
    const low = Math.log(Math.min(...tools.map((tool) => tool.median_seconds)) * 0.8);
    const high = Math.log(Math.max(...tools.map((tool) => tool.p95_seconds)) * 1.1);
    const place = (value) => 100 * (Math.log(value) - low) / (high - low);
    bars("times", tools.map((tool) => ({
      name: tool.name, from: place(tool.median_seconds), to: place(tool.p95_seconds),
      figure: `${seconds(tool.median_seconds)} – ${seconds(tool.p95_seconds)}`,
      title: `${tool.name}: ${seconds(tool.total_seconds)} in sum`,
    })));
  }

  function draw() {
    drawSums();
    drawDays();
    drawAgents();
    drawTimes();
    drawTools();
  }

  heads();
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  for (const id of ["find", "agent", "show"]) byId(id).addEventListener("input", drawTools);
  draw();

  async function refresh() {
    try {
      const answer = await fetch("usage.json", { cache: "no-store" });
      if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
      const fresh = await answer.json();
      const changed = { ...fresh, made_at: "" }, before = { ...usage, made_at: "" };
      const isNew = JSON.stringify(changed) !== JSON.stringify(before);
      usage = fresh;
      if (isNew) draw();
      else drawSums();
    } catch (error) {
      byId("notice").hidden = false;
      byId("notice").textContent = `not updated: ${error.message}`;
    }
    setTimeout(refresh, 2000);
  }
  if (document.body.dataset.live === "yes") setTimeout(refresh, 2000);
})();
