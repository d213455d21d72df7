import type { ContainerFields } from "../../tests/fixtures/container_fields.ts";
import type { Namespace } from "../../shared/api/namespace.ts";
import type { Texts } from "../../shared/api/object.ts";
import type { Pod } from "../../shared/api/pod.ts";
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
import {
  assertSentences,
  assertTexts,
  type SentenceRow,
} from "../../tests/fixtures/assert_sentences.ts";
import { bidInput, INPUT_NOW_MS } from "../../tests/fixtures/market/decide_claim.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { sampleHPA, sampleWorkload } from "../../tests/fixtures/sample_workloads.ts";
import { type BoundsInput, boundsOf } from "./bounds/bounds.ts";
import { type Caches, VPA_WAIT_MS, whenCachesSynced } from "../caches.ts";
import { bottleneckEvent } from "./events/pod_events.ts";
import { createEventGate } from "./events/event_gate.ts";
import { switchWarnings } from "./events/switch_warnings.ts";

function namespaceOf(metadata: { labels?: Texts; annotations?: Texts }): Namespace {
  const identity = { name: "shop", uid: "", resourceVersion: "" };
  return { metadata: { ...identity, labels: {}, annotations: {}, ...metadata } };
}

const ALLOWING = namespaceOf({ labels: { [ALLOW_OVERRIDES]: "true" } });

interface Change extends Partial<Omit<BoundsInput, "pod">> {
  readonly pod?: Partial<Pod>;
  readonly container?: ContainerFields;
  readonly annotations?: Texts;
}

/** The bounds of a pod with container `app`, of 100m requested and 200m allowed. */
function draft({ container = {}, annotations = {}, pod = {}, ...change }: Change) {
  const running = sampleContainer({ containerID: "containerd://app", ...container });
  const sample = samplePod("web", { containers: [running] });
  const input = bidInput({ ...sample, metadata: { ...sample.metadata, annotations } });
  return boundsOf({
    ...{ ...input, pod: { ...input.pod, ...pod }, namespace: ALLOWING },
    config: { burstFactor: 4, leastCeiling: 0, priorityMultipliers: [] },
    originalLimits: new Map([["app", 200]]),
    ...change,
  });
}

const GUARANTEED = { requests: { cpu: 200, memory: 1 }, limits: { cpu: 200, memory: 1 } };
const node = (change: object): Change => ({ node: { ...sampleNode("node-1"), ...change } });
const autoscalers = [sampleHPA()];
const inQuota = { shares: new Map([["app", { millicores: 300, quota: "cpu" }]]), owed: 0 };
const metric = { demand: new Map([["app", 700]]), source: "query jobs", untilMs: Infinity };

const NOW = INPUT_NOW_MS;
const of = (container: ContainerFields): Change => ({ container });
const most = (maxCPU: string): Change => ({ annotations: { [MAX_CPU]: maxCPU } });
const critical = { pod: { priorityClassName: "system-node-critical" } };
const rolling = { workload: sampleWorkload({ rollout: { updated: 1 } }) };
const scaled = { autoscalers: [sampleHPA({ lastScaleMs: NOW })] };
const capped = { ...most("200m"), autoscalers: [sampleHPA({ cpuTargets: [{ utilization: 2 }] })] };
const silent = { metric: { missing: "query jobs: refused", fault: false } };
const starting = { annotations: { [STARTUP_BOOST]: "2x,30s" }, pod: { readySinceMs: NOW } };
const guaranteed = { container: GUARANTEED, nodeCeiling: 450 };

const RULES: readonly (readonly [reason: string, Change, sentence: string])[] = [
  ["NodeNotReady", node({ ready: false }), "node-1 is not Ready"],
  ["NodeDraining", node({ draining: true }), "node-1 is being drained"],
  ["NodeCordoned", node({ cordonedAtMs: NOW }), "node-1 was cordoned less than 10 min ago"],
  ["UnreadableBound", { unreadable: ["LimitRange mem: so"] }, "LimitRange mem: so"],
  ["SystemCritical", critical, "the class is system-node-critical"],
  ["PodNotReady", { pod: { ready: false } }, "the pod is not Ready"],
  ["RecentRestart", of({ restartedAtMs: NOW }), "app restarted less than 5 min ago"],
  ["CrashLoopBackOff", of({ crashLooping: true }), "app crashes again and again"],
  ["RolloutInProgress", rolling, "Deployment web rolls out: its pods are being replaced"],
  ["HPAFloor", { autoscalers }, "app at least 96m: 1.2 × 80m, the usage that HPA web-hpa aims at"],
  ["HPADamped", { autoscalers }, "HPA web-hpa scales the workload on CPU"],
  ["HPAScaled", scaled, "HPA web-hpa scaled the workload; its window is 300 s"],
  ["HPACapped", capped, "app can't have the 240m that the HPA's signal needs: its ceiling is 200m"],
  ["MetricDemand", { metric }, "app could use 700m: query jobs"],
  ["MetricMissing", silent, "query jobs: refused"],
  ["StartupBoost", starting, "ceilings × 2 until 30 s after the pod is Ready"],
  ["BurstFactor", {}, "app at most 800m: original limit × 4"],
  ["NodeSize", node({ allocatableCPU: 500 }), "app at most 450m: 90 % of the node"],
  ["QuotaExceeded", { quota: inQuota }, "app at most 300m: its share of ResourceQuota cpu"],
  ["FloorBinds", most("50m"), "app stays at its floor, 100m: mbcas.io/max-cpu would be 50m"],
  ["NodeCapacity", guaranteed, "app at most 450m: what the requests on the node leave"],
  ["RestartPolicy", of({ restartsOnCPU: true }), "resizePolicy restarts app on a CPU change"],
];

