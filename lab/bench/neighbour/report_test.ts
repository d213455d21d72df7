import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { neighbourFigures, type NeighbourLook, neighbourTable } from "./report.ts";

/** A look each second from -10 s: three services, of which the first gets more until 7 s. */
function looksOf(quotaAt: (s: number) => number): NeighbourLook[] {
  const services = [0, 0, 0];
  let neighbour = 0;
  return Array.from({ length: 41 }, (_, i) => {
    const s = i - 10;
    const look = { at: 1000 * s, services: [...services], neighbour, quota: quotaAt(s) };
    const rates = s < 0 ? [500, 500, 500] : s < 7 ? [300, 200, 200] : [300, 300, 300];
    rates.forEach((rate, k) => services[k] = (services[k] ?? 0) + rate);
    neighbour += s < 0 ? 0 : s < 7 ? 1000 : 800;
    return look;
  });
}

pure("neighbourFigures() finds when equal services are equal and the neighbour rests", () => {
  const figures = neighbourFigures(looksOf((s) => s < 6 ? 2000 : 800));
  assert.deepEqual(
    { ...figures, windows: figures.windows.length },
    {
      alone: 500,
      windows: 6,
      // A window from 6.5 s holds half a second of unequal shares, which looks a second apart hide.
      fairAfterS: 6.5,
      restsAfterS: 6,
      quota: 800,
      service: figures.service,
      neighbour: figures.neighbour,
    },
  );
  assert.equal(figures.windows[0]?.jain.toFixed(4), "0.9608");
  assert.equal(figures.windows[5]?.neighbour, 800);
});

pure("neighbourFigures() reports neither where nothing changes", () => {
  const unequal = looksOf(() => 2000).map((look) => ({ ...look, services: [look.at, 0, 0] }));
  const { fairAfterS, restsAfterS } = neighbourFigures(unequal);
  assert.deepEqual([fairAfterS, restsAfterS], [null, null]);
  assert.throws(() => neighbourFigures([]), RangeError);
});

pure("neighbourTable() has a line per stretch and window", () => {
  const resizes = { seconds: 600, all: 0, mostOfOnePod: 0 };
  const agent = { millicores: 9, memoryMB: 90, looksPerSecond: 4, lateP99Ms: 10 };
  const figures = neighbourFigures(looksOf(() => 2000));
  const report = {
    scene: "scene",
    quiet: { resizes, agent },
    onset: { resizes, agent, ...figures },
  };
  assert.equal(neighbourTable(report).split("\n").length, 4 + 6 + 2);
});
