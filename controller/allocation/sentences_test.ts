import type { ContainerFields } from "../../tests/fixtures/container_fields.ts";
import type { Namespace } from "../../shared/api/namespace.ts";
import {
  ALLOW_OVERRIDES,
  BURST_FACTOR,
  MANAGED,
  MAX_CPU,
  PRIORITY_MULTIPLIER,
  STARTUP_BOOST,
} from "../../shared/api/market_keys.ts";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import {
  sampleContainer,
  sampleNode,
  samplePod,
} from "../../tests/contract/support/sample_objects.ts";
import { assertSentences } from "../../tests/fixtures/assert_sentences.ts";
import { bidFacts, FACTS_NOW_MS } from "../../tests/fixtures/market/bid_facts.ts";
import { sampleHPA, sampleWorkload } from "../../tests/fixtures/sample_workloads.ts";
import type { BidFacts } from "./bid_rules/bid_rule.ts";
import { startupBoost } from "./bid_rules/startup_boost.ts";
import { type BoundsInput, boundsOf } from "./bounds/bounds.ts";
import type { Caches } from "../caches.ts";
import { bottleneckEvent } from "./events/status_event.ts";
import { createEventGate } from "./events/event_gate.ts";
import { switchWarnings } from "./events/switch_warnings.ts";
import { warningText } from "./bounds/annotation_warning.ts";
import { copiesInSync, VPA_WAIT_MS } from "./watches/copies_in_sync.ts";

type Texts = Readonly<Record<string, string>>;

const GUARANTEED = { requests: { cpu: 200, memory: 1 }, limits: { cpu: 200, memory: 1 } };

/** Facts of a pod with container `app`, of 100m requested and 200m allowed. */
function factsOf(container: ContainerFields, annotations: Texts = {}): BidFacts {
  const running = sampleContainer({ containerID: "containerd://app", ...container });
  const pod = samplePod("web", { containers: [running] });
  return bidFacts({ ...pod, metadata: { ...pod.metadata, annotations } });
}

function draft(facts: BidFacts, change: Partial<BoundsInput> = {}) {
  return boundsOf({
    ...facts,
    priorityMultiplier: () => 1,
    originalLimits: new Map([["app", 200]]),
    burstFactor: 4,
    ...change,
  });
}

/** The message that goes with this reason code. */
function rule(
  reason: string,
  facts: Partial<BidFacts>,
  { container = {}, annotations, ...change }: Partial<BoundsInput> & {
    readonly container?: ContainerFields;
    readonly annotations?: Texts;
  } = {},
): string {
  const { rules } = draft({ ...factsOf(container, annotations), ...facts }, change);
  return rules.find((one) => one.reason === reason)?.message ?? "";
}

const autoscalers = [sampleHPA()];
const highTarget = { autoscalers: [sampleHPA({ cpuTargets: [{ utilization: 2 }] })] };
const scaled = { autoscalers: [sampleHPA({ lastScaleMs: FACTS_NOW_MS })] };
const rollingOut = { workload: sampleWorkload({ rollout: { updated: 1 } }) };
const cordoned = { node: { ...sampleNode("node-1"), cordonedAtMs: FACTS_NOW_MS } };
const notReady = { node: { ...sampleNode("node-1"), ready: false } };
const draining = { node: { ...sampleNode("node-1"), draining: true as const } };
const notReadyPod = { pod: { ...factsOf({}).pod, ready: false } };
const inQuota = { shares: new Map([["app", { millicores: 300, quota: "cpu" }]]), owed: 0 };
const metric = { demand: new Map([["app", 700]]), source: "query jobs", untilMs: Infinity };