pure(
  "sentences of the rules of bounds",
  () =>
    assertSentences(RULES.map(([reason, change, sentence]): SentenceRow => [
      reason,
      () => draft(change).rules.find((one) => one.reason === reason)?.message ?? "",
      sentence,
    ])),
);

function ignored(annotations: Texts, namespace = namespaceOf({})): string {
  return draft({ annotations, namespace }).warnings.map(({ message }) => message).join("\n");
}

/** Warnings of keys that are not read where they are set, or not as switches. */
function unread(annotations: Texts, change: Partial<BoundsInput> = {}): string {
  const pod = samplePod("web");
  const input = bidInput({ ...pod, metadata: { ...pod.metadata, annotations } });
  return switchWarnings({ ...input, ...change }).map(({ message }) => message).join("\n");
}

pure("sentences on labels and annotations that don't count", () =>
  assertTexts(
    {
      "multiplier above 1": () => ignored({ [PRIORITY_MULTIPLIER]: "20" }),
      "max-cpu above the usual ceiling": () => ignored({ [MAX_CPU]: "801m" }),
      "startup boost": () => ignored({ [STARTUP_BOOST]: "2x,20s" }),
      "unreadable startup boost": () => ignored({ [STARTUP_BOOST]: "x" }, ALLOWING),
      "unreadable factor of a namespace": () =>
        ignored({}, namespaceOf({ labels: { [BURST_FACTOR]: "x" } })),
      "unreadable quantity": () => ignored({ [MAX_CPU]: "2 cores" }),
      "not a switch": () => unread({ [MANAGED]: "maybe" }),
      "annotation for a label": () =>
        unread({}, { namespace: namespaceOf({ annotations: { [ALLOW_OVERRIDES]: "true" } }) }),
      "workload for its pods": () =>
        unread({}, { workload: sampleWorkload({ annotations: { [MAX_CPU]: "1" } }) }),
      "misspelt": () => unread({ "mbcas.io/maxcpu": "1" }),
      "unknown": () => unread({ "mbcas.io/colour": "red" }),
    },
    `\
multiplier above 1
  mbcas.io/priority-multiplier: "20" asks for more than 1: label namespace shop mbcas.io/allow-overrides=true, or ask for at most 1
max-cpu above the usual ceiling
  mbcas.io/max-cpu: "801m" asks for more than original limit × burst factor, 800m: label namespace shop mbcas.io/allow-overrides=true, or ask for at most 800m
startup boost
  mbcas.io/startup-boost: "2x,20s" asks for more: label namespace shop mbcas.io/allow-overrides=true
unreadable startup boost
  mbcas.io/startup-boost: "x" is not a factor above 1 and up to 10 with a time of up to 10m, for instance "2x,30s"
unreadable factor of a namespace
  namespace shop: mbcas.io/burst-factor: "x" is not a number above 0, for instance "2.5"
unreadable quantity
  mbcas.io/max-cpu: "2 cores" is not a CPU quantity, for instance "500m" or "2"
not a switch
  mbcas.io/managed: "maybe" is not "true" or "false"
annotation for a label
  mbcas.io/allow-overrides does not count as annotation of the namespace, but as label of the namespace
workload for its pods
  mbcas.io/max-cpu does not count as annotation of the workload, but as annotation of the pod; of pods it stands in spec.template.metadata
misspelt
  mbcas.io/maxcpu, annotation of the pod, is not known: did you mean mbcas.io/max-cpu?
unknown
  mbcas.io/colour, annotation of the pod, is not known
`,
  ));

async function gated(): Promise<string> {
  const clock = createVirtualClock({ wallStart: 0 });
  const messages: string[] = [];
  const gate = createEventGate({ emit: ({ message }) => void messages.push(message) }, clock);
  const about = { apiVersion: "v1", kind: "Pod", namespace: "shop", name: "web", uid: "u1" };
  const event = { about, type: "Normal", reason: "CPULimitHeld", message: "held" } as const;
  for (let sent = 0; sent < 3; sent++) gate.emit(event);
  await clock.runUntil(300_000);
  gate.emit(event);
  return messages.at(-1) ?? "";
}

async function unsynced(): Promise<string> {
  let message = "";
  const clock = createVirtualClock({ wallStart: 0 });
  const never = { whenSynced: () => new Promise<boolean>(() => {}), all: () => [] };
  const caches = { verticalPodAutoscalers: never } as unknown as Caches;
  const log = { warn: (text: string) => void (message = text) };
  const done = whenCachesSynced({ caches, clock, log }, new AbortController().signal);
  await clock.runUntil(VPA_WAIT_MS);
  await done;
  return message;
}

pure("sentences of allocations' events and logs", () =>
  assertSentences([
    ["left out", gated, "held (and 2 more since the last such event)"],
    [
      "rate",
      () =>
        bottleneckEvent({ namespace: undefined }, {
          ...{ resizeQueue: { waiting: 2100 }, config: { maxResizesPerSecond: 50 } },
        }).message,
      "RateLimited: 2100 resizes wait, more than controller.maxResizesPerSecond, 50, lets through " +
      "soon: the most urgent go first, and small decreases are put off",
    ],
    [
      "no VPAs",
      unsynced,
      "VerticalPodAutoscalers can't be read: limits are not raised until they can",
    ],
  ]));
