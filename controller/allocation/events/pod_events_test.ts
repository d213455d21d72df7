import assert from "node:assert/strict";
import { createVirtualClock } from "../../../lab/simulation/virtual_clock.ts";
import {
  ALLOW_OVERRIDES,
  HPA_COORDINATION,
  MANAGED,
  MARKET_KEYS,
  SKIP_GUARANTEED,
} from "../../../shared/api/market_keys.ts";
import type { Texts } from "../../../shared/api/object.ts";
import type { EnforcementReason } from "../../../shared/api/reasons/enforcement_reasons.ts";
import type { MarketReason } from "../../../shared/api/reasons/market_reasons.ts";
import {
  sampleAllocation,
  sampleDesired,
  sampleNode,
  samplePod,
} from "../../../tests/contract/support/sample_objects.ts";
import { limited, reconcilerStage } from "../../../tests/fixtures/market/reconciler_stage.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import { sampleHPA, sampleWorkload } from "../../../tests/fixtures/sample_workloads.ts";
import type { EventSubject, MarketEvent, PodRef } from "../../../shared/api/ports.ts";
import { createEventGate, type EventGate, type GatedEvent } from "./event_gate.ts";
import { reportBounds, statusEvent } from "./pod_events.ts";
import { type AnnotatedObjects, outsideWarnings, switchWarnings } from "./switch_warnings.ts";

const MINUTE = 60_000;

/**
 * Events that pass a running gate: time in seconds, the subject or its kind and the pod by which it came,
 * text, `+` the number left out.
 */
async function reported(
  act: (
    emit: (fields: Partial<GatedEvent>) => void,
    pass: (ms: number) => Promise<void>,
    gate: EventGate,
  ) => Promise<void>,
): Promise<readonly string[]> {
  const clock = createVirtualClock({ wallStart: 0 });
  const seen: string[] = [];
  const gate = createEventGate({
    emit({ about, pod, message }: MarketEvent): void {
      const [, text = message, more] = /^(.*) \(and (\d+) more .*\)$/.exec(message) ?? [];
      const count = more === undefined ? "" : ` +${more}`;
      const subject = pod === undefined ? about.name : `${about.kind} by ${pod.name}`;
      seen.push(`${Math.round(clock.monotonic() / 1000)} ${subject}: ${text}${count}`);
    },
  }, clock);
  const stop = new AbortController();
  const running = gate.run(stop.signal);
  const pass = (ms: number): Promise<void> => clock.runUntil(clock.monotonic() + ms);
  const event = {
    about: podCalled("u1"),
    type: "Normal",
    reason: "CPULimitHeld",
    message: "held",
  } as const;
  await act((fields) => gate.emit({ ...event, ...fields }), pass, gate);
  await pass(20 * MINUTE);
  stop.abort();
  await running;
  return seen;
}

function podCalled(uid: string): EventSubject & PodRef {
  return { apiVersion: "v1", kind: "Pod", namespace: "shop", name: uid, uid };
}

const FAULT = { type: "Warning", reason: "AnnotationIgnored" } as const;
const NODE = { apiVersion: "v1", kind: "Node", name: "node-1", uid: "n1" } as const;

pure("createEventGate() lets one event of a kind per pod through in five minutes", async () => {
  const seen = await reported(async (emit, pass) => {
    emit({});
    emit({});
    emit({ reason: "CPULimitFailed", message: "failed" });
    emit({ about: podCalled("u2") });
    await pass(5 * MINUTE - 1);
    emit({});
    await pass(1);
    emit({});
  });
  assert.deepEqual(seen, ["0 u1: held", "0 u1: failed", "0 u2: held", "300 u1: held +2"]);
});

pure("run() reports the last of other texts when the quiet time is over", async () => {
  const seen = await reported(async (emit, pass) => {
    for (const message of ["lots", "many", "lots", "heaps", "plenty"]) {
      emit({ ...FAULT, message });
      await pass(1000);
    }
  });
  assert.deepEqual(seen, ["0 u1: lots", "300 u1: plenty +3"]);
});

