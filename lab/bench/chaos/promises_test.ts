import assert from "node:assert/strict";
import { pure } from "../../../tests/fixtures/pure.ts";
import { type ContainerFields, withFields } from "../../../tests/fixtures/container_fields.ts";
import type { Pod } from "../../../shared/api/pod.ts";
import { parseAudit, type ResizeAnswer } from "../audit_log.ts";
import { newPod } from "../../../tests/faults/cluster/cluster_load.ts";
import {
  type Baseline,
  type DoneKill,
  endFaults,
  endsWithoutKill,
  limitFaults,
  notCarried,
  otherWriters,
  type PodChange,
} from "./promises.ts";
import { drawPlan, type Kill, type Step, TARGETS } from "./plan.ts";

const BASELINE: Baseline = {
  limits: new Map([["app", 300]]),
  qosClass: "Burstable",
  managed: true,
};

function podWith(container: ContainerFields): Pod {
  const load = { node: "n", request: 100, limit: 300, priority: 0, threads: 1, load: [] };
  const pod = newPod({ namespace: "shop", name: "web", ...load });
  return { ...pod, containers: pod.containers.map((one) => withFields(one, container)) };
}

function promises(container: ContainerFields, rest: Partial<PodChange> = {}): string[] {
  const change = { pod: podWith(container), baseline: BASELINE, optedOut: false, ...rest };
  return limitFaults(change).map(({ promise }) => promise);
}

const RAISED = { requests: {}, limits: { cpu: 900 }, limitManagers: ["mbcas/300m"] };

pure("limitFaults() passes the original limit and those of the market within the ceiling", () => {
  for (const limitCPU of [100, 300, 2400]) {
    assert.deepEqual(promises({ limits: { cpu: limitCPU }, limitManagers: ["mbcas/300m"] }), []);
  }
});

pure("limitFaults() reports each broken promise by its name", () => {
  assert.deepEqual(promises({ limits: { cpu: 99 } }), ["LimitBelowRequest"]);
  assert.deepEqual(promises({ limits: { cpu: 2401 } }), ["Ceiling"]);
  const unmanaged = { ...BASELINE, managed: false };
  assert.deepEqual(promises(RAISED, { baseline: unmanaged }), ["Unmanaged"]);
  assert.deepEqual(promises({}, { pod: { ...podWith({}), qosClass: "BestEffort" } }), ["QoS"]);
  const guaranteed = { requests: { memory: 1 }, limits: { cpu: 100, memory: 1 } };
  assert.deepEqual(promises(guaranteed), ["QoS"]);
});

pure("limitFaults() refuses another limit of the market's after the opt-out alone", () => {
  const optedOut = { optedOut: true, previous: podWith({ limits: { cpu: 300 } }) };
  assert.deepEqual(promises(RAISED, optedOut), ["OptedOut"]);
  assert.deepEqual(promises(RAISED, { ...optedOut, previous: podWith(RAISED) }), []);
  assert.deepEqual(
    promises({ limits: { cpu: 300 } }, { ...optedOut, previous: podWith(RAISED) }),
    [],
  );
});

pure("notCarried() names the containers without an original limit in the pod", () => {
  const carried = (container: ContainerFields): string[] =>
    notCarried(podWith(container), BASELINE);
  assert.deepEqual(carried({}), []);
  assert.deepEqual(carried(RAISED), []);
  assert.deepEqual(carried({ ...RAISED, limitManagers: ["mbcas"] }), ["app"]);
  assert.deepEqual(carried({ ...RAISED, limitManagers: ["mbcas/200m"] }), ["app"]);
});

const TERMS = [{ pod: "c-1", sinceMs: 1000 }, { pod: "c-2", sinceMs: 20_000 }];

