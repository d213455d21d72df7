import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { quantile } from "../simulation/statistics.ts";
import type { Trace } from "../simulation/trace.ts";
import { traceScene, type TraceSceneOptions } from "./trace_scene.ts";

const TRACE: Trace = {
  name: "made up",
  unit: "cores",
  stepS: 1,
  values: Float64Array.from({ length: 120 }, (_, second) => second < 60 ? 0.5 : 1.5),
};

function service(options: Omit<TraceSceneOptions, "seed"> = {}) {
  const { cores, minutes, pods } = traceScene(TRACE, { seed: 1, ...options });
  const [pod] = pods;
  assert(pod !== undefined && pods.length === 1);
  return { cores, minutes, ...pod };
}

pure("traceScene() asks for half of the mean and allows four times that", () => {
  const { request, originalLimit, minutes, cores, p90Demand } = service();
  assert.deepEqual([request, originalLimit, minutes], [500, 2000, 2]);
  // Burst factor 8: a ceiling of 16 cores, which is at most three quarters of the node.
  assert.equal(cores, 22);
  assert.equal(p90Demand, 1500);
  assert.equal(service({ minutes: 1 }).request, 250);
});

pure("traceScene() takes the user's own request and limit, each alone too", () => {
  const own = (options: Omit<TraceSceneOptions, "seed">) => {
    const { request, originalLimit } = service(options);
    return [request, originalLimit];
  };
  assert.deepEqual(own({ request: 125, originalLimit: 333 }), [125, 333]);
  assert.deepEqual(own({ request: 300 }), [300, 1200]);
  assert.deepEqual(own({ originalLimit: 3000 }), [500, 3000]);
  assert.deepEqual(own({ originalLimit: 200 }), [200, 200]);
});

pure("traceScene() has room for the demand where the original limit is far below it", () => {
  const values = TRACE.values.map((value) => value * 20);
  const { cores, pods } = traceScene({ ...TRACE, values }, { seed: 1, originalLimit: 100 });
  assert(cores * 0.75 >= quantile(values, 1), String(cores));
  assert((pods[0]?.threads ?? 0) >= quantile(values, 1), String(pods[0]?.threads));
});

pure("traceScene() refuses what can't be played, with its values", () => {
  assert.throws(() => service({ request: 500, originalLimit: 400 }), {
    name: "RangeError",
    message: /request of 500m .* limit of 400m$/,
  });
  assert.throws(() => service({ request: 0 }), /request of 0m/);
  const short = { ...TRACE, values: TRACE.values.subarray(0, 59) };
  assert.throws(() => traceScene(short, { seed: 1 }), /59 s.*a minute/);
  const idle = { ...TRACE, values: new Float64Array(60) };
  assert.throws(() => traceScene(idle, { seed: 1 }), /no load.* 0:/);
});
