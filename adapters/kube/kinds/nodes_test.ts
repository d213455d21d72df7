import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import type { Node } from "../../../shared/api/node.ts";
import { parseNode, parseNodeTerms, parsePersistentVolume } from "./nodes.ts";

const identity = { name: "a", uid: "u", resourceVersion: "1" };
const OPTIONAL = [
  ...["labels", "cordoned", "cordonedAtMs", "taints", "alarms", "draining", "os"] as const,
  ...["allocatableMemory", "kubeletVersion"] as const,
];

const zoneTerm = { matchExpressions: [{ key: "zone", operator: "In", values: ["a", ""] }] };

pure("parseNode() reads what is there, and leaves out the rest", () => {
  const cordon = { key: "node.kubernetes.io/unschedulable", timeAdded: "2026-01-01T00:00:00Z" };
  const going = (key: string) => ({ spec: { taints: [{ key: "gpu" }, { key, effect: "x" }] } });
  const labelled = (os: string) => ({
    metadata: { ...identity, labels: { "kubernetes.io/os": os } },
  });
  const conditions = Object.entries({
    Ready: "True",
    MemoryPressure: "True",
    DiskPressure: "Unknown",
    PreemptScheduled: "True",
    FreezeScheduled: "False",
  }).map(([type, status]) => ({ type, status }));
  const taints = [{ key: "gone", effect: "NoSchedule" }, { key: "k", value: "v", effect: "x" }];
  const rows: readonly (readonly [raw: object, seen: Partial<Node>, ...unseen: (keyof Node)[]])[] =
    [
      [{}, { metadata: identity, allocatableCPU: 0, ready: false, pressures: [] }, ...OPTIONAL],
      [
        { status: { allocatable: { cpu: "3920m" } } },
        { allocatableCPU: 3920 },
        "allocatableMemory",
      ],
      [{ status: { allocatable: { cpu: "2", memory: "1Mi" } } }, { allocatableMemory: 2 ** 20 }],
      [{ status: { conditions } }, {
        ready: true,
        pressures: ["MemoryPressure"],
        alarms: ["PreemptScheduled"],
      }],
      [{ status: { nodeInfo: { kubeletVersion: "v1.36.3" } } }, { kubeletVersion: "v1.36.3" }],
      [{ metadata: { ...identity, labels: { zone: "a" } } }, { labels: { zone: "a" } }],
      [{ spec: { taints } }, {
        taints: [{ key: "gone", value: "", effect: "NoSchedule" }, {
          key: "k",
          value: "v",
          effect: "x",
        }],
      }, "draining"],
      // An autoscaler will remove it.
      [going("ToBeDeletedByClusterAutoscaler"), { draining: true }],
      [going("karpenter.sh/disrupted"), { draining: true }],
      [{ spec: { unschedulable: false } }, {}, "draining", "cordoned"],
      [{ spec: { unschedulable: true } }, { cordoned: true }, "draining", "cordonedAtMs"],
      [{ spec: { unschedulable: true, taints: [{ key: "gpu" }, cordon] } }, {
        cordoned: true,
        cordonedAtMs: Date.UTC(2026, 0, 1),
      }],
      // The taint is taken off a moment after the cordon.
      [{ spec: { taints: [cordon] } }, {}, "cordonedAtMs"],
      [labelled("linux"), {}, "os"],
      [labelled("windows"), { os: "windows" }],
    ];
  for (const [raw, seen, ...unseen] of rows) {
    const node = parseNode({ metadata: identity, ...raw });
    for (const [name, value] of Object.entries(seen)) {
      assert.deepEqual(node[name as keyof Node], value, `${name} of ${JSON.stringify(raw)}`);
    }
    for (const name of unseen) assert.ok(!(name in node), `${name} of ${JSON.stringify(raw)}`);
  }
});

pure("parsePersistentVolume() reads its claim and its nodes", () => {
  const spec = {
    claimRef: { namespace: "shop", name: "data" },
    nodeAffinity: { required: { nodeSelectorTerms: [zoneTerm] } },
  };
  assert.deepEqual(parsePersistentVolume({ metadata: identity, spec }), {
    metadata: identity,
    claim: "shop/data",
    nodes: [[{ key: "zone", operator: "In", values: ["a", ""] }]],
  });
  assert.deepEqual(parsePersistentVolume({ metadata: identity, spec: {} }), { metadata: identity });
  // Its claim is gone, and another one of that name has nothing to do with it.
  const released = { metadata: identity, spec, status: { phase: "Released" } };
  assert.equal(parsePersistentVolume(released).claim, undefined);
});

pure("parseNodeTerms() reads names of nodes as labels of hosts", () => {
  assert.equal(parseNodeTerms(undefined), undefined);
  const byName = { key: "metadata.name", operator: "In", values: ["n1"] };
  assert.deepEqual(parseNodeTerms({ nodeSelectorTerms: [{ matchFields: [byName] }] }), [
    [{ key: "kubernetes.io/hostname", operator: "In", values: ["n1"] }],
  ]);
});