pure("run() reports nothing again that stands there already, or that is over", async () => {
  const seen = await reported(async (emit, pass, gate) => {
    for (const message of ["lots", "many", "lots"]) emit({ ...FAULT, message });
    for (const about of ["u2", "u3"].map(podCalled)) {
      for (const message of ["lots", "many"]) emit({ ...FAULT, about, message });
    }
    await pass(1000);
    gate.withdraw("u2", "AnnotationIgnored");
    gate.forget("u3");
    emit({ ...FAULT, about: podCalled("u3"), message: "lots" });
  });
  assert.deepEqual(seen, ["0 u1: lots", "0 u2: lots", "0 u3: lots", "1 u3: lots"]);
});

pure("createEventGate() lets another key through, and counts its numbers", async () => {
  const seen = await reported(async (emit, pass) => {
    for (const left of [100, 90, 80]) {
      emit({ key: "QuotaExceeded", message: `${left}m left` });
      emit({ key: "LimitRange", message: `at most ${left}m` });
      await pass(1000);
    }
    await pass(10 * MINUTE);
    emit({ key: "LimitRange", message: "at most 70m" });
  });
  assert.deepEqual(seen, ["0 u1: 100m left", "0 u1: at most 100m", "603 u1: at most 70m +2"]);
});

pure("createEventGate() reports a node once, however many of its pods say so", async () => {
  const seen = await reported(async (emit, pass) => {
    const say = () => {
      for (let pod = 0; pod < 100; pod++) {
        emit({ pod: podCalled(`u${pod}`), key: "NodeNotReady", message: "away", about: NODE });
      }
    };
    say();
    emit({});
    await pass(400_000);
    say();
  });
  assert.deepEqual(seen, ["0 Node by u0: away", "0 u1: held", "400 Node by u0: away"]);
});

pure("statusEvent() reports a change once, and why others don't happen", () => {
  const event = (reason: EnforcementReason, before?: string) => {
    const { spec, ...bare } = sampleAllocation(samplePod("web"));
    const originalLimits = [{ name: "app", cpu: "150m" }, { name: "b", cpu: "50m" }];
    const status = { originalLimits, ...(before === undefined ? {} : { appliedCPULimit: before }) };
    return statusEvent({ ...bare, spec: { ...spec, ...sampleDesired("300m") }, status }, {
      decision: { changes: [], reason, message: "so" },
      status: { appliedCPULimit: "300m" },
    });
  };
  const type = "Normal";
  const applied = { type, reason: "CPULimitApplied", message: "200m → 300m (Throttled)" };
  assert.deepEqual(event("Applied"), applied);
  assert.equal(event("Applied", "300m"), undefined);
  assert.equal(event("Applied", "400m")?.message, "400m → 300m (Throttled)");
  const [key, message] = ["QuotaExceeded", "QuotaExceeded: so"] as const;
  assert.deepEqual(event(key), { type, reason: "CPULimitHeld", key, message });
  assert.equal(event("BoundsStale"), undefined);
  assert.deepEqual(event("Restored"), { type, reason: "CPULimitsRestored", message: "so" });
});

pure("reportBounds() reports shared bounds on the node or workload, not usual ones", async () => {
  const shared = ["BurstFactor", "NodeCordoned", "HPAFloor", "RolloutInProgress"] as const;
  const rules = [...shared, "LimitRange" as const].map((reason) => ({ reason, message: "" }));
  const objects = { pod: samplePod("p"), node: sampleNode("n"), workload: sampleWorkload() };
  const seen = await reported((_emit, _pass, events) => {
    reportBounds(objects, rules, { events });
    return Promise.resolve();
  });
  assert.deepEqual(seen, [
    "0 Node by p: NodeCordoned: ",
    "0 Deployment by p: HPAFloor: ; RolloutInProgress: ",
    "0 p: LimitRange: ",
  ]);
});

