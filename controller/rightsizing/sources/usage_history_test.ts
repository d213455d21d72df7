import fc from "fast-check";
import assert from "node:assert/strict";
import type { UsageQuestion, WorkloadIdentity } from "../ports.ts";
import type { PodOwner, PodUsage } from "./pod_owners.ts";
import {
  createUsageHistory,
  readHistory,
  storedHistory,
  type UsageHistory,
  type WorkloadHistory,
} from "./usage_history.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const NOW_MS = 1_767_225_600_000;
const HOUR_MS = 3_600_000;
const WEB: WorkloadIdentity = { kind: "Deployment", name: "web", uid: "u1" };
const OWNER: PodOwner = { workload: WEB, containers: ["app", "proxy"], windowMs: HOUR_MS };

function reading(over: Partial<PodUsage> & { cpu?: number } = {}): PodUsage {
  const { cpu = 100, ...rest } = over;
  const containers = ["app", "proxy", "init"].map((name) => ({ name, cpu, memory: 2 * cpu }));
  return { namespace: "shop", pod: "web-a", timeMs: NOW_MS, containers, ...rest };
}

function add(subject: UsageHistory, reading: PodUsage, nowMs = NOW_MS): void {
  subject.add(reading, { owner: OWNER, nowMs });
}

function question(toMs = NOW_MS, windowMs = HOUR_MS): UsageQuestion {
  return {
    namespace: "shop",
    workload: WEB,
    pods: ["web-a"],
    otherPods: [],
    containers: ["app", "proxy"],
    window: { fromMs: toMs - windowMs, toMs },
  };
}

function counts(subject: UsageHistory, nowMs = NOW_MS): readonly number[] {
  return Array.from(subject.usage(question(nowMs), nowMs).values(), ({ cpu }) => cpu.count);
}

test("add() counts a reading of a pod once, over all pods, of the owner's containers only", () => {
  const kept = new Map<string, WorkloadHistory>();
  const subject = createUsageHistory(kept);
  add(subject, reading());
  add(subject, reading());
  add(subject, reading({ timeMs: NOW_MS - 1 }));
  assert.deepEqual(counts(subject), [1, 1]);
  add(subject, reading({ pod: "web-b", cpu: 300 }));
  const usage = subject.usage(question(), NOW_MS);
  const { cpu, memory } = usage.get("app") ?? assert.fail();
  assert.deepEqual([cpu.count, cpu.min, cpu.max], [2, 100, 300]);
  assert.deepEqual([memory.count, memory.min, memory.max], [2, 200, 600]);
  assert.deepEqual([...usage.keys()], ["app", "proxy"]);
  assert.equal(kept.get("u1")?.containers.has("init"), false);
});

test("add() passes over readings that are too old to know whether they were counted", () => {
  const subject = createUsageHistory(new Map());
  add(subject, reading({ timeMs: NOW_MS - 600_000 }));
  assert.deepEqual(counts(subject), [0, 0]);
  add(subject, reading({ timeMs: NOW_MS - 599_999 }));
  assert.deepEqual(counts(subject), [1, 1]);
});

test("add() counts nothing of the time that another life has counted", () => {
  const before = { workload: WEB, namespace: "shop", newestMs: NOW_MS - 100 };
  const subject = createUsageHistory(new Map([["u1", { ...before, containers: new Map() }]]));
  subject.begin();
  add(subject, reading({ timeMs: NOW_MS - 100 }));
  add(subject, reading({ pod: "web-b", timeMs: NOW_MS - 200 }));
  assert.deepEqual(counts(subject), [0, 0]);
  add(subject, reading({ timeMs: NOW_MS - 99 }));
  add(subject, reading({ pod: "web-b", timeMs: NOW_MS - 98 }));
  assert.deepEqual(counts(subject), [2, 2]);
});

