/** What was seen and no source of usage has, after the controller has ended and begun again. */
import { pure } from "../fixtures/pure.ts";
import assert from "node:assert/strict";
import { ApiError } from "../../shared/api/api_error.ts";
import { seededRandom } from "../../shared/random.ts";
import { recordsOf } from "../../shared/rightsizing/reports.ts";
import { createSimulatedAPI } from "../../lab/simulation/api/simulated_api.ts";
import { createUsageAnswers } from "../fixtures/rightsizing/usage_answers.ts";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import { keptCheckpoints } from "../fixtures/rightsizing/kept_checkpoints.ts";
import {
  autoPolicy,
  MI,
  templateContainer,
  workloadPod,
} from "../fixtures/rightsizing/rightsizing_facts.ts";
import { sampleWorkload } from "../fixtures/sample_workloads.ts";
import { startRightsizing } from "./running_rightsizing.ts";

const START_MS = Date.UTC(2026, 0, 1);
const MINUTE_MS = 60_000;

/** A Deployment `web` under a policy of provider Prometheus; its only pod was killed at 128 Mi. */
function stage() {
  const clock = createVirtualClock({ wallStart: START_MS });
  const api = createSimulatedAPI({ clock, random: seededRandom(1) });
  const source = createUsageAnswers();
  const { tables } = api.store;
  tables.Namespace.create({
    metadata: { name: "shop", uid: "", resourceVersion: "", labels: {}, annotations: {} },
  });
  const makes = {
    paused: false,
    replicas: 1,
    template: { containers: [templateContainer()], initContainers: [] },
  };
  tables.Deployment.create(sampleWorkload({ makes }));
  tables.Pod.seed(workloadPod("web-1", [templateContainer({ oomKilledAtMs: START_MS - 1000 })]));
  const { cpu, memory } = source.of({ namespace: "shop", kind: "Deployment", name: "web" }, "app");
  for (let minute = -60; minute < 240; minute++) {
    cpu.push([START_MS + minute * MINUTE_MS, 150]);
    memory.push([START_MS + minute * MINUTE_MS, 80 * MI]);
  }
  tables.OptimizationPolicy.create({
    metadata: { name: "all", namespace: "shop", uid: "", resourceVersion: "", generation: 1 },
    spec: autoPolicy({}, {
      mode: "Recommend",
      provider: "prometheus",
      windowMs: 120 * MINUTE_MS,
      selector: { namespaces: { allow: ["shop"], deny: [] }, workloadKinds: ["Deployment"] },
    }),
    faults: [],
    status: {},
  });
  return {
    api,
    clock,
    source,
    pass: (ms: number): Promise<void> => clock.runUntil(clock.monotonic() + ms),
    memory: (): number | undefined =>
      recordsOf(tables.RecommendationReport.all(), "shop")[0]?.recommendations[0]?.memory,
  };
}

pure(
  "runRightsizing() knows after a restart what a pod had that was killed and is gone",
  async () => {
    const { api, clock, source, pass, memory } = stage();
    const correctionStore = keptCheckpoints();
    {
      await using _first = startRightsizing({ api, clock }, { source, correctionStore });
      await pass(MINUTE_MS);
      assert.equal(memory(), 228 * MI);
    }
    assert.deepEqual([...correctionStore.kept.keys()], ["mbcas-corrections-0"]);
    api.store.tables.Pod.remove("shop/web-1");
    {
      await using _second = startRightsizing({ api, clock }, { source, correctionStore });
      await pass(10 * MINUTE_MS);
      assert.equal(memory(), 228 * MI);
    }
    // The kill leaves the window of two hours, and then there is nothing to keep.
    {
      await using _third = startRightsizing({ api, clock }, { source, correctionStore });
      await pass(125 * MINUTE_MS);
      assert.equal(memory(), 96 * MI);
    }
    assert.deepEqual([...correctionStore.kept.keys()], []);
  },
);

pure(
  "runRightsizing() recommends nothing before it knows what was seen, and reports that",
  async () => {
    const { api, clock, source, pass, memory } = stage();
    const correctionStore = keptCheckpoints();
    correctionStore.refusal = new ApiError(500, "InternalError", "etcd");
    await using _running = startRightsizing({ api, clock }, { source, correctionStore });
    await pass(MINUTE_MS);
    assert.equal(memory(), undefined);
    const { conditions } = api.store.tables.OptimizationPolicy.get("shop/all")?.status ?? {};
    const ready = conditions?.find(({ type }) => type === "Ready");
    assert.equal(ready?.reason, "DiscoveryFailed");
    correctionStore.refusal = undefined;
    await pass(5 * MINUTE_MS);
    assert.equal(memory(), 228 * MI);
  },
);