pure("reportForeignChanges() reports once that the kernel lost or regained the quota", async () => {
  const { reconcile, want, setPod, events, clock } = reconcilerStage();
  setPod((pod) => limited(pod, 200));
  await reconcile();
  const look = async (reason: MarketReason): Promise<readonly string[]> => {
    await clock.runUntil(clock.monotonic() + 10 * MINUTE);
    const before = events.length;
    want("200m", reason);
    await reconcile();
    return events.slice(before).map(({ type, message }) => `${type} ${message.split(":")[0]}`);
  };
  await look("FirstClearing");
  const off = ["Warning QuotaOff"];
  const back = ["Normal QuotaBack"];
  const steps: readonly (readonly [MarketReason, readonly string[]])[] = [
    ...[["QuotaBack", []], ["QuotaOff", off], ["QuotaOff", []], ["DemandRose", []]] as const,
    ...[["QuotaOff", []], ["QuotaBack", back], ["QuotaBack", []], ["QuotaOff", off]] as const,
  ];
  for (const [reason, expected] of steps) assert.deepEqual(await look(reason), expected);
});

type Holder = "pod" | "namespace" | "workload" | "HPA";
type Given = Partial<Record<Holder, { readonly labels?: Texts; readonly annotations?: Texts }>>;

function objects(given: Given): AnnotatedObjects {
  const pod = samplePod("web");
  const identity = { name: "shop", uid: "", resourceVersion: "", labels: {}, annotations: {} };
  const hpa = sampleHPA();
  return {
    pod: { ...pod, metadata: { ...pod.metadata, ...given.pod } },
    namespace: { metadata: { ...identity, ...given.namespace } },
    workload: sampleWorkload(given.workload),
    autoscalers: [{ ...hpa, metadata: { ...hpa.metadata, ...given.HPA } }],
  };
}

const messages = (given: Given): readonly string[] =>
  switchWarnings(objects(given)).map(({ message }) => message);
const keysIn = (given: Given): readonly string[] =>
  messages(given).map((message) => message.split(/[ ,:]/)[0] ?? "");

const ODD = { [MANAGED]: "maybe" };
const COORDINATION = { [HPA_COORDINATION]: "no\u0007" };
const managed = 'mbcas.io/managed: "maybe" is not "true" or "false"';

pure("switchWarnings() names each switch that says neither yes nor no, on its object", () => {
  const given = {
    pod: { labels: ODD, annotations: { ...ODD, ...COORDINATION } },
    namespace: { labels: { ...ODD, [ALLOW_OVERRIDES]: "" }, annotations: ODD },
    workload: { annotations: COORDINATION },
    HPA: { annotations: COORDINATION },
  };
  const coordination = 'mbcas.io/hpa-coordination: "no\\u{7}" is not "true" or "false"';
  const expected = [
    ...[[managed, undefined], [managed, undefined]] as const,
    ...[[managed, "Namespace"], [managed, "Namespace"]] as const,
    ['mbcas.io/allow-overrides: "" is not "true" or "false"', "Namespace"],
    [coordination, undefined],
    [coordination, "Deployment"],
    [coordination, "HorizontalPodAutoscaler"],
  ];
  const found = switchWarnings(objects(given));
  assert.deepEqual(found.map(({ message, about }) => [message, about?.kind]), expected);
  // One that is invalid and in a place without effect is named once.
  const misplaced = { pod: { labels: { [ALLOW_OVERRIDES]: "maybe" } } };
  assert.deepEqual(keysIn(misplaced), [ALLOW_OVERRIDES]);
  assert.ok(!messages(misplaced).join().includes("maybe"));
});

