import assert from "node:assert/strict";
import type { AdvisedContainer } from "./advice_view.ts";
import { changeCell, changesText, inForceText } from "./amount_text.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const MEBI = 2 ** 20;

function container(change: Partial<AdvisedContainer>): AdvisedContainer {
  return { name: "app", sidecar: false, pods: [], ...change };
}

const RECOMMENDED = { cpu: 300, memory: 64 * MEBI };

pure("changeCell() sets raises apart from what shrinks, and from what stays", () => {
  const how = (...cpus: (number | undefined)[]): string | undefined => {
    const pods = cpus.map((cpu) => ({ count: 1, ...(cpu === undefined ? {} : { cpu }) }));
    return changeCell(container({ recommended: RECOMMENDED, pods }), "cpu").how;
  };
  assert.deepEqual([how(200), how(400), how(300), how(undefined)], [
    "yellow",
    "green",
    "dim",
    "yellow",
  ]);
  assert.deepEqual([how(200, 300), how(300, 400), how(200, 400)], ["yellow", "green", undefined]);
});

pure("changeCell() takes a limit that is not set for one above all others", () => {
  const recommended = { ...RECOMMENDED, cpuLimit: 500 };
  const cell = (cpuLimit?: number) => {
    const pods = [{ count: 1, ...(cpuLimit === undefined ? {} : { cpuLimit }) }];
    return changeCell(container({ recommended, pods }), "cpuLimit");
  };
  assert.deepEqual(cell(), { text: "none → 500m", how: "green" });
  assert.deepEqual(cell(200), { text: "200m → 500m", how: "yellow" });
});

pure("changeCell() reports what is not set, not known, and left alone", () => {
  const template = { cpu: 100, cpuLimit: 200 };
  const text = (change: Partial<AdvisedContainer>, name: "cpu" | "cpuLimit" = "cpu") =>
    changeCell(container(change), name).text;
  assert.equal(text({ recommended: RECOMMENDED }), "- → 300m");
  assert.equal(text({ recommended: RECOMMENDED, template }), "100m → 300m");
  assert.equal(text({ template }), "100m → -");
  assert.equal(text({ template, recommended: RECOMMENDED }, "cpuLimit"), "200m");
  const pods = [{ count: 2, cpu: 150 }, { count: 1, cpu: 120 }];
  assert.equal(text({ template, pods }), "120m..150m → -");
  assert.equal(text({ pods: [...pods, { count: 1 }] }), "none..120m..150m → -");
});

pure("inForceText() and changesText() give amounts in their units", () => {
  assert.equal(inForceText(container({ inForce: { memory: 84.5 * MEBI } }), "memory"), "84.5Mi");
  assert.equal(inForceText(container({}), "cpu"), "-");
  const text = changesText({
    cpu: { grows: 1290, shrinks: 328 },
    memory: { grows: 0, shrinks: 1.5 * 1024 * MEBI },
  });
  assert.match(text, /CPU .* 0\.33 .* 1\.29 cores, memory .* 1\.5Gi .* 0$/);
});
