"use strict";
// One scene at a time, stepped by keys and buttons; without this script all scenes stand below one another.
const scenes = [...document.querySelectorAll("main > section")];
const steps = [...document.querySelectorAll(".contents a")];
const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
const bar = document.createElement("nav");
bar.className = "steps";
bar.setAttribute("aria-label", "Scenes");
const button = (words, act) => {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = words;
  made.addEventListener("click", act);
  bar.append(made);
  return made;
};
const back = button("Back", () => show(at - 1));
const place = document.createElement("output");
bar.append(place);
const next = button("Next", () => show(at + 1));
const again = button("Replay", () => replay());
const all = button("All scenes", () => every());
document.body.prepend(bar);

let at = 0;
let frame = 0;

function show(number) {
  at = Math.max(0, Math.min(scenes.length - 1, number));
  document.body.classList.add("one");
  scenes.forEach((scene, n) => { scene.hidden = n !== at; });
  steps.forEach((step, n) => {
    if (n + 1 === at) step.setAttribute("aria-current", "step");
    else step.removeAttribute("aria-current");
  });
  place.textContent = at ? `${at} of ${scenes.length - 1}` : "Begin";
  back.disabled = at === 0;
  next.disabled = at === scenes.length - 1;
  again.hidden = !charts().length;
  history.replaceState(null, "", `#${scenes[at].id}`);
  scrollTo(0, 0);
  if (still) stop();
  else replay();
}

function every() {
  stop();
  document.body.classList.remove("one");
  scenes.forEach((scene) => { scene.hidden = false; });
  again.hidden = true;
  place.textContent = "all scenes";
  back.disabled = next.disabled = false;
}

function charts() { return [...scenes[at].querySelectorAll("svg.chart")].filter((svg) => svg.querySelector(".line")); }

function stop() {
  cancelAnimationFrame(frame);
  for (const cover of document.querySelectorAll(".cover, .now")) cover.remove();
}

// Time passes over a chart from left to right: what has not happened yet is covered.
function replay() {
  stop();
  const begun = performance.now();
  const drawn = charts().map((svg) => {
    const box = svg.viewBox.baseVal;
    const cover = document.createElementNS(svg.namespaceURI, "rect");
    const now = document.createElementNS(svg.namespaceURI, "line");
    cover.setAttribute("class", "cover");
    cover.setAttribute("y", 0);
    cover.setAttribute("height", box.height - 26);
    now.setAttribute("class", "now");
    now.setAttribute("y1", 12);
    now.setAttribute("y2", box.height - 26);
    svg.append(cover, now);
    return { cover, now, left: 64, right: box.width - 12 };
  });
  if (!drawn.length) return;
  const step = (time) => {
    const share = Math.min(1, (time - begun) / 4000);
    for (const { cover, now, left, right } of drawn) {
      const x = left + share * (right - left);
      cover.setAttribute("x", x);
      cover.setAttribute("width", Math.max(0, right - x));
      now.setAttribute("x1", x);
      now.setAttribute("x2", x);
    }
    if (share < 1) frame = requestAnimationFrame(step);
    else stop();
  };
  frame = requestAnimationFrame(step);
}

addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  const act = {
    ArrowRight: () => show(at + 1), PageDown: () => show(at + 1), ArrowLeft: () => show(at - 1),
    PageUp: () => show(at - 1), Home: () => show(0), End: () => show(scenes.length - 1), Escape: every,
  }[event.key];
  // A listing that scrolls keeps its own keys.
  if (!act || (event.target.closest("pre, .scroll") && event.key !== "Escape")) return;
  event.preventDefault();
  act();
});
steps.forEach((step, n) => step.addEventListener("click", (event) => { event.preventDefault(); show(n + 1); }));
addEventListener("beforeprint", every);
show(Math.max(0, scenes.findIndex((scene) => `#${scene.id}` === location.hash)));
