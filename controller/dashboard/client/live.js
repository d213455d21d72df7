/**
 * Draws the charts, and replaces the page's content when the server sends a newer one. Without this script
 * the page shows all its figures but the charts.
 *
 * @module
 */
// deno-lint-ignore-file house/return-type house/injected-world -- runs in a browser as it is, by its clock
const main = document.querySelector("main");
const status = document.querySelector("#live");
const plots = [];

function color(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

function drawChart(figure) {
  const { fromMs, stepMs, unit, series } = JSON.parse(figure.dataset.chart);
  const box = figure.querySelector(".canvas");
  const times = series[0].values.map((_, index) => (fromMs + index * stepMs) / 1000);
  const axis = {
    stroke: color("soft"),
    grid: { stroke: color("line"), width: 1 },
    ticks: { show: false },
  };
  const value = (_, number) => number === null ? "–" : `${Number(number.toPrecision(3))} ${unit}`;
  const plot = new uPlot(
    {
      width: Math.max(200, box.clientWidth),
      height: 180,
      series: [
        {
          value: (_, time) =>
            time === null ? "–" : new Date(time * 1000).toLocaleTimeString([], { hour12: false }),
        },
        ...series.map(({ label, tone, area }) => ({
          label,
          value,
          stroke: color(tone),
          width: 1.6,
          ...(area ? { fill: `${color(tone)}33` } : {}),
          points: { show: false },
        })),
      ],
      scales: { y: { range: (_, low, high) => [Math.min(0, low), high > 0 ? high * 1.08 : 1] } },
      axes: [
        { ...axis, size: 30, values: (_, ticks) => ticks.map(hourAndMinute) },
        { ...axis, size: 56 },
      ],
      padding: [8, 32, 0, 0],
      // Until the pointer is over the chart, the legend has the newest values.
      hooks: { ready: [(plot) => plot.setLegend({ idx: times.length - 1 })] },
      cursor: { drag: { x: false, y: false } },
    },
    [times, ...series.map(({ values }) => values)],
    box,
  );
  plots.push(plot);
}

function hourAndMinute(time) {
  return new Date(time * 1000).toLocaleTimeString([], {
    hour: "2-digit",
    minute: "2-digit",
    hour12: false,
  });
}

// A chart listens to the window until it is destroyed.
function drawCharts() {
  for (const plot of plots.splice(0)) plot.destroy();
  document.querySelectorAll("[data-chart]").forEach(drawChart);
}

function replaceContent(markup) {
  // A selection would be lost.
  if (getSelection()?.type === "Range") return;
  const { activeElement } = document;
  const focused = main.contains(activeElement)
    ? activeElement.id && `#${activeElement.id}` ||
      activeElement.getAttribute("href") &&
        `a[href="${CSS.escape(activeElement.getAttribute("href"))}"]`
    : undefined;
  if (activeElement?.form && main.contains(activeElement)) return;
  const content = document.createElement("template");
  content.innerHTML = markup;
  // Without its charts the content is shorter for a moment.
  const { scrollX, scrollY } = globalThis;
  main.replaceChildren(content.content);
  drawCharts();
  requestAnimationFrame(() => scrollTo(scrollX, scrollY));
  if (focused) main.querySelector(focused)?.focus({ preventScroll: true });
}

/** Screen readers announce it, unlike the time of each update. */
function warn(text) {
  status.setAttribute("role", "status");
  status.textContent = text;
}

if (main.dataset.live) {
  const source = new EventSource(main.dataset.live);
  source.addEventListener("page", ({ data }) => {
    replaceContent(JSON.parse(data));
    status.removeAttribute("role");
    status.textContent = `Updated at ${new Date().toLocaleTimeString()}`;
  });
  source.addEventListener("end", ({ data }) => {
    source.close();
    warn(data);
  });
  source.onerror = () => warn("Not connected: the figures are not updated");
  status.textContent = "Updates itself";
}

drawCharts();
addEventListener("resize", drawCharts);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawCharts);
