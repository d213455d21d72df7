import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import { createScene, type Scene } from "./scene.ts";
import type { Trace } from "./trace.ts";
import { cases } from "../../tests/fixtures/cases.ts";

function trace(name: string, values: readonly number[]): Trace {
  return { name, unit: "requests/s", stepS: 1, values: Float64Array.from(values) };
}

const TRACES = [
  trace("rising", Array.from({ length: 600 }, (_, second) => 100 + second)),
  trace("My Trace/№ 1.csv", Array.from({ length: 300 }, () => 50)),
];

function scene(options: { seed?: number; pods?: number; minutes?: number } = {}): Scene {
  const { seed = 1, pods = 12, minutes = 5 } = options;
  return createScene({ seed, pods, minutes, traces: TRACES });
}

/** What is fixed in a scene: everything but the streams of requests. */
function settings({ pods }: Scene): unknown {
  return pods.map(({ workload: _workload, ...pod }) => pod);
}

pure("createScene() makes the same scene for the same seed, and another for another", () => {
  assert.deepEqual(settings(scene()), settings(scene()));
  assert.notDeepEqual(settings(scene()), settings(scene({ seed: 2 })));
});

pure("createScene() gives every run of a pod the same requests", () => {
  const pod = scene().pods[0];
  assert.ok(pod !== undefined);
  const [first, second] = [pod.workload(), pod.workload()];
  for (let request = 0; request < 1000; request++) {
    assert.equal(first.nextAt, second.nextAt);
    assert.equal(first.nextCost, second.nextCost);
    first.next();
    second.next();
  }
});

pure("createScene() loads the node to 40 % on average over the run", () => {
  for (const minutes of [1, 5, 30]) {
    const { pods } = scene({ minutes });
    let cores = 0;
    for (const pod of pods) {
      const workload = pod.workload();
      let sum = 0;
      for (let second = 0; second < minutes * 60; second++) sum += workload.coresAt(second * 1000);
      cores += sum / (minutes * 60);
    }
    assert.ok(Math.abs(cores - 3.2) < 0.05, `${cores} cores in ${minutes} minutes`);
  }
});

pure(
  "createScene() sets limits as people do, on the grid, with names and UIDs of their own",
  () => {
    const { pods } = scene({ pods: 40 });
    for (const { request, originalLimit, name, uid, priority } of pods) {
      assert.ok(request >= 10 && request % 10 === 0);
      assert.equal(originalLimit, 2 * request);
      assert.match(name, /^[a-z0-9][a-z0-9-]*-\d+$/);
      assert.match(uid, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/);
      assert.ok(priority === 0 || priority === 4000);
    }
    assert.equal(new Set(pods.map(({ uid }) => uid)).size, 40);
    assert.equal(new Set(pods.map(({ name }) => name)).size, 40);
  },
);

pure("createScene() works for any seed and number of pods that the demo accepts", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: -(2 ** 31) + 1, max: 2 ** 31 - 1 }),
      fc.integer({ min: 1, max: 200 }),
      (seed, pods) => {
        const made = scene({ seed, pods });
        assert.equal(made.pods.length, pods);
        for (const pod of made.pods) pod.workload();
      },
    ),
    cases(0.5),
  );
});