function answer(writer: string, atMs: number, code = 200): ResizeAnswer {
  const event = {
    requestReceivedTimestamp: new Date(atMs).toISOString(),
    user: { username: "sa", extra: { "authentication.kubernetes.io/pod-name": [writer] } },
    objectRef: { namespace: "shop", name: "web" },
    responseStatus: { code },
  };
  const [parsed] = parseAudit(`${JSON.stringify(event)}\n`);
  assert.ok(parsed !== undefined);
  return parsed;
}

pure("otherWriters() finds resizes of pods that did not hold the Lease", () => {
  const late = answer("c-1", 21_000);
  const found = otherWriters([answer("c-1", 15_000), late, answer("c-2", 21_000)], TERMS);
  assert.deepEqual(found.map(({ promise }) => promise), ["OneLeader"]);
  assert.match(found[0]?.message ?? "", /c-1 resized shop\/web .* while c-2 leads/);
  assert.equal(otherWriters([answer("c-2", 15_000)], TERMS).length, 1, "too early");
});

pure("otherWriters() passes refusals, a request under way at the change, and other users", () => {
  const answers = [answer("c-1", 21_000, 409), answer("c-1", 20_400), answer("", 21_000)];
  assert.deepEqual(otherWriters(answers, TERMS), []);
});

pure("endFaults() finds ends without a cause, and passes kills and a lost Lease", () => {
  const kills: DoneKill[] = [
    { target: "agent", pod: "mbcas-agent-1", killedMs: 10_400 },
    { target: "etcd", killedMs: 20_000 },
  ];
  const end = { pod: "mbcas-agent-1", atMs: 10_000, reason: "Error", exitCode: 137 };
  const lostLease = { ...end, pod: "mbcas-controller-1", atMs: 35_000, exitCode: 1 };
  assert.deepEqual(endFaults([end, lostLease], kills), []);
  assert.deepEqual(endsWithoutKill([end, lostLease], kills), [lostLease]);
  const faulty = [
    { ...lostLease, pod: "mbcas-agent-1" },
    { ...lostLease, atMs: 90_000 },
    { ...lostLease, exitCode: 137, reason: "OOMKilled" },
    { ...end, pod: "mbcas-agent-2" },
  ];
  assert.equal(endFaults(faulty, kills).length, 4);
});

const killsOf = (steps: readonly Step[]): Kill[] =>
  steps.filter((step): step is Kill => step.kind === "kill");

pure("drawPlan() gives the same plan for the same seed, and another for another", () => {
  assert.deepEqual(drawPlan(7, 600_000), drawPlan(7, 600_000));
  assert.notDeepEqual(drawPlan(7, 600_000), drawPlan(8, 600_000));
});

pure("drawPlan() kills each target once in each round, 8 to 24 s apart, for 1 to 10 s", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const kills = killsOf(drawPlan(seed, 600_000));
    assert.ok(kills.length >= 24, `${kills.length} kills`);
    for (let i = 0; i + 6 <= kills.length; i += 6) {
      const round = kills.slice(i, i + 6).map(({ target }) => target);
      assert.deepEqual(round.toSorted(), TARGETS.toSorted());
    }
    kills.forEach(({ atMs, downMs }, i) => {
      const gap = atMs - (kills[i - 1]?.atMs ?? 0);
      assert.ok(gap >= 7999 && gap <= 24_001, `${gap} ms`);
      assert.ok(downMs >= 1000 && downMs <= 10_000, `${downMs} ms`);
    });
  }
});

pure("drawPlan() is in the order of time, ends in time, and opts out and in by turns", () => {
  const steps = drawPlan(3, 600_000);
  const times = steps.map(({ atMs }) => atMs);
  assert.deepEqual(times, times.toSorted((a, b) => a - b));
  assert.ok((times.at(-1) ?? 0) < 600_000);
  const switches = steps.map(({ kind }) => kind).filter((kind) => kind.startsWith("opt"));
  assert.deepEqual(
    switches,
    switches.map((_, index) => index % 2 === 0 ? "optOut" : "optIn"),
  );
  assert.ok(switches.length >= 5);
});
