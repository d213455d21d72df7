import assert from "node:assert/strict";
import fc from "fast-check";
import { createContainerRings } from "../../../shared/rightsizing/container_rings.ts";
import { mutatedJSON } from "../../../tests/fixtures/mutated_json.ts";
import { readCheckpoint, writeCheckpoints } from "./checkpoint_parts.ts";
import type { NamespaceHistory, WorkloadHistory } from "./usage_history.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const NOW_MS = 1_767_225_600_000;
const READ = { nowMs: NOW_MS };
const WRITE = { namespace: "shop", prefix: "usage-" };
const WINDOW = { nowMs: NOW_MS, windowMs: 3_600_000 };

/** A namespace with so many workloads of two containers. */
function namespaceOf(count: number): NamespaceHistory {
  const workloads = new Map(Array.from({ length: count }, (_, index) => {
    const containers = new Map(["app", "proxy"].map((name, place) => {
      const rings = createContainerRings({ windowMs: WINDOW.windowMs });
      for (let at = 0; at <= place + index; at++) {
        rings.cpu.add({ atMs: NOW_MS - at, value: 10 + at }, NOW_MS);
        rings.memory.add({ atMs: NOW_MS - at, value: 4096 * (at + 1) }, NOW_MS);
      }
      return [name, rings];
    }));
    const uid = `uid-${index}`;
    const workload = { kind: "StatefulSet" as const, name: `web-${index}`, uid };
    return [uid, { workload, containers }];
  }));
  return { workloads, newestMs: NOW_MS - 7, changed: true };
}

/** What must be the same; medians are within a few percent where there was little room. */
function contentOf(
  { workload, containers }: WorkloadHistory,
  { medians }: { readonly medians: boolean },
): unknown {
  const names = [...containers].toSorted(([a], [b]) => a < b ? -1 : 1);
  const rings = names.map(([name, { cpu, memory }]) =>
    [cpu, memory].map((ring) => {
      const { quantile, ...rest } = ring.distribution(WINDOW);
      return { name, ...rest, windowMs: ring.windowMs, median: medians && quantile(0.5) };
    })
  );
  return { workload, rings };
}

const room = fc.oneof(fc.integer({ min: 1500, max: 6000 }), fc.constant(Infinity));

test("readCheckpoint() reads what writeCheckpoints() has written, in as many parts as it needs", () => {
  fc.assert(
    fc.property(fc.nat(8), room, (count, mostBytes) => {
      const written = namespaceOf(count);
      const checkpoints = writeCheckpoints(written, { ...WRITE, mostBytes });
      assert.equal(checkpoints.length === 0, count === 0);
      assert.equal(new Set(checkpoints.map(({ name }) => name)).size, checkpoints.length);
      const found = new Map<string, WorkloadHistory>();
      for (const checkpoint of checkpoints) {
        const entries = Object.entries(checkpoint.data);
        const size = entries.reduce((sum, [key, text]) => sum + key.length + text.length, 0);
        assert.ok(size <= mostBytes, `${size} bytes`);
        const read = readCheckpoint(checkpoint, READ);
        assert.ok("workloads" in read, JSON.stringify(read));
        assert.deepEqual([read.namespace, read.newestMs, read.faults], ["shop", NOW_MS - 7, []]);
        for (const [uid, { workload, containers }] of read.workloads) {
          const known = found.get(uid) ?? { workload, containers: new Map() };
          for (const [name, rings] of containers) {
            assert.ok(!known.containers.has(name), "once");
            known.containers.set(name, rings);
          }
          found.set(uid, known);
        }
      }
      assert.equal(found.size, count);
      for (const [uid, history] of found) {
        assert.equal(history.containers.size, 2);
        const before = written.workloads.get(uid)!;
        const medians = mostBytes === Infinity;
        assert.deepEqual(contentOf(history, { medians }), contentOf(before, { medians }));
      }
    }),
  );
});

test("writeCheckpoints() names the first part after the namespace, and keeps no empty workloads", () => {
  const history = namespaceOf(3);
  history.workloads.get("uid-1")?.containers.clear();
  const [only, ...others] = writeCheckpoints(history, WRITE);
  assert.deepEqual(others, []);
  assert.equal(only?.name, "usage-shop");
  assert.deepEqual(Object.keys(only?.data ?? {}).sort(), [
    "about",
    "uid-0.app",
    "uid-0.proxy",
    "uid-2.app",
    "uid-2.proxy",
  ]);
  const parts = writeCheckpoints(history, { ...WRITE, mostBytes: 400 });
  assert.deepEqual(parts.map(({ name }) => name).slice(0, 2), ["usage-shop", "usage-shop.2"]);
  assert.deepEqual(writeCheckpoints(history, { ...WRITE, mostBytes: 10 }), []);
});

test("readCheckpoint() leaves out what is damaged, and says which", () => {
  const [checkpoint] = writeCheckpoints(namespaceOf(2), WRITE);
  assert.ok(checkpoint !== undefined);
  const { name, data } = checkpoint;
  const spoilt = {
    ...data,
    "uid-0.app": (data["uid-0.app"] ?? "").slice(0, -1),
    "uid-9.app": data["uid-1.app"] ?? "",
  };
  const read = readCheckpoint({ name, data: spoilt }, READ);
  assert.ok("workloads" in read);
  assert.deepEqual(
    Array.from(read.workloads, ([uid, { containers }]) => [uid, [...containers.keys()].sort()]),
    [["uid-0", ["proxy"]], ["uid-1", ["app", "proxy"]]],
  );
  const [damaged, unknown, ...others] = read.faults;
  assert.match(damaged ?? "", /^usage-shop, key "uid-0\.app": .*checkpoint/);
  assert.match(unknown ?? "", /^usage-shop, key "uid-9\.app": .*no workload$/);
  assert.deepEqual(others, []);
  for (const about of ["", "{}", (data["about"] ?? "").replace('"version":1', '"version":2')]) {
    const unreadable = readCheckpoint({ name, data: { ...data, about } }, READ);
    assert.match("fault" in unreadable ? unreadable.fault : "", /^usage-shop .*about .*1$/);
  }
});

test("readCheckpoint() takes any text without an exception", () => {
  const [checkpoint] = writeCheckpoints(namespaceOf(1), WRITE);
  const about: unknown = JSON.parse(checkpoint?.data["about"] ?? "");
  const texts = fc.record({ "uid-0.app": fc.string(), "noDot": fc.string() });
  fc.assert(
    fc.property(mutatedJSON(about), texts, (one, texts) => {
      const data = { ...checkpoint?.data, ...texts, about: JSON.stringify(one) ?? "" };
      const read = readCheckpoint({ name: "usage-shop", data }, READ);
      if ("workloads" in read) assert.ok(read.faults.length >= 2);
    }),
  );
});
