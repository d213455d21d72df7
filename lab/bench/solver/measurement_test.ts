import assert from "node:assert/strict";
import { measureResiduals } from "./exactness.ts";
import { MODES, nodeMarket, wideMarket } from "./markets.ts";
import { solverTable } from "./table.ts";
import { measureTimes } from "./timing.ts";
import { clearMarket } from "../../../shared/market/solver.ts";
import { seededRandom } from "../../../shared/random.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

pure("nodeMarket() and wideMarket() make markets of the mode that was asked for", () => {
  const random = seededRandom(4);
  for (const make of [nodeMarket, wideMarket]) {
    for (const mode of MODES) {
      const { bids, capacity } = make(random, { count: 20, mode });
      assert.equal(bids.length, 20);
      assert.equal(clearMarket(bids, capacity).mode, mode);
    }
  }
});

pure("measureResiduals() finds clearings of all modes and sizes exact to 1e-9", () => {
  for (const { largest, clearings } of measureResiduals({ clearings: 200, seed: 11 })) {
    assert.equal(clearings, 200);
    assert.ok(largest <= 1e-9);
  }
});

pure("measureTimes() times five sizes in three modes", () => {
  const times = measureTimes({ batches: 1, seed: 1 });
  const cells = new Set(times.map(({ count, mode }) => `${count} ${mode}`));
  assert.equal(cells.size, 15);
  assert.ok(times.every(({ leastNs, medianNs }) => leastNs > 0 && leastNs <= medianNs));
});

pure("solverTable() prints both tables in columns", () => {
  const text = solverTable({
    times: [
      { count: 1, mode: "congested", medianNs: 640, leastNs: 600 },
      { count: 1000, mode: "overloaded", medianNs: 34_500, leastNs: 34_000 },
    ],
    residuals: [{ mode: "congested", clearings: 1000, largest: 2.2e-16 }],
  });
  const [times, distance = "", ...others] = text.split("\n\n");
  assert.equal(
    times,
    [
      "Time per clearing",
      " bids  mode         median    least  per bid",
      "    1  congested    640 ns   600 ns   640 ns",
      "1,000  overloaded  34.5 µs  34.0 µs    35 ns",
    ].join("\n"),
  );
  const [title = "", ...rows] = distance.split("\n");
  assert.match(title, /1e-9/);
  assert.deepEqual(rows, ["clearings  mode       residual", "    1,000  congested   2.2e-16"]);
  assert.deepEqual(others, []);
});
