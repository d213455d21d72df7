import fc from "fast-check";
import assert from "node:assert/strict";
import { pure } from "../../../tests/fixtures/pure.ts";
import type { LimitRangeBounds, LimitRangeItem } from "../../api/namespace.ts";
import { setsCPU } from "./autoscalers.ts";
import { resourceRangesOf } from "./limit_range.ts";
import { quotaCounts, type ScopedPod } from "./resource_quota.ts";

type Policies = Readonly<Record<string, boolean>>;

pure("setsCPU() asks each container's own policy first, then the one for all others", () => {
  const rows: readonly (readonly [sets: boolean, policies?: Policies, mode?: string])[] = [
    [true],
    [true, {}],
    [false, {}, "Off"],
    [false, { app: true }, "Off"],
    [false, { "*": false }],
    [true, { "*": false, proxy: true }],
    [false, { app: false, proxy: false, "*": true }],
    // A container that no policy names is controlled; those that the pod has not got say nothing.
    [true, { app: false }],
    [false, { "*": false, db: true }],
  ];
  for (const [sets, policies, updateMode = "Recreate"] of rows) {
    const cpuPolicies = Object.entries(policies ?? {})
      .map(([container, controlled]) => ({ container, controlled }));
    const vpa = policies === undefined ? { updateMode } : { updateMode, cpuPolicies };
    assert.equal(setsCPU(vpa, ["app", "proxy"]), sets);
  }
});

function range(...items: LimitRangeItem[]) {
  return { metadata: { name: "r", namespace: "shop", uid: "", resourceVersion: "" }, items };
}

const ANYTHING = { min: 0, max: Infinity, ratio: Infinity };

pure("resourceRangesOf() has the tightest range of CPU and of memory, and all defaults", () => {
  const defaults = { "requests.memory": "1Gi", "limits.memory": "2Gi" };
  const ranges = resourceRangesOf([
    range({ type: "Container", min: 10, memory: { max: 400, ratio: 2 } }),
    range({ type: "Container", max: 900 }, { type: "Container", memory: { min: 5, max: 300 } }),
    range({ type: "Pod", memory: { max: 800 } }, { type: "Container", defaults }),
    range({ type: "Container", defaults: { ...defaults, "limits.cpu": "500m" } }),
  ]);
  assert.deepEqual(ranges, {
    cpu: { container: { ...ANYTHING, min: 10, max: 900 }, pod: ANYTHING },
    memory: { container: { min: 5, max: 300, ratio: 2 }, pod: { ...ANYTHING, max: 800 } },
    defaults: ["limits.cpu", "limits.memory", "requests.memory"],
  });
  for (const none of [[], [range()], [{ ...range(), unreadable: "Cannot read it" }]]) {
    assert.equal(resourceRangesOf(none), undefined);
  }
  const kept = (item: Omit<LimitRangeItem, "type">) =>
    Object.keys(resourceRangesOf([range({ type: "Pod", ...item })]) ?? {});
  assert.deepEqual([kept({ max: 5 }), kept({ memory: { max: 5 } })], [["cpu"], ["memory"]]);
  assert.deepEqual(kept({ defaults }), ["defaults"]);
});

pure("resourceRangesOf() reads each resource as if nothing were said of the other", () => {
  const bounds: fc.Arbitrary<LimitRangeBounds> = fc.record(
    { min: fc.nat(1000), max: fc.nat(1000), ratio: fc.integer({ min: 1, max: 9 }) },
    { requiredKeys: [] },
  );
  const type = fc.constantFrom<LimitRangeItem["type"]>("Container", "Pod");
  fc.assert(fc.property(fc.array(fc.tuple(type, bounds, bounds), { maxLength: 5 }), (all) => {
    const of = (item: (one: typeof all[number]) => LimitRangeItem) =>
      resourceRangesOf([range(...all.map(item))]);
    const cpuOnly = of(([type, cpu]) => ({ type, ...cpu }))?.cpu;
    assert.deepEqual(of(([type, cpu, memory]) => ({ type, ...cpu, memory }))?.cpu, cpuOnly);
    const swapped = of(([type, cpu, memory]) => ({ type, ...memory, memory: cpu }));
    assert.deepEqual(swapped?.memory, cpuOnly ?? (all.length > 0 ? swapped?.memory : undefined));
  }));
});

const plain: ScopedPod = { qosClass: "Burstable" };
const PODS = {
  plain,
  job: { ...plain, hasDeadline: true },
  idle: { qosClass: "BestEffort" },
  high: { ...plain, priorityClassName: "high" },
  low: { ...plain, priorityClassName: "low" },
} as const satisfies Readonly<Record<string, ScopedPod>>;

const EVERY = Object.keys(PODS).join(" ");

pure("quotaCounts() takes scopes as the server does, and unknown ones for any", () => {
  const rows:
    readonly (readonly [counted: string, scope: string, operator?: string, value?: string])[] = [
      ["job", "Terminating"],
      ["plain idle high low", "NotTerminating"],
      ["idle", "BestEffort"],
      ["plain job high low", "NotBestEffort"],
      ["high low", "PriorityClass", "Exists"],
      ["plain job idle", "PriorityClass", "DoesNotExist"],
      ["high", "PriorityClass", "In", "high"],
      ["plain job idle low", "PriorityClass", "NotIn", "high"],
      ...["CrossNamespacePodAffinity", "Tomorrow"].map((scope) => [EVERY, scope] as const),
      [EVERY, "PriorityClass", "Gt", "5"],
      ...["In", "NotIn"].map((operator) => [EVERY, "PriorityClass", operator] as const),
    ];
  const counted = (...scopes: Parameters<typeof quotaCounts>[0]["scopes"]) =>
    Object.entries(PODS).filter(([, pod]) => quotaCounts({ scopes }, pod))
      .map(([name]) => name).join(" ");
  for (const [expected, name, operator = "Exists", value] of rows) {
    const values = value === undefined ? [] : [value, "top"];
    assert.equal(counted({ name, operator, values }), expected);
  }
  assert.equal(counted(), EVERY);
  // All scopes together.
  const high = { name: "PriorityClass", operator: "In", values: ["high"] };
  assert.equal(counted({ name: "NotTerminating", operator: "Exists", values: [] }, high), "high");
});
