import assert from "node:assert/strict";
import { pure } from "../../../tests/fixtures/pure.ts";
import { type AlgorithmOutcome, AS_IT_IS, OURS, OURS_TIGHT } from "../../../lab/arena/outcome.ts";
import { traceScene } from "../../../lab/arena/trace_scene.ts";
import { algorithmLabel } from "./replay.ts";
import { simulateText, type Story } from "./simulate_text.ts";

const FIGURES = {
  coresAllocated: 1.2,
  p50Ms: 6,
  p99Ms: 57,
  p999Ms: 130,
  throttledMsPerS: 150,
  changesPerPodMinute: 0.4,
  reactionMsMedian: 450,
  reactionMsP95: 700,
  slack: 0.25,
  overCapacityS: 0,
};

const OUTCOME: AlgorithmOutcome = {
  ...OURS,
  sloHeld: true,
  sloHeldShare: 1,
  median: FIGURES,
  least: FIGURES,
  most: FIGURES,
};

function story(): Story {
  const trace = {
    name: "made up",
    unit: "cores" as const,
    stepS: 60,
    values: Float64Array.of(1, 1),
  };
  const { reactionMsMedian: _none, ...without } = FIGURES;
  const median = { ...without, p99Ms: 900 };
  return {
    history: { path: "cpu.csv", format: "cores", minutes: 2, trace },
    request: {
      source: { path: "cpu.csv" },
      costMs: 8,
      seeds: 1,
      minutes: 60,
      output: "table",
    },
    replay: {
      scene: traceScene(trace, { seed: 1 }),
      sloMs: 139,
      freeP99Ms: 39,
      outcomes: [
        OUTCOME,
        { ...OUTCOME, ...OURS_TIGHT },
        { ...OUTCOME, ...AS_IT_IS, sloHeld: false, median },
      ],
      runs: [],
    },
  };
}

const rowOf = (text: string, algorithm: string): string | undefined =>
  text.split("\n").find((line) => line.startsWith(algorithm));

pure("simulateText() has a line per algorithm, and leaves out columns for narrow terminals", () => {
  const text = simulateText(story());
  assert.match(
    rowOf(text, "ours") ?? "",
    /^ours +held +1\.20 +6\.00 +57\.0 +130 +150 +0\.400 +450\/700$/,
  );
  assert.match(rowOf(text, algorithmLabel(AS_IT_IS)) ?? "", / missed .* -$/);
  const wide = simulateText(story(), { wide: true });
  assert.match(rowOf(wide, "ALGORITHM") ?? "", /SLACK %$/);
  assert.match(rowOf(wide, "ours") ?? "", /25\.0$/);
  const narrow = rowOf(simulateText(story(), { columns: 80 }), "ALGORITHM") ?? "";
  assert(narrow.length <= 80 && !narrow.includes("P50") && narrow.includes("P99"), narrow);
  assert.match(rowOf(simulateText(story(), { columns: 20 }), "ALGORITHM") ?? "", /CORES/);
});

pure("simulateText() colours what holds the SLO", () => {
  const coloured = simulateText(story(), { color: true });
  assert(coloured.includes("\x1b[32mheld\x1b[0m") && coloured.includes("\x1b[31mmissed\x1b[0m"));
});
