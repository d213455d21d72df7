import assert from "node:assert/strict";
import { sampleQuota } from "../../tests/contract/support/sample_objects.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { bareContainer } from "../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import type { ScopedPod } from "../resize/checks/resource_quota.ts";
import type { QuotaScope, ResourceQuota } from "../api/namespace.ts";
import type { PodTemplate } from "../api/workload.ts";
import { largestNode, namespaceRules } from "./namespace_bounds.ts";

const TEMPLATE: PodTemplate = {
  containers: [bareContainer("app", { requests: { cpu: 100 }, limits: {} })],
  initContainers: [],
};
const RUNNING: ScopedPod = { qosClass: "Burstable" };
const metadata = { name: "r", namespace: "shop", uid: "", resourceVersion: "" };
const range = { metadata, items: [{ type: "Pod", memory: { max: 5 } }] } as const;

function rooms(
  quotas: readonly ResourceQuota[],
  { pods = [RUNNING], template = TEMPLATE }: {
    readonly pods?: readonly ScopedPod[];
    readonly template?: PodTemplate;
  } = {},
): string {
  return namespaceRules({ limitRanges: [], quotas }, { pods, template }).quotas
    .map(({ name, resource, of, room }) => `${name} ${of}.${resource} ${room}`).join(", ");
}

function scoped(name: string, values: readonly string[] = []): readonly ResourceQuota[] {
  const scope: QuotaScope = { name, operator: values.length > 0 ? "In" : "Exists", values };
  return [sampleQuota({ scopes: [scope] })];
}

pure("namespaceRules() has the room of each bound of a quota, also below nothing", () => {
  const { hardLimitsCPU: _limits, ...unbound } = sampleQuota();
  const both = sampleQuota({
    requestsCPU: { hard: 500, used: 600 },
    memory: { requests: { hard: 1000, used: 100 }, limits: { hard: 2000, used: 2000 } },
  });
  assert.equal(
    rooms([both]),
    "cpu requests.cpu -100, cpu limits.cpu 300, cpu requests.memory 900, cpu limits.memory 0",
  );
  const memory = { limits: { hard: 9, used: 2 } };
  const three = [unbound, { ...unbound, memory }, sampleQuota()];
  assert.equal(rooms(three), "cpu limits.memory 7, cpu limits.cpu 300");
});

pure("namespaceRules() keeps to quotas that count a pod or one to come, by their scopes", () => {
  const high = scoped("PriorityClass", ["high"]);
  const made = (change: Partial<PodTemplate>) => ({ template: { ...TEMPLATE, ...change } });
  const bare = [bareContainer("app", {})];
  const [COUNTED, NOT] = ["cpu limits.cpu 300", ""];
  const rows:
    readonly (readonly [readonly ResourceQuota[], Parameters<typeof rooms>[1], string])[] = [
      [scoped("NotBestEffort"), {}, COUNTED],
      [scoped("BestEffort"), {}, NOT],
      [scoped("Terminating"), {}, NOT],
      [scoped("Terminating"), { pods: [RUNNING, { ...RUNNING, hasDeadline: true }] }, COUNTED],
      [high, {}, NOT],
      [high, { pods: [{ ...RUNNING, priorityClassName: "high" }] }, COUNTED],
      // New pods count where the old ones do not, and where there are none.
      [high, made({ priorityClassName: "high" }), COUNTED],
      [high, { pods: [], ...made({ priorityClassName: "high" }) }, COUNTED],
      [scoped("Terminating"), { pods: [], ...made({ hasDeadline: true }) }, COUNTED],
      [scoped("BestEffort"), { pods: [], ...made({ containers: bare }) }, COUNTED],
    ];
  for (const [index, [quotas, counted, expected]] of rows.entries()) {
    assert.equal(rooms(quotas, counted), expected, `${index}`);
  }
});

pure("namespaceRules() has the LimitRanges, and names each that can't be read", () => {
  const of = (...limitRanges: Parameters<typeof namespaceRules>[0]["limitRanges"]) =>
    namespaceRules({ limitRanges, quotas: [] }, { pods: [], template: TEMPLATE });
  const any = { min: 0, max: Infinity, ratio: Infinity };
  const ranges = { memory: { container: any, pod: { ...any, max: 5 } } };
  assert.deepEqual(of(range), { ranges, quotas: [], unreadable: [] });
  assert.deepEqual(of(), { quotas: [], unreadable: [] });
  const unreadable = "its limits are negative";
  assert.deepEqual(of({ ...range, unreadable }, range).unreadable, [`LimitRange r: ${unreadable}`]);
});

pure("largestNode() is the most of each resource, any amount where a node has no figure", () => {
  const node = (allocatableCPU: number, allocatableMemory: number) => ({
    allocatableCPU,
    allocatableMemory,
  });
  assert.deepEqual(largestNode([node(2000, 9000), node(4000, 8000)]), node(4000, 9000));
  const unknown = largestNode([node(2000, 9000), { allocatableCPU: 0 }]);
  assert.deepEqual(unknown, node(Infinity, Infinity));
  assert.equal(largestNode([]), undefined);
});
