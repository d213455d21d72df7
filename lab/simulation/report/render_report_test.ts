import fc from "fast-check";
import { DOMParser } from "linkedom";
import assert from "node:assert/strict";
import { syntheticRuns } from "../../../tests/fixtures/lab/run_records.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import type { RunRecord, RunScores } from "../run_record.ts";
import { SHIPPED_TRACES } from "../trace_files.ts";
import { envelope, secondsPerPoint } from "./plots/plot_frame.ts";
import { formatCores, formatCount, formatFigure, formatTime } from "./figure.ts";
import { escapeText, html, shorten, trusted } from "./html.ts";
import { type ReportScene, traceSources } from "./method_note.ts";
import { keyFigures, renderReport, tallyPods, tallySentence } from "./render_report.ts";
import { describeScale, isBest, SCORE_MEASURES, type ScoreMeasure } from "./score_measures.ts";

const SCENE: ReportScene = {
  description: "Small services on one node.",
  traces: [{ name: "bursty", source: "a published artefact", licence: "MIT" }],
  command: "deno task demo --seed 1",
};

/** Members of a parsed page's nodes that the tests use. */
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
  const [ours, own] = runs;
  assert(ours !== undefined && own !== undefined);
  assert.deepEqual(cells, SCORE_MEASURES.flatMap(({ text }) => runs.map(text)));
  assert.deepEqual(texts(page, ".tally"), [tallySentence(ours, own)]);
  const title = texts(page, "h1")[0] ?? "";
  assert(title.includes(`${formatFigure(ours.scores.throttledMsPerS)} ms/s instead of`), title);
  assert(title.includes(`${formatFigure(own.scores.throttledMsPerS)} ms/s with`), title);
});

pure("renderReport() draws marks into every plot, with coordinates that are numbers", () => {
  const page = parsed(syntheticRuns());
  const plots = [...page.querySelectorAll("svg.plot")];
  // Cores and throttling in two widths each, and a plot per pod.
  assert.equal(plots.length, 2 * 2 + 20);
  for (const plot of plots) {
    const marks = [...plot.querySelectorAll("path, circle")].map((mark) =>
      (mark.getAttribute("d") ?? "M0,0").split(/[MLVHC]/).length
    );
    const points = marks.reduce((sum, count) => sum + count, 0);
    assert(points >= 60, `${plot.getAttribute("aria-label")}: ${points} points`);
    assert(!/NaN|Infinity|undefined/.test(plot.outerHTML));
  }
});

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
  assert.equal([...page.querySelectorAll("svg.plot")].length, 2 * 2 + 2);
  assert(texts(page, ".pod h3").some((name) => name.startsWith("<img src=x")));
});

