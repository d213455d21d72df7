import assert from "node:assert/strict";
import fc from "fast-check";
import type { HorizontalPodAutoscaler } from "../../../shared/api/autoscalers.ts";
import type { Pod } from "../../../shared/api/pod.ts";
import { type Hold, holdOf } from "../../../shared/api/reasons/bound_reasons.ts";
import type { Workload } from "../../../shared/api/workload.ts";
import {
  sampleContainer,
  sampleNode,
  samplePod,
} from "../../../tests/contract/support/sample_objects.ts";
import { bidFacts, FACTS_NOW_MS } from "../../../tests/fixtures/market/bid_facts.ts";
import { boundsOf } from "./bounds.ts";
import { priorityMultiplier } from "./priority_multiplier.ts";

const metadata = {
  name: "web",
  namespace: "shop",
  uid: "u",
  resourceVersion: "1",
  annotations: {},
};

/** Ages of an event that a rule speaks of for a while, ms. */
const AGES: fc.Arbitrary<number | undefined> = fc.constantFrom(undefined, 1000, 3_600_000);

const POD: fc.Arbitrary<Pod> = fc.record({
  ready: fc.boolean(),
  critical: fc.boolean(),
  restarts: fc.boolean(),
  crashes: fc.boolean(),
  restartedAgo: AGES,
  tight: fc.boolean(),
}).map(({ ready, critical, restarts, crashes, restartedAgo, tight }) => {
  const memory = tight ? { requests: { memory: 1 }, limits: { memory: 1, cpu: 105 } } : {};
  const app = sampleContainer({
    containerID: "containerd://app",
    restartsOnCPU: restarts,
    ...(crashes ? { crashLooping: true } : {}),
    ...(restartedAgo === undefined ? {} : { restartedAtMs: FACTS_NOW_MS - restartedAgo }),
    ...memory,
  });
  const proxy = sampleContainer({ name: "proxy", containerID: "containerd://proxy", ...memory });
  return {
    ...samplePod("web", { containers: [app, proxy] }),
    ready,
    ...(critical ? { priorityClassName: "system-node-critical" } : {}),
  };
});

const NODE = fc.record({ ready: fc.boolean(), drains: fc.boolean(), cordonedAgo: AGES }).map((
  { ready, drains, cordonedAgo },
) => ({
  ...sampleNode("node-1"),
  ready,
  ...(drains ? { draining: true as const } : {}),
  ...(cordonedAgo === undefined ? {} : { cordonedAtMs: FACTS_NOW_MS - cordonedAgo }),
}));

const WORKLOAD: fc.Arbitrary<Workload> = fc.nat(1).map((updated) => ({
  kind: "Deployment",
  metadata,
  rollout: { updated, total: 1, stands: false },
}));

const AUTOSCALER: fc.Arbitrary<HorizontalPodAutoscaler> = AGES.map((ago) => ({
  metadata,
  target: { kind: "Deployment", name: "web" },
  cpuTargets: [{ utilization: 0.8 }],
  stabilizationMs: 300_000,
  ...(ago === undefined ? {} : { lastScaleMs: FACTS_NOW_MS - ago }),
}));

const ORDER: readonly (Hold | undefined)[] = [undefined, "half", "lower", "both"];

Deno.test({
  name: "boundsOf() holds each container as the reasons of its rules say, the strongest first",
  permissions: "none",
  fn() {
    const seen = new Set<string>();
    fc.assert(fc.property(
      POD,
      NODE,
      WORKLOAD,
      fc.array(AUTOSCALER, { maxLength: 1 }),
      (pod, node, workload, autoscalers) => {
        const facts = bidFacts(pod, { node, workload, autoscalers });
        const { rules, containers } = boundsOf({
          ...facts,
          pod,
          originalLimits: new Map(
            pod.containers.map(({ name, limits: { cpu: limitCPU = 0 } }) => [name, limitCPU]),
          ),
          burstFactor: 4,
          priorityMultiplier,
        });
        for (const [index, { held }] of containers.entries()) {
          const holds = rules.filter(({ reason }) =>
            reason !== "RestartPolicy" || pod.containers[index]?.restartsOnCPU === true
          ).map(({ reason }) => holdOf(reason));
          assert.equal(held, ORDER.findLast((one) => holds.includes(one)));
        }
        for (const { reason } of rules) if (holdOf(reason) !== undefined) seen.add(reason);
      },
    ));
    // Each reason that holds has occurred.
    assert.deepEqual([...seen].sort(), [
      "CrashLoopBackOff",
      "HPADamped",
      "HPAScaled",
      "NodeCordoned",
      "NodeDraining",
      "NodeNotReady",
      "PodNotReady",
      "QoSWouldChange",
      "RecentRestart",
      "RestartPolicy",
      "RolloutInProgress",
      "SystemCritical",
    ]);
  },
});