pure("outsideWarnings() names switches that would have taken the pod in", () => {
  const yes = { [MANAGED]: "true" };
  const warned = (reason: EnforcementReason | undefined, given: Given) => {
    const scope = reason && { reason, message: `for ${reason}` };
    return outsideWarnings(objects(given), scope).map(({ message, about }) =>
      about === undefined ? message : `${about.kind}: ${message}`
    );
  };
  const odd = { pod: { annotations: { ...ODD, [SKIP_GUARANTEED]: "False" } } };
  const misspelt = { pod: { annotations: { "mbcas.io/skip-guarantee": "false" } } };
  const skip = 'mbcas.io/skip-guaranteed: "False" is not "true" or "false"';
  const others = messages(misspelt);
  const rows: readonly (readonly [EnforcementReason | undefined, Given, readonly string[]])[] = [
    ["NotOptedIn", odd, [managed]],
    ["OptedOut", odd, [managed]],
    ["NotBurstable", odd, [skip]],
    ["NamespaceExcluded", odd, []],
    ["MarketOff", odd, []],
    [undefined, odd, []],
    ["NotBurstable", { pod: { annotations: { [SKIP_GUARANTEED]: "true" } } }, []],
    ["NotOptedIn", { pod: { labels: yes } }, ["for NotOptedIn"]],
    ["NotOptedIn", { namespace: { annotations: yes } }, ["Namespace: for NotOptedIn"]],
    ["OptedOut", { pod: { labels: yes } }, []],
    ["NotOptedIn", {}, []],
    ...["NotOptedIn", "OptedOut", "NotBurstable"].map((reason) =>
      [reason as EnforcementReason, misspelt, others] as const
    ),
    ["NamespaceExcluded", misspelt, []],
  ];
  for (const [reason, given, expected] of rows) assert.deepEqual(warned(reason, given), expected);
  assert.equal(others.length, 1);
});

const KEYS = [...MARKET_KEYS.keys()];
const OF_POD = ["skip-guaranteed", "max-cpu", "priority-multiplier", "startup-boost"];
const READ: readonly (readonly [Holder, "labels" | "annotations", ...keys: string[]])[] = [
  ["pod", "labels", "managed"],
  ["pod", "annotations", "managed", ...OF_POD, "demand-query", "hpa-coordination"],
  ["namespace", "labels", "managed", "burst-factor", "allow-overrides"],
  ["namespace", "annotations", "managed", "burst-factor"],
  ["workload", "labels"],
  ["workload", "annotations", "hpa-coordination"],
  ["HPA", "annotations", "hpa-coordination"],
];

pure("switchWarnings() names each key in a place without effect", () => {
  const foreign = {
    app: "web",
    "mbcas.iox/managed": "1",
    "optipod.io/managed": "true",
    managed: "1",
  };
  const texts = { ...Object.fromEntries(KEYS.map((key) => [key, "true"])), ...foreign };
  for (const [holder, kind, ...keys] of READ) {
    const wrong = KEYS.filter((key) => !keys.includes(key.replace("mbcas.io/", "")));
    assert.deepEqual(keysIn({ [holder]: { [kind]: texts } }), wrong);
  }
});

pure("switchWarnings() passes over a key that is also in its place", () => {
  const maxCPU = { annotations: { "mbcas.io/max-cpu": "1" } };
  const other = { annotations: { "mbcas.io/max-cpu": "3" } };
  const allow = { [ALLOW_OVERRIDES]: "true" };
  const [yes, no] = [{ [MANAGED]: "true" }, { [MANAGED]: "false" }];
  const rows: readonly (readonly [count: number, Given])[] = [
    [1, { workload: maxCPU }],
    [0, { workload: maxCPU, pod: maxCPU }],
    [0, { workload: maxCPU, pod: other }],
    [0, { namespace: { labels: allow, annotations: allow } }],
    [0, { namespace: { labels: allow }, pod: { annotations: allow } }],
    // The namespace's other value does not replace the workload's.
    [1, { namespace: { labels: yes }, workload: { annotations: no } }],
  ];
  for (const [count, given] of rows) assert.equal(messages(given).length, count);
});

pure("switchWarnings() names misspelt keys wherever they stand, with the nearest known key", () => {
  const found = messages({
    pod: { labels: { "mbcas.io/manage": "false" }, annotations: { "mbcas.io/": "" } },
    namespace: { labels: { "mbcas.io/allow-override": "true" } },
    workload: { annotations: { "mbcas.io/hpa-cordination": "false" } },
    HPA: { annotations: { "mbcas.io/HPA-Coordination": "false" } },
  });
  const known = found.map((message) => /mean mbcas\.io\/(.*)\?/.exec(message)?.[1]);
  const hpa = "hpa-coordination";
  assert.deepEqual(known, ["managed", undefined, "allow-overrides", hpa, hpa]);
});
