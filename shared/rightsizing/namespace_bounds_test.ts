import assert from "node:assert/strict";
import { sampleQuota } from "../../tests/contract/support/sample_objects.ts";
import { bareContainer } from "../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import type { ScopedPod } from "../resize/checks/resource_quota.ts";
import type { QuotaScope, ResourceQuota } from "../api/namespace.ts";
import type { PodTemplate } from "../api/workload.ts";
import { largestNode, namespaceRules, quotaRoomsOf } from "./namespace_bounds.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const { hardLimitsCPU: _limits, ...unbound } = sampleQuota();
const template: PodTemplate = {
  containers: [bareContainer("app", { requests: { cpu: 100 }, limits: {} })],
  initContainers: [],
};
const running: ScopedPod = { qosClass: "Burstable" };

function rooms(quotas: readonly ResourceQuota[], pods = [running], made = template) {
  return quotaRoomsOf(quotas, { pods, template: made }).map(({ name, resource, of, room }) =>
    `${name} ${of}.${resource} ${room}`
  );
}

test("quotaRoomsOf() is hard less used of each bound, also below nothing", () => {
  const quota = sampleQuota({
    requestsCPU: { hard: 500, used: 600 },
    memory: { requests: { hard: 1000, used: 100 }, limits: { hard: 2000, used: 2000 } },
  });
  assert.deepEqual(rooms([quota]), [
    "cpu requests.cpu -100",
    "cpu limits.cpu 300",
    "cpu requests.memory 900",
    "cpu limits.memory 0",
  ]);
});

test("quotaRoomsOf() has no room of what a quota does not bound", () => {
  assert.deepEqual(rooms([]), []);
  assert.deepEqual(rooms([unbound]), []);
  const memory = { limits: { hard: 9, used: 2 } };
  assert.deepEqual(rooms([unbound, { ...unbound, memory }, sampleQuota()]), [
    "cpu limits.memory 7",
    "cpu limits.cpu 300",
  ]);
});

test("quotaRoomsOf() keeps to quotas that count a pod or one to come, by their scopes", () => {
  const scoped = (name: string, values: readonly string[] = []): ResourceQuota => {
    const operator = values.length > 0 ? "In" : "Exists";
    const scope: QuotaScope = { name, operator, values };
    return sampleQuota({ scopes: [scope] });
  };
  const told = ["cpu limits.cpu 300"];
  assert.deepEqual(rooms([scoped("NotBestEffort")]), told);
  assert.deepEqual(rooms([scoped("BestEffort")]), []);
  assert.deepEqual(rooms([scoped("Terminating")]), []);
  assert.deepEqual(
    rooms([scoped("Terminating")], [running, { ...running, hasDeadline: true }]),
    told,
  );
  const high = scoped("PriorityClass", ["high"]);
  assert.deepEqual(rooms([high]), []);
  assert.deepEqual(rooms([high], [{ ...running, priorityClassName: "high" }]), told);
  // New pods count where the old ones do not, and where there are none.
  assert.deepEqual(rooms([high], [running], { ...template, priorityClassName: "high" }), told);
  assert.deepEqual(rooms([high], [], { ...template, priorityClassName: "high" }), told);
  assert.deepEqual(rooms([scoped("Terminating")], [], { ...template, hasDeadline: true }), told);
  const bare = { ...template, containers: [bareContainer("app", {})] };
  assert.deepEqual(rooms([scoped("BestEffort")], [], bare), told);
});

const metadata = { name: "r", namespace: "shop", uid: "", resourceVersion: "" };
const memoryRange = { metadata, items: [{ type: "Pod", memory: { max: 5 } }] } as const;
const emptyTemplate = {
  containers: [bareContainer("app", { requests: { cpu: 1 }, limits: {} })],
  initContainers: [],
};
const counted = { pods: [], template: emptyTemplate };

test("namespaceRules() has ranges and rooms, and no ranges where nothing is said", () => {
  const rules = namespaceRules({ limitRanges: [memoryRange], quotas: [sampleQuota()] }, counted);
  assert.deepEqual(rules, {
    ranges: {
      memory: {
        container: { min: 0, max: Infinity, ratio: Infinity },
        pod: { min: 0, max: 5, ratio: Infinity },
      },
    },
    quotas: [{ name: "cpu", resource: "cpu", of: "limits", room: 300 }],
    unreadable: [],
  });
  assert.deepEqual(namespaceRules({ limitRanges: [], quotas: [] }, counted), {
    quotas: [],
    unreadable: [],
  });
});

test("namespaceRules() names each LimitRange that can't be read", () => {
  const unreadable = "its limits are negative";
  assert.deepEqual(
    namespaceRules(
      { limitRanges: [{ ...memoryRange, unreadable }, memoryRange], quotas: [] },
      counted,
    )
      .unreadable,
    [`LimitRange r: ${unreadable}`],
  );
});

Deno.test({
  name: "largestNode() is the most of each resource, any amount where a node does not tell",
  permissions: "none",
  fn() {
    const [small, large] = [
      { allocatableCPU: 2000, allocatableMemory: 9000 },
      { allocatableCPU: 4000, allocatableMemory: 8000 },
    ];
    assert.deepEqual(largestNode([small, large]), {
      allocatableCPU: 4000,
      allocatableMemory: 9000,
    });
    assert.deepEqual(largestNode([small, { allocatableCPU: 0 }]), {
      allocatableCPU: Infinity,
      allocatableMemory: Infinity,
    });
    assert.equal(largestNode([]), undefined);
  },
});
