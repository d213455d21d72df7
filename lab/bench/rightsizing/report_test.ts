import assert from "node:assert/strict";
import { type PassFigures, passGoals, passTable } from "./report.ts";

function figures(change: Partial<PassFigures> = {}): PassFigures {
  return {
    size: { workloads: 1000, pods: 1, containers: 5 },
    passSeconds: 59.5,
    cpuSeconds: 12,
    served: { queries: 2000, refused: 0, points: 7_200_000, bytes: 2.3e8 },
    idle: { used: 20, resident: 80 },
    highest: { used: 200, resident: 280 },
    after: { used: 50, resident: 280 },
    checked: { recommended: 5000, wrong: 0 },
    ...change,
  };
}

function held(change: Partial<PassFigures> = {}): readonly (boolean | undefined)[] {
  return passGoals(figures(change)).map((goal) => goal.held);
}

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

pure("passGoals() holds up to each bound, and not beyond", () => {
  assert.deepEqual(held(), [true, true, true, true, true, true]);
  const missed: readonly Partial<PassFigures>[] = [
    { passSeconds: 60.1 },
    { highest: { used: 200, resident: 80 + 501 } },
    { after: { used: 20 + 501, resident: 280 } },
    { served: { queries: 2001, refused: 0, points: 0, bytes: 0 } },
    { served: { queries: 2000, refused: 1, points: 0, bytes: 0 } },
    { checked: { recommended: 5000, wrong: 1 } },
  ];
  missed.forEach((change, index) =>
    assert.deepEqual(held(change), held().map((_, at) => at !== index))
  );
});

pure("passGoals() does not judge memory by fewer containers than the goal is for", () => {
  const size = { workloads: 999, pods: 1, containers: 5 };
  const highest = { used: 2000, resident: 2000 };
  assert.deepEqual(held({ size, highest }).slice(0, 3), [true, undefined, undefined]);
});

pure("passTable() reports goals, memory, and what is wrong", () => {
  const text = passTable(figures({ checked: { recommended: 4999, wrong: 1, example: "a: 3" } }));
  assert.match(text, /^pass, s +59\.5 +60 +held$/m);
  assert.match(text, /^wrong recommendations +1 +0 +MISSED$/m);
  assert.match(text, /^highest +200 +280$/m);
  assert.match(text, /^wrong, .* a: 3$/m);
  assert.doesNotMatch(passTable(figures()), /MISSED|for instance/);
});
