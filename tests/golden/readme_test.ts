import assert from "node:assert/strict";
import { gunzipSync } from "node:zlib";
import { formatFigure } from "../../lab/simulation/report/figure.ts";
import type { RunScores } from "../../lab/simulation/run_record.ts";
import { textOf } from "../../tools/png_text.ts";

const ROOT = new URL("../../", import.meta.url);

/** The README's columns, in its order, and its rows. */
const COLUMNS = [
  "limits at 2x request",
  "limits at P95",
  "limits at equal sum",
  "CoAllocator",
  "CoAllocator, tight",
];
const ROWS: Readonly<Record<string, (scores: RunScores) => string>> = {
  "requests failed or later than 1 s": ({ failed, late, requests }) =>
    formatFigure(100 * (failed + late) / requests) + (failed + late > 0 ? " %" : ""),
  "P50 latency, ms": ({ p50Ms }) => formatFigure(p50Ms),
  "P99 latency, ms": ({ p99Ms }) => formatFigure(p99Ms),
  "throttled time, ms per s, all pods": ({ throttledMsPerS }) => formatFigure(throttledMsPerS),
  "mean of the sum of limits, cores": ({ coresAllocated }) => formatFigure(coresAllocated),
  "limit changes per pod and minute": (scores) => formatFigure(scores.changesPerPodMinute),
};

Deno.test({
  name: "README and its picture show the figures of the demo",
  permissions: { read: [ROOT] },
  async fn() {
    const read = (path: string) => Deno.readFile(new URL(path, ROOT));
    const readme = new TextDecoder().decode(await read("README.md"));
    const golden = gunzipSync(await read("tests/golden/expected/demo_1.json.gz")).toString();
    const { runs } = JSON.parse(golden) as { runs: { algorithm: string; scores: RunScores }[] };
    const scores = COLUMNS.map((column) => {
      const run = runs.find(({ algorithm }) => algorithm === column);
      assert.ok(run !== undefined, column);
      return run.scores;
    });
    for (const [name, text] of Object.entries(ROWS)) {
      const row = readme.split("\n").find((line) => line.startsWith(`| ${name} `)) ?? "";
      const cells = row.split("|").slice(2, -1).map((cell) => cell.trim());
      assert.deepEqual(cells, scores.map(text), name);
    }
    const [twice, , , market] = scores.map(({ throttledMsPerS }) => formatFigure(throttledMsPerS));
    const shown = [market, twice];
    const headline = textOf(await read("docs/demo.png")) ?? "";
    const figures = headline.match(/throttled (\S+) ms\/s instead\s+of\s+(\S+) ms\/s/);
    assert.deepEqual(figures?.slice(1), shown, headline);
    const alt = readme.match(/alt="[^"]*: (\S+) ms per second [^"]*, (\S+) ms under [^"]*"/);
    assert.deepEqual(alt?.slice(1), shown);
  },
});