Deno.test({
  name: "sentences of the rules of bounds",
  permissions: "none",
  fn: () =>
    assertSentences([
      ["NodeNotReady", () => rule("NodeNotReady", notReady), "node-1 is not Ready"],
      ["NodeDraining", () => rule("NodeDraining", draining), "node-1 is being drained"],
      [
        "NodeCordoned",
        () => rule("NodeCordoned", cordoned),
        "node-1 was cordoned less than 10 min ago",
      ],
      ["PodNotReady", () => rule("PodNotReady", notReadyPod), "the pod is not Ready"],
      [
        "RecentRestart",
        () => rule("RecentRestart", {}, { container: { restartedAtMs: FACTS_NOW_MS } }),
        "app restarted less than 5 min ago",
      ],
      [
        "CrashLoopBackOff",
        () => rule("CrashLoopBackOff", {}, { container: { crashLooping: true } }),
        "app crashes again and again",
      ],
      [
        "RolloutInProgress",
        () => rule("RolloutInProgress", rollingOut),
        "Deployment web rolls out: its pods are being replaced",
      ],
      [
        "HPAFloor",
        () => rule("HPAFloor", { autoscalers }),
        "app at least 96m: 1.2 × 80m, the usage that HPA web-hpa aims at",
      ],
      [
        "HPADamped",
        () => rule("HPADamped", { autoscalers }),
        "HPA web-hpa scales the workload on CPU",
      ],
      [
        "HPAScaled",
        () => rule("HPAScaled", scaled),
        "HPA web-hpa scaled the workload; its window is 300 s",
      ],
      [
        "HPACapped",
        () => rule("HPACapped", highTarget, { annotations: { [MAX_CPU]: "200m" } }),
        "app can't have the 240m that the HPA's signal needs: its ceiling is 200m",
      ],
      [
        "MetricDemand",
        () => rule("MetricDemand", { metric }),
        "app could use 700m: query jobs",
      ],
      [
        "StartupBoost",
        () =>
          startupBoost({ factor: 2, holdMs: 30_000 })({ ...factsOf({}), ...notReadyPod })[0]
            ?.message ?? "",
        "ceilings × 2 until 30 s after the pod is Ready",
      ],
      ["BurstFactor", () => rule("BurstFactor", {}), "app at most 800m: original limit × 4"],
      [
        "QuotaExceeded",
        () => rule("QuotaExceeded", {}, { quota: inQuota }),
        "app at most 300m: its share of ResourceQuota cpu",
      ],
      [
        "FloorBinds",
        () => rule("FloorBinds", {}, { annotations: { [MAX_CPU]: "50m" } }),
        "app stays at its floor, 100m: mbcas.io/max-cpu would be 50m",
      ],
      [
        "NodeCapacity",
        () => rule("NodeCapacity", {}, { container: GUARANTEED, nodeCeiling: 450 }),
        "app at most 450m: what the requests on the node leave",
      ],
    ]),
});

function namespaceOf(metadata: { labels?: Texts; annotations?: Texts }): Namespace {
  const identity = { name: "shop", uid: "", resourceVersion: "" };
  return { metadata: { ...identity, labels: {}, annotations: {}, ...metadata } };
}

const NAMESPACE = namespaceOf({});

/** Warnings about annotations without effect. */
function ignored(annotations: Texts, namespace = NAMESPACE): string {
  const { warnings } = draft({ ...factsOf({}, annotations), namespace });
  return warnings.map(warningText).join("\n");
}

/** Warnings of keys that are not read where they are set, or not as switches. */
function unread(annotations: Texts, facts: Partial<BidFacts> = {}): string {
  return switchWarnings({ ...factsOf({}, annotations), ...facts }).map(warningText).join("\n");
}

