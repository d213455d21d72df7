import assert from "node:assert/strict";
import type { CPURange } from "../../actuation/cpu_range.ts";
import {
  bareContainer,
  type FactsChoice,
  MI,
  rightsizingFacts,
  templateContainer,
} from "../../../tests/fixtures/rightsizing_facts.ts";
import { fitNewPod } from "./fit_new_pod.ts";
import type { QuotaRoom } from "./rightsizing_facts.ts";
import { describeWanted, type ResourcePair, wantedOf } from "./wanted_resources.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const OPEN = [bareContainer("app", { requestCPU: 100, requestMemory: 64 * MI })];

/** What is left of 500 m for `app`. */
function fitted(
  choice: FactsChoice,
  containers = OPEN,
  pair: ResourcePair = { request: 500 },
): string {
  const wanted = wantedOf([{ container: "app", resource: "cpu", pair }]);
  return describeWanted(fitNewPod(wanted, rightsizingFacts({ containers, ...choice })).wanted);
}

const range = (max: number, min = 0) => ({ min, max, ratio: Infinity });
const ANY = range(Infinity);

test("fitNewPod() leaves all where nothing is against it, whatever holds for running pods", () => {
  assert.equal(fitted({}), "app cpu 500m");
  assert.equal(fitted({ resizeServed: false, dryRun: true, pods: [] }), "app cpu 500m");
});

test("fitNewPod() keeps within LimitRanges, or leaves the pod alone", () => {
  const limited = [bareContainer("app", { requestCPU: 100, limitCPU: 150 })];
  const within = (container: CPURange, pod: CPURange): string =>
    fitted({ ranges: { cpu: { container, pod } } }, limited, { request: 500, limit: 600 });
  assert.equal(within(ANY, ANY), "app cpu 500m (limit 600m)");
  assert.equal(within(range(200), ANY), "app cpu 200m (limit 200m)");
  assert.equal(within(ANY, range(300)), "app cpu 300m (limit 300m)");
  // What nobody asked to change is outside of it: no value of ours helps.
  const memory = { container: range(32 * MI), pod: ANY };
  assert.equal(fitted({ ranges: { memory } }), "");
});

test("fitNewPod() takes no more of a quota than the whole pod leaves of it", () => {
  const quotas = (room: number, of: QuotaRoom["of"] = "request") => ({
    quotas: [{ name: "q", resource: "cpu", of, room } as const],
  });
  assert.equal(fitted(quotas(500)), "app cpu 500m");
  assert.equal(fitted(quotas(499)), "app cpu 499m");
  // What it has without us takes all.
  assert.equal(fitted(quotas(100)), "app cpu 100m");
  assert.equal(fitted(quotas(-7)), "app cpu 100m");
  // A decrease takes nothing.
  assert.equal(
    fitted(quotas(0), [templateContainer({ requestCPU: 900, limitCPU: 900 })]),
    "app cpu 500m",
  );
  assert.equal(fitted(quotas(0, "limit")), "app cpu 500m");
});

test("fitNewPod() asks for no more than the largest node has, and for what the template says at least", () => {
  const on = (allocatableCPU: number): string =>
    fitted({ largestNode: { allocatableCPU, allocatableMemory: Infinity } });
  assert.equal(on(500), "app cpu 500m");
  assert.equal(on(400), "app cpu 400m");
  assert.equal(on(50), "app cpu 100m");
});

test("fitNewPod() keeps the pod's class, and requests within its limits", () => {
  assert.equal(fitted({}, [templateContainer()]), "app cpu 200m");
  const same = { requestCPU: 100, limitCPU: 100, requestMemory: MI, limitMemory: MI };
  assert.equal(fitted({}, [bareContainer("app", same)]), "");
  assert.equal(fitted({}, [bareContainer("app", {})]), "");
});