pure("renderReport() loads no other file, and forbids it", () => {
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

pure("formatFigure() keeps three significant digits and has a sign for what is missing", () => {
  const cases: [number | undefined, string][] = [
    [0, "0"],
    [0.00012, "1.2e-4"],
    [0.0456, "0.046"],
    [4.561, "4.56"],
    [45.61, "45.6"],
    [456.1, "456"],
    [4561.2, "4561"],
    [-4.561, "-4.56"],
    [NaN, "–"],
    [Infinity, "–"],
    [undefined, "–"],
  ];
  for (const [value, text] of cases) assert.equal(formatFigure(value), text);
});

pure("formatCores(), formatCount() and formatTime() write units", () => {
  assert.equal(formatCores(8000), "8");
  assert.equal(formatCores(7654), "7.65");
  assert.equal(formatCount(1, "pod"), "1 pod");
  assert.equal(formatCount(0, "pod"), "0 pods");
  assert.equal(formatTime(754.9), "12:34");
  assert.equal(formatTime(5), "0:05");
});

pure("html() escapes text and keeps markup", () => {
  const inner = html`<b title="${`a"b'c`}">${"<i>&"}</b>`;
  assert.equal(inner.markup, `<b title="a&quot;b&#39;c">&lt;i&gt;&amp;</b>`);
  assert.equal(
    html`<p>${inner}${[inner, trusted("<br>")]}${3}</p>`.markup.includes("<br>3"),
    true,
  );
});

pure("escapeText() leaves nothing that could end text or an attribute", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => {
    // deno-lint-ignore no-control-regex -- control characters are what is looked for
    assert(!/[<>"'\u0000-\u001f\u007f-\u009f]/.test(escapeText(text)));
    assert(escapeText(text).isWellFormed());
  }));
  assert.equal(escapeText("a\ud800\0"), "a\ufffd\ufffd");
});

pure("shorten() cuts by characters, not in the middle of one", () => {
  assert.equal(shorten("abcdef", 6), "abcdef");
  assert.equal(shorten("abcdef", 4), "abc…");
  assert.equal(shorten("🐳🐳🐳", 2), "🐳…");
});

pure("envelope() keeps mean and maximum of each stretch, and gaps where none is finite", () => {
  assert.deepEqual(envelope([1, 3, Infinity, 8, Infinity, NaN], { stepS: 30, points: 3 }), [
    { minute: 0.5, mean: 2, max: 3 },
    { minute: 1.5, mean: 8, max: 8 },
    { minute: 2.5, mean: NaN, max: NaN },
  ]);
  assert.deepEqual(envelope([], { stepS: 1 }), []);
});

pure("envelope() never hides the highest value nor shifts the mean of equal stretches", () => {
  const series = fc.array(fc.integer({ min: 0, max: 1e6 }), { minLength: 1, maxLength: 400 });
  fc.assert(fc.property(series, fc.integer({ min: 1, max: 50 }), (values, points) => {
    const drawn = envelope(values, { stepS: 1, points });
    assert.equal(drawn.length, Math.min(points, values.length));
    assert.equal(Math.max(...drawn.map(({ max }) => max)), Math.max(...values));
    assert(drawn.every(({ mean, max }) => mean <= max + 1e-6));
    if (values.length % drawn.length !== 0) return;
    const mean = (all: number[]): number => all.reduce((sum, x) => sum + x, 0) / all.length;
    assert(Math.abs(mean(drawn.map((point) => point.mean)) - mean(values)) < 1e-3);
  }));
});

pure("secondsPerPoint() is the longest stretch", () => {
  const rows = [[1800, 1], [10, 2], [0, 2]] as const;
  const seconds = rows.map(([steps, stepS]) =>
    secondsPerPoint({ sumLimits: Array(steps).fill(0), stepS })
  );
  assert.deepEqual(seconds, [8, 2, 0]);
});

pure("traceSources() knows every trace of the project, and takes others for the user's own", () => {
  const shipped = traceSources(SHIPPED_TRACES);
  assert.equal(shipped.length, 3);
  assert(shipped.every(({ source }) => source.startsWith("https://")));
  assert.deepEqual(traceSources(["my.csv"]).map(({ source }) => source), ["your own file"]);
});

const MADE = syntheticRuns({ pods: 2, minutes: 1 });

function runs(...scores: Partial<RunScores>[]): RunRecord[] {
  return scores.map((score, index): RunRecord => {
    const run = MADE[index];
    assert(run !== undefined);
    return { ...run, scores: { ...run.scores, coresAllocated: 4, ...score } };
  });
}

pure("keyFigures() states the record's own figures", () => {
  const [ours, theirs] = runs(
    { throttledMsPerS: 12.34, p99Ms: 76.5, reactionMsMedian: 412, bursts: 1, burstsMissed: 0 },
    { throttledMsPerS: 361.4, p99Ms: 207 },
  );
  assert(ours !== undefined);
  const figures = keyFigures(ours, theirs);
  assert.deepEqual(figures.map(({ value }) => value), ["12.3 ms/s", "76.5 ms", "4.00", "412 ms"]);
  const beside = ["361 ms/s", "207 ms", "4.00 cores"].map((value) =>
    `${value} with ${MADE[1]?.algorithm}`
  );
  assert.deepEqual(figures.map((figure) => figure.beside), [...beside, "1 burst, 0 missed"]);
});

/** A run per list, a pod per figure; all runs cost the same. */
function throttled(...throttled: readonly number[][]): RunRecord[] {
  const [made] = syntheticRuns({ pods: 1, minutes: 1 });
  const pod = made?.pods[0];
  assert(made !== undefined && pod !== undefined);
  return throttled.map((figures, index): RunRecord => ({
    ...made,
    algorithm: index === 0 ? "market" : "limits at equal sum",
    pods: figures.map((throttledMsPerS, at) => ({ ...pod, name: `pod-${at}`, throttledMsPerS })),
  }));
}

pure("tallyPods() joins by name and leaves out pods that the other run lacks", () => {
  const [ours, theirs] = throttled([1, 5, 3], [2, 4]);
  assert(ours !== undefined && theirs !== undefined);
  const turned = { ...theirs, pods: theirs.pods.toReversed() };
  assert.deepEqual(tallyPods(ours, turned), { less: 1, more: 1, same: 0 });
  assert.equal(tallySentence(ours, { ...theirs, pods: [] }), undefined);
});

function scored(...scores: Partial<RunScores>[]): RunRecord[] {
  const [made] = syntheticRuns({ pods: 1, minutes: 1 });
  assert(made !== undefined);
  return scores.map((score) => ({ ...made, scores: { ...made.scores, ...score } }));
}

function measure(name: string): ScoreMeasure {
  const found = SCORE_MEASURES.find((one) => one.name.startsWith(name));
  assert(found !== undefined);
  return found;
}

function best(name: string, all: readonly RunRecord[]): boolean[] {
  return all.map((run) => isBest(measure(name), run, { runs: all }));
}

pure("isBest() goes to the lowest cost, to all that read the same, and to none if all do", () => {
  const three = scored(
    { throttledMsPerS: 10.01 },
    { throttledMsPerS: 10.02 },
    { throttledMsPerS: 11 },
  );
  assert.deepEqual(best("Throttled", three), [true, true, false]);
  const equal = scored({ throttledMsPerS: 10.01 }, { throttledMsPerS: 10.02 });
  assert.deepEqual(best("Throttled", equal), [false, false]);
  assert.deepEqual(best("CPU used", scored({ coresUsed: 1 }, { coresUsed: 2 })), [false, false]);
  assert.deepEqual(best("Jain", scored({ jain: 0.8 }, { jain: 0.9 })), [false, true]);
});

pure("SCORE_MEASURES distinguish a run without bursts from one that never caught up", () => {
  const [made] = syntheticRuns({ pods: 1, minutes: 1, bursts: false });
  assert(made !== undefined);
  assert.equal(measure("Reaction").text(made), "not needed");
  const missed = { ...made, scores: { ...made.scores, bursts: 3, burstsMissed: 3 } };
  assert.equal(measure("Reaction").text(missed), "–");
  assert.equal(measure("Bursts missed").text(missed), "3 of 3");
});

pure("describeScale() keeps round numbers of cores round", () => {
  const [made] = syntheticRuns({ pods: 1, minutes: 1 });
  assert(made !== undefined);
  assert.equal(describeScale(made), "1 minute, 1 pod on 8 cores, seed 1");
  assert.match(describeScale({ ...made, nodeCPU: 100_000 }), /on 100 cores/);
});