test("property 12: usage() has samples of (now - window, now], whatever the nodes' clocks say", () => {
  const offset = fc.integer({ min: -900_000, max: 900_000 });
  fc.assert(fc.property(
    fc.array(offset, { minLength: 1, maxLength: 30 }),
    fc.integer({ min: 1, max: 900_000 }),
    (offsets, windowMs) => {
      const subject = createUsageHistory(new Map());
      for (const [at, ms] of offsets.entries()) {
        add(subject, reading({ pod: `web-${at}`, timeMs: NOW_MS + ms }));
      }
      const { cpu } = subject.usage(question(NOW_MS, windowMs), NOW_MS).get("app") ?? assert.fail();
      const counts = (sinceMs: number): number =>
        offsets.filter((ms) => ms > -sinceMs && ms > -600_000).length;
      // A part of the ring that the window cuts is left out.
      assert.ok(cpu.count <= counts(windowMs));
      assert.ok(cpu.count >= counts(windowMs - HOUR_MS / 16));
      if (cpu.count === 0) return;
      assert.ok(cpu.oldestMs > NOW_MS - windowMs && cpu.newestMs <= NOW_MS);
    },
  ));
});

test("usage() has each container that is asked for, seen or not", () => {
  const subject = createUsageHistory(new Map());
  const usage = subject.usage(question(), NOW_MS);
  assert.deepEqual(Array.from(usage.values(), ({ cpu, memory }) => [cpu.count, memory.count]), [
    [0, 0],
    [0, 0],
  ]);
  add(subject, reading());
  const other = { ...question(), workload: { ...WEB, uid: "made again" } };
  assert.equal(subject.usage(other, NOW_MS).get("app")?.cpu.count, 0);
});

test("add() keeps what there is when the window changes, as far as it covers it", () => {
  const subject = createUsageHistory(new Map());
  add(subject, reading({ timeMs: NOW_MS - 300_000 }));
  add(subject, reading());
  const owner = { ...OWNER, windowMs: 200_000 };
  subject.add(reading({ timeMs: NOW_MS + 1 }), { owner, nowMs: NOW_MS + 1 });
  const { cpu } = subject.usage(question(NOW_MS + 1), NOW_MS + 1).get("app") ?? assert.fail();
  assert.equal(cpu.count, 2);
});

test("deleteGone() forgets workloads that are gone, and until when they were counted", () => {
  const kept = new Map<string, WorkloadHistory>();
  const subject = createUsageHistory(kept);
  add(subject, reading());
  subject.deleteGone(() => true);
  assert.deepEqual(counts(subject), [1, 1]);
  subject.begin();
  subject.deleteGone(({ namespace, uid }) => namespace !== "shop" || uid !== "u1");
  assert.equal(kept.size, 0);
  add(subject, reading());
  assert.deepEqual(counts(subject), [1, 1]);
});

test("readHistory() reads what storedHistory() makes, in whatever shape rings now have", () => {
  const kept = new Map<string, WorkloadHistory>();
  add(createUsageHistory(kept), reading({ cpu: 0.5 }));
  add(createUsageHistory(kept), reading({ timeMs: NOW_MS - 500_000, cpu: 1e9 }));
  const one = kept.get("u1") ?? assert.fail();
  const stored = JSON.parse(JSON.stringify(storedHistory(one)));
  for (const slots of [16, 32]) {
    const read = readHistory(stored, { nowMs: NOW_MS, slots });
    assert.deepEqual([read.workload, read.namespace, read.newestMs], [WEB, "shop", NOW_MS]);
    const usage = createUsageHistory(new Map([["u1", read]])).usage(question(), NOW_MS);
    const { cpu, memory } = usage.get("proxy") ?? assert.fail();
    assert.deepEqual([cpu.count, cpu.min, cpu.max, cpu.oldestMs], [2, 0.5, 1e9, NOW_MS - 500_000]);
    assert.deepEqual([memory.count, memory.min, memory.max], [2, 1, 2e9]);
  }
  assert.equal(readHistory(stored, { nowMs: NOW_MS - 1 }).newestMs, NOW_MS - 1);
  for (
    const [key, value] of Object.entries({ kind: "Job", windowMs: 0, containers: { app: {} } })
  ) {
    assert.throws(() => readHistory({ ...stored, [key]: value }, { nowMs: NOW_MS }), SyntaxError);
  }
});
