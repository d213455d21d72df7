import { NO_RESOURCES } from "../../shared/api/pod.ts";
import assert from "node:assert/strict";
import type { Original } from "../../shared/api/pod_allocation.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import {
  sampleAllocation,
  sampleContainer,
  sampleGuaranteed,
  samplePod,
} from "../../tests/contract/support/sample_objects.ts";
import { createPodMemories, type PodMemory } from "./pod_memory.ts";
import {
  atOriginalRequests,
  findOriginals,
  type FoundOriginals,
  originalsOf,
} from "./original_limits.ts";
import { originalValues } from "../../shared/resize/original_limits.ts";

const permissions = "none" as const;

Deno.test({
  name: "originalsOf() takes limits and requests of the spec, with gaps where none is set",
  permissions,
  fn() {
    const bare = { ...sampleContainer({ name: "proxy" }), ...NO_RESOURCES };
    const pod = samplePod("web", {
      containers: [
        sampleContainer({ limits: { cpu: 2000 }, applied: { limits: { cpu: 500 } } }),
        bare,
      ],
    });
    assert.deepEqual(originalsOf(pod), {
      originalLimits: [{ name: "app", cpu: "2" }, { name: "proxy" }],
      originalRequests: [{ name: "app", cpu: "100m" }, { name: "proxy" }],
    });
  },
});

Deno.test({
  name: "originalValues() reads back what originalsOf() wrote",
  permissions,
  fn() {
    const { originalLimits } = originalsOf(samplePod("web"));
    assert.deepEqual(originalValues(originalLimits), new Map([["app", 200]]));
    assert.deepEqual(originalValues([{ name: "proxy" }]), new Map());
    assert.deepEqual(originalValues(undefined), new Map());
  },
});

Deno.test({
  name: "atOriginalRequests() undoes what the market has made of a Guaranteed pod's requests",
  permissions,
  fn() {
    const own = new Map([["app", 150]]);
    const raised = sampleGuaranteed({ requests: { cpu: 700 }, limits: { cpu: 700 } });
    const pod = samplePod("web", { containers: [raised, { ...raised, name: "jvm" }] });
    assert.deepEqual(
      atOriginalRequests(pod, own).containers.map((
        { requests: { cpu: requestCPU }, limits: { cpu: limitCPU } },
      ) => [requestCPU, limitCPU]),
      [[150, 700], [700, 700]],
    );
    const burstable = samplePod("web");
    assert.equal(atOriginalRequests(burstable, own), burstable);
  },
});

function test(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, permissions: "none", fn });
}

interface Choice {
  readonly limit?: number;
  readonly manager?: string;
  readonly recorded?: Original[];
  readonly memory?: PodMemory;
  readonly template?: ReadonlyMap<string, number> | Error;
  readonly nowMs?: number;
  readonly current?: boolean;
}

const memoryOf = (): PodMemory => createPodMemories(() => {}).of("shop/web", samplePod("web"));

/** What is settled, and how often the template was asked. */
async function settle(choice: Choice): Promise<FoundOriginals & { readonly asked: number }> {
  let asked = 0;
  const { limit = 300, manager = "mbcas", recorded, nowMs = 0, current = true } = choice;
  const pod = samplePod("web", {
    containers: [sampleContainer({ limits: { cpu: limit }, limitManagers: [manager] })],
  });
  const status = recorded === undefined ? {} : { originalLimits: recorded };
  const allocation = { ...sampleAllocation(pod), status };
  const { memory = memoryOf(), template } = choice;
  const settled = await findOriginals({ pod, allocation, memory }, {
    templates: {
      limitsOf() {
        asked++;
        return template instanceof Error ? Promise.reject(template) : Promise.resolve(template);
      },
    },
    nowMs,
    current,
  });
  return { ...settled, asked };
}

const OWN = [{ name: "app", cpu: "200m" }];

test("findOriginals() goes by the record while its limits are this product's", async () => {
  assert.deepEqual(await settle({ recorded: OWN }), { known: true, foreign: [], asked: 0 });
});

