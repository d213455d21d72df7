import assert from "node:assert/strict";
import { pure } from "../../../tests/fixtures/pure.ts";
import { DOMParser } from "linkedom";
import { syntheticRuns } from "../../../tests/fixtures/lab/run_records.ts";
import type { RunRecord } from "../run_record.ts";
import { formatFigure } from "./figure.ts";
import { podRows, tallyPods, tallySentence, tallyText } from "./pod_rows.ts";
import { renderReport } from "./render_report.ts";
import type { ReportScene } from "./method_note.ts";
import { SCORE_MEASURES } from "./score_measures.ts";

const SCENE: ReportScene = {
  description: "Small services on one node.",
  traces: [{ name: "bursty", source: "a published artefact", licence: "MIT" }],
  command: "deno task demo --seed 1",
};

/** What the tests ask of a parsed page. */
interface Node {
  readonly textContent: string;
  readonly outerHTML: string;
  getAttribute(name: string): string | null;
  querySelectorAll(selector: string): Iterable<Node>;
}

function parsed(runs: readonly RunRecord[], scene: ReportScene = SCENE): Node {
  const markup = renderReport(runs, { scene });
  return new DOMParser().parseFromString(markup, "text/html") as unknown as Node;
}

function texts(node: Node, selector: string): string[] {
  return [...node.querySelectorAll(selector)].map((one) =>
    one.textContent.replaceAll(/\s+/g, " ").trim()
  );
}

pure("renderReport() states the scores of every run as they are", () => {
  const runs = syntheticRuns();
  const page = parsed(runs);
  const cells = texts(page, ".scores tbody td");
  assert.deepEqual(texts(page, ".scores thead th").slice(1), runs.map((run) => run.algorithm));
  const [ours, own, same] = runs;
  assert(ours !== undefined && own !== undefined && same !== undefined);
  assert.deepEqual(cells, [
    ...SCORE_MEASURES.flatMap(({ text }) => runs.map(text)),
    "–",
    tallyText(tallyPods(ours, own)),
    tallyText(tallyPods(ours, same)),
  ]);
  assert.deepEqual(texts(page, ".tally"), [tallySentence(runs)]);
  const title = texts(page, "h1")[0] ?? "";
  assert(title.includes(`${formatFigure(ours.scores.throttledMsPerS)} ms/s instead of`), title);
  assert(title.includes(`${formatFigure(own.scores.throttledMsPerS)} ms/s with`), title);
});

pure("renderReport() has a row for every pod with its own figures", () => {
  const runs = syntheticRuns();
  const page = parsed(runs);
  const rows = [...page.querySelectorAll(".pods tbody tr")].map((row) => texts(row, "th, td"));
  assert.equal(rows.length, 20);
  for (const [index, { ours, theirs, reasons }] of podRows(runs).entries()) {
    const row = rows[index] ?? [];
    assert.deepEqual(row.slice(0, 3), [ours.name, ours.trace, String(ours.weight)]);
    assert.deepEqual(row.slice(3, 7).map(Number), [
      ours.request,
      ours.originalLimit,
      Math.round(ours.meanLimit),
      Math.round(ours.meanUsage),
    ]);
    assert.deepEqual(row.slice(7, 11), [
      formatFigure(ours.throttledMsPerS),
      formatFigure(theirs?.throttledMsPerS),
      formatFigure(ours.p99Ms),
      formatFigure(theirs?.p99Ms),
    ]);
    assert.equal(row[11], String(ours.changes));
    const counted = reasons.reduce((sum, [, count]) => sum + count, 0);
    assert.equal(counted, ours.changes);
    assert.equal(row[12], reasons.map((reason) => reason.join(" ")).join(", ") || "–");
  }
});

pure(
  "renderReport() draws marks into every plot, without a coordinate that is not a number",
  () => {
    const page = parsed(syntheticRuns());
    const plots = [...page.querySelectorAll("svg.plot")];
    // Cores, throttling, latency and price in two widths each, and a plot per pod.
    assert.equal(plots.length, 4 * 2 + 20);
    for (const plot of plots) {
      const marks = [...plot.querySelectorAll("path, circle")].map((mark) =>
        (mark.getAttribute("d") ?? "M0,0").split(/[MLVHC]/).length
      );
      const points = marks.reduce((sum, count) => sum + count, 0);
      assert(points >= 60, `${plot.getAttribute("aria-label")}: ${points} points`);
      assert(!/NaN|Infinity|undefined/.test(plot.outerHTML));
    }
  },
);

pure("renderReport() lists every change with time, limits, reason and price", () => {
  const runs = syntheticRuns({ pods: 3, minutes: 6 });
  const changes = runs[0]?.changes ?? [];
  const page = parsed(runs);
  assert(changes.length > 5);
  assert.equal([...page.querySelectorAll(".changes tbody tr")].length, changes.length);
  assert.match(texts(page, "summary")[0] ?? "", new RegExp(`^All ${changes.length} changes`));
  const counts = texts(page, ".reasons tbody td:first-child").map(Number);
  assert.equal(counts.reduce((sum, count) => sum + count, 0), changes.length);
});

pure("renderReport() escapes names of pods, traces, algorithms and sources", () => {
  const evil = `<img src=x onerror=alert(1)>"'</svg></script>\u0000`;
  const runs = syntheticRuns({ pods: 2, minutes: 3, names: [evil, "</title><script>"] })
    .map((run): RunRecord => ({
      ...run,
      algorithm: `${run.algorithm}${evil}`,
      description: evil,
      pods: run.pods.map((pod) => ({ ...pod, trace: evil })),
    }));
  const scene = { description: evil, traces: [{ name: evil, source: evil, licence: evil }] };
  const markup = renderReport(runs, { scene });
  assert(!/<img|<script/.test(markup));
  assert(!markup.includes("\0"));
  const page = parsed(runs, scene);
  assert.equal([...page.querySelectorAll("img, script, [onerror]")].length, 0);
  assert.equal([...page.querySelectorAll("svg.plot")].length, 4 * 2 + 2 - 2);
  assert(texts(page, ".pods tbody th").some((name) => name.startsWith("<img src=x")));
});

pure("renderReport() asks nothing of anybody and forbids it too", () => {
  const markup = renderReport(syntheticRuns({ pods: 2, minutes: 3 }), { scene: SCENE });
  assert(
    markup.includes(`content="default-src 'none'; style-src 'unsafe-inline'; img-src data:"`),
  );
  const links = [...markup.matchAll(/(?:src|href|url\()\s*=?\s*"?([^"\s>]+)/g)]
    .map((match) => match[1]).filter((link) => link !== "data:,");
  assert.deepEqual(links.filter((link) => /^(?:https?:)?\/\//.test(link ?? "")), []);
  assert(!markup.includes("@import"));
});

pure("renderReport() stays below 2 MB for the largest scene and says what it leaves out", () => {
  const [ours, ...others] = syntheticRuns({ pods: 200, minutes: 10 });
  const [change] = ours?.changes ?? [];
  assert(ours !== undefined && change !== undefined);
  const changes = Array.from({ length: 50_000 }, (_, index) => ({ ...change, atS: index }));
  const markup = renderReport([{ ...ours, changes }, ...others], { scene: SCENE });
  assert(markup.length < 2e6, `${markup.length} characters`);
  assert(markup.includes("The last 4000 of 50000 changes"));
  assert(markup.includes("the first 40 of 200 pods"));
});