Deno.test({
  name: "sentences on labels and annotations that don't count",
  permissions: "none",
  fn: () =>
    assertSentences([
      [
        "multiplier above 1",
        () => ignored({ [PRIORITY_MULTIPLIER]: "20" }),
        'mbcas.io/priority-multiplier: "20" asks for more than 1: label namespace shop ' +
        "mbcas.io/allow-overrides=true, or ask for at most 1",
      ],
      [
        "max-cpu above the usual ceiling",
        () => ignored({ [MAX_CPU]: "801m" }),
        'mbcas.io/max-cpu: "801m" asks for more than original limit × burst factor, 800m: label ' +
        "namespace shop mbcas.io/allow-overrides=true, or ask for at most 800m",
      ],
      [
        "startup boost",
        () => ignored({ [STARTUP_BOOST]: "2x,20s" }),
        'mbcas.io/startup-boost: "2x,20s" asks for more: label namespace shop ' +
        "mbcas.io/allow-overrides=true",
      ],
      [
        "unreadable startup boost",
        () =>
          ignored({ [STARTUP_BOOST]: "x" }, namespaceOf({ labels: { [ALLOW_OVERRIDES]: "true" } })),
        'mbcas.io/startup-boost: "x" is not a factor above 1 and up to 10 with a time of up to ' +
        '10m, for instance "2x,30s"',
      ],
      [
        "unreadable factor of a namespace",
        () => ignored({}, namespaceOf({ labels: { [BURST_FACTOR]: "x" } })),
        'namespace shop: mbcas.io/burst-factor: "x" is not a number above 0, for instance "2.5"',
      ],
      [
        "unreadable quantity",
        () => ignored({ [MAX_CPU]: "2 cores" }),
        'mbcas.io/max-cpu: "2 cores" is not a CPU quantity, for instance "500m" or "2"',
      ],
      [
        "not a switch",
        () => unread({ [MANAGED]: "maybe" }),
        'mbcas.io/managed: "maybe" is not "true" or "false"',
      ],
      [
        "annotation for a label",
        () =>
          unread({}, { namespace: namespaceOf({ annotations: { [ALLOW_OVERRIDES]: "true" } }) }),
        "mbcas.io/allow-overrides does not count as annotation of the namespace, but as label of " +
        "the namespace",
      ],
      [
        "workload for its pods",
        () => unread({}, { workload: sampleWorkload({ annotations: { [MAX_CPU]: "1" } }) }),
        "mbcas.io/max-cpu does not count as annotation of the workload, but as annotation of the " +
        "pod; of pods it stands in spec.template.metadata",
      ],
      [
        "misspelt",
        () => unread({ "mbcas.io/maxcpu": "1" }),
        "mbcas.io/maxcpu, annotation of the pod, is not known: did you mean mbcas.io/max-cpu?",
      ],
      [
        "unknown",
        () => unread({ "mbcas.io/colour": "red" }),
        "mbcas.io/colour, annotation of the pod, is not known",
      ],
    ]),
});

const BOTTLENECK = { turns: { waiting: 2100 }, config: { maxResizesPerSecond: 50 } };

/** The last message of a gate that has left out two events. */
async function gated(): Promise<string> {
  const clock = createVirtualClock({ wallStart: 0 });
  const messages: string[] = [];
  const gate = createEventGate({ emit: ({ message }) => void messages.push(message) }, clock);
  const pod = { namespace: "shop", podName: "web", podUID: "u1" };
  const event = { ...pod, type: "Normal", reason: "CPULimitHeld", message: "held" } as const;
  for (let sent = 0; sent < 3; sent++) gate.emit(event);
  await clock.runUntil(300_000);
  gate.emit(event);
  return messages.at(-1) ?? "";
}

/** What is logged where VerticalPodAutoscalers are never in sync. */
async function unsynced(): Promise<string> {
  let message = "";
  const clock = createVirtualClock({ wallStart: 0 });
  const never = { whenSynced: () => new Promise<boolean>(() => {}), all: () => [] };
  const caches = { verticalPodAutoscalers: never } as unknown as Caches;
  const log = { warn: (text: string) => void (message = text) };
  const done = copiesInSync({ caches, clock, log }, new AbortController().signal);
  await clock.runUntil(VPA_WAIT_MS);
  await done;
  return message;
}

Deno.test({
  name: "sentences of allocations' events and logs",
  permissions: "none",
  fn: () =>
    assertSentences([
      ["left out", gated, "held (and 2 more since the last such event)"],
      [
        "rate",
        () => bottleneckEvent({ namespace: undefined }, BOTTLENECK).message,
        "RateLimited: 2100 resizes wait, more than controller.maxResizesPerSecond, 50, lets through " +
        "soon: the most urgent go first, and small decreases are put off",
      ],
      [
        "no VPAs",
        unsynced,
        "VerticalPodAutoscalers can't be read: limits are not raised until they can",
      ],
    ]),
});