test("findOriginals() believes other managers only on a pod that is new enough", async () => {
  const foreign = { recorded: OWN, manager: "kubectl-patch", limit: 500 };
  assert.deepEqual(await settle({ ...foreign, current: false }), {
    known: true,
    foreign: [],
    asked: 0,
  });
  const { originals } = await settle(foreign);
  assert.deepEqual(originals?.originalLimits, [{ name: "app", cpu: "500m" }]);
  assert.deepEqual(originals?.originalRequests, [{ name: "app", cpu: "100m" }]);
});

test("findOriginals() takes the request of a Guaranteed pod over with the limit", async () => {
  const raised = { requests: { cpu: 500 }, limits: { cpu: 500 }, limitManagers: ["kubectl-patch"] };
  const pod = samplePod("web", { containers: [sampleGuaranteed(raised)] });
  const status = { originalLimits: OWN, originalRequests: OWN };
  const { originals } = await findOriginals(
    { pod, allocation: { ...sampleAllocation(pod), status }, memory: memoryOf() },
    { templates: { limitsOf: () => Promise.resolve(undefined) }, nowMs: 0, current: true },
  );
  const expected = [{ name: "app", cpu: "500m" }];
  assert.deepEqual(originals, { originalLimits: expected, originalRequests: expected });
});

test("findOriginals() takes the spec where the market has set nothing", async () => {
  const expected = [{ name: "app", cpu: "300m" }];
  const untouched = await settle({ manager: "kube-controller-manager" });
  assert.deepEqual(untouched.originals?.originalLimits, expected);
  const restored = await settle({ manager: "mbcas-restore" });
  assert.deepEqual(restored.originals?.originalLimits, expected);
  assert.deepEqual([untouched.asked, restored.asked], [0, 0]);
});

test("findOriginals() names the manager that changed an original limit, not rightsizing's value", async () => {
  const { foreign } = await settle({ recorded: OWN, manager: "kubectl-patch", limit: 600 });
  const change = { container: "app", from: "200m", to: "600m", manager: "kubectl-patch" };
  assert.deepEqual(foreign, [change]);
  const first = await settle({ recorded: [{ name: "app" }], manager: "kubectl", limit: 600 });
  assert.deepEqual(first.foreign, [{ container: "app", to: "600m", manager: "kubectl" }]);
  const recorded = [{ name: "app", cpu: "250m", replaces: "200m" }];
  const replaced = { recorded, manager: "kube-controller-manager", limit: 200 };
  assert.deepEqual(await settle(replaced), { known: true, foreign: [], asked: 0 });
});

test("findOriginals() corrects a record that differs from the pod, without an event", async () => {
  const { originals, foreign } = await settle({ recorded: OWN, manager: "mbcas/500m" });
  assert.deepEqual(originals?.originalLimits, [{ name: "app", cpu: "500m" }]);
  assert.deepEqual(foreign, []);
  const restored = await settle({ recorded: OWN, manager: "mbcas-restore", limit: 500 });
  assert.deepEqual(restored.originals?.originalLimits, [{ name: "app", cpu: "500m" }]);
  assert.deepEqual(restored.foreign, []);
});

test("findOriginals() asks the template for a lost record, and not again for 5 min", async () => {
  const found = await settle({ template: new Map([["app", 200]]) });
  assert.deepEqual(found.originals?.originalLimits, OWN);
  const memory = memoryOf();
  assert.deepEqual(await settle({ memory }), { known: false, foreign: [], asked: 1 });
  const soon = await settle({ memory, nowMs: 299_999 });
  assert.deepEqual(soon, { known: false, foreign: [], asked: 0 });
  const later = await settle({ memory, nowMs: 300_000, template: new Map([["app", 200]]) });
  assert.equal(later.known, true);
});

test("findOriginals() lets it be known when the template can't be asked", async () => {
  await assert.rejects(settle({ template: new ApiError(503, "", "down") }), /down/);
});
