import assert from "node:assert/strict";
import fc from "fast-check";
import { usagePlot } from "./usage_plot.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const USAGE = { samples: 9, min: 20, p50: 50, p90: 60, p95: 61, p99: 62, max: 80 };

pure("usagePlot() shows where the samples lie, and the recommended request among them", () => {
  assert.equal(usagePlot(USAGE, { recommended: 100, width: 10 }), "··███▓───│");
  assert.equal(usagePlot(USAGE, { recommended: 30, width: 16 }), "····██│███▓▓────");
  assert.equal(usagePlot(USAGE, { width: 16 }), "····██████▓▓────");
  const wide = { ...USAGE, p95: 70, p99: 75 };
  assert.equal(usagePlot(wide, { width: 16 }), "····██████▓▓▒▒░─");
});

pure("usagePlot() shows a container that used nothing, or always the same", () => {
  const same = (value: number) => ({
    ...{ samples: 1, min: value, p50: value, p90: value, p95: value, p99: value, max: value },
  });
  assert.equal(usagePlot(same(0), { width: 5 }), "█····");
  assert.equal(usagePlot(same(0), { recommended: 50, width: 5 }), "█···│");
  assert.equal(usagePlot(same(40), { recommended: 48, width: 6 }), "·····│");
  assert.equal(usagePlot(same(40), { width: 5 }), "····█");
});

pure("usagePlot() is as wide as asked, in the order of the figures, with one request", () => {
  const value = fc.nat(10_000);
  const figures = fc.tuple(value, value, value, value, value, value).map((all) => {
    const [min = 0, p50 = 0, p90 = 0, p95 = 0, p99 = 0, max = 0] = all.toSorted((a, b) => a - b);
    return { samples: 9, min, p50, p90, p95, p99, max };
  });
  fc.assert(
    fc.property(figures, value, fc.integer({ min: 1, max: 100 }), (usage, recommended, width) => {
      const plot = usagePlot(usage, { recommended, width });
      assert.equal(plot.length, width);
      assert.equal(plot.split("│").length, 2, plot);
      assert.match(plot.replace("│", ""), /^·*█*▓*▒*░*─*·*$/);
      const bare = usagePlot(usage, { width });
      assert.doesNotMatch(bare, /│/);
      assert.match(bare, /[█▓▒░─]/);
    }),
  );
});
