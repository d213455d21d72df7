import { pure } from "../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { Registry } from "prom-client";
import { counter, gauge, histogram } from "../shared/metrics/metric.ts";
import { registerMetrics, registerScraped, type Series } from "./registered_metrics.ts";

const linesOf = async (registry: Registry): Promise<readonly string[]> =>
  (await registry.metrics()).split("\n").filter((line) =>
    line !== "" && !line.startsWith("# HELP")
  );

pure("registerMetrics() serves the series of a metric under its alias, too", async () => {
  const registry = new Registry();
  const { moves, waits } = registerMetrics(registry, {
    moves: counter("moves_total", { help: "Moves.", labels: ["kind"], alias: "old_moves_total" }),
    waits: histogram("waits_seconds", {
      help: "Waits.",
      buckets: [1],
      labels: ["kind"],
      alias: "old_waits_seconds",
    }),
  });
  moves.inc({ kind: "a" }, 2);
  waits.observe({ kind: "a" }, 0.5);
  const lines = await linesOf(registry);
  const served = lines.filter((line) => !line.includes("old_"));
  assert.ok(served.includes('moves_total{kind="a"} 2') && served.length === 7, served.join("\n"));
  const renamed = lines.filter((line) => line.includes("old_"));
  assert.deepEqual(renamed.map((line) => line.replace("old_", "")).sort(), served.toSorted());
  moves.remove({ kind: "a" });
  assert.ok(!(await linesOf(registry)).some((line) => line.includes("moves_total{")));
});

pure(
  "registerScraped() serves the series of the moment, and none where there are none",
  async () => {
    const registry = new Registry();
    let series: readonly Series[] = [];
    registerScraped(registry, {
      metric: gauge("pods", { help: "Pods.", labels: ["phase"] }),
      series: () => series,
    });
    registerScraped(registry, {
      metric: gauge("size", { help: "Size." }),
      series: () => series.slice(0, 1).map(([, n]) => [{}, n]),
    });
    const values = async () => (await linesOf(registry)).filter((line) => !line.startsWith("#"));
    assert.deepEqual(await values(), []);
    series = [[{ phase: "a" }, 1], [{ phase: "a" }, 1], [{ phase: "b" }, 1]];
    assert.deepEqual(await values(), ['pods{phase="a"} 2', 'pods{phase="b"} 1', "size 1"]);
    series = [];
    assert.deepEqual(await values(), []);
  },
);
