import assert from "node:assert/strict";
import fc from "fast-check";
import { listRings, samplesOf } from "../../../tests/fixtures/list_rings.ts";
import { mutatedJSON } from "../../../tests/fixtures/mutated_json.ts";
import { readCheckpoint, writeCheckpoints } from "./checkpoint_data.ts";
import type { NamespaceHistory } from "./usage_history.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const NOW_MS = 1_767_225_600_000;
const READ = { keeping: listRings, nowMs: NOW_MS };
const WRITE = { namespace: "shop", prefix: "usage-", keeping: listRings };

/** A namespace with so many workloads of one container. */
function namespaceOf(count: number): NamespaceHistory {
  const workloads = new Map(Array.from({ length: count }, (_, index) => {
    const rings = listRings.create(3_600_000);
    rings.cpu.add({ atMs: NOW_MS - index, value: index }, NOW_MS);
    rings.memory.add({ atMs: NOW_MS - index, value: 2 * index }, NOW_MS);
    const uid = `uid-${index}`;
    const workload = { kind: "StatefulSet" as const, name: `web-${index}`, uid };
    return [uid, { workload, containers: new Map([["app", rings]]) }];
  }));
  return { workloads, newestMs: NOW_MS - 7, changed: true };
}

test("readCheckpoint() reads what writeCheckpoints() has written, in as many parts as it needs", () => {
  fc.assert(
    fc.property(fc.nat(40), fc.integer({ min: 100, max: 5000 }), (count, mostCharacters) => {
      const written = namespaceOf(count);
      const checkpoints = writeCheckpoints(written, { ...WRITE, mostCharacters });
      assert.equal(checkpoints.length === 0, count === 0);
      assert.equal(new Set(checkpoints.map(({ name }) => name)).size, checkpoints.length);
      const found = checkpoints.flatMap((checkpoint) => {
        const entries = Object.entries(checkpoint.data);
        const size = entries.reduce((sum, [key, text]) => sum + key.length + text.length, 0);
        assert.ok(size <= mostCharacters + 100 || entries.length === 2, `${size} characters`);
        const read = readCheckpoint(checkpoint, READ);
        assert.ok("workloads" in read, JSON.stringify(read));
        assert.deepEqual([read.namespace, read.newestMs, read.faults], ["shop", NOW_MS - 7, []]);
        return [...read.workloads];
      });
      assert.deepEqual(found.map(([uid]) => uid), [...written.workloads.keys()]);
      for (const [uid, { workload, containers }] of found) {
        const before = written.workloads.get(uid) ?? assert.fail();
        assert.deepEqual(workload, before.workload);
        const [one, other] = [containers, before.containers].map((all) => all.get("app"));
        assert.ok(one !== undefined && other !== undefined);
        assert.deepEqual(samplesOf(one.cpu), samplesOf(other.cpu));
        assert.deepEqual(samplesOf(one.memory), samplesOf(other.memory));
        assert.equal(one.cpu.windowMs, 3_600_000);
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
  assert.deepEqual(Object.keys(only?.data ?? {}), ["about", "uid-0", "uid-2"]);
  const parts = writeCheckpoints(history, { ...WRITE, mostCharacters: 10 });
  assert.deepEqual(parts.map(({ name }) => name), ["usage-shop", "usage-shop.2"]);
});

test("readCheckpoint() leaves out what is damaged, and says which", () => {
  const [checkpoint] = writeCheckpoints(namespaceOf(2), WRITE);
  assert.ok(checkpoint !== undefined);
  const { name, data } = checkpoint;
  const spoilt = { ...data, "uid-0": (data["uid-0"] ?? "").slice(0, -9) };
  const read = readCheckpoint({ name, data: spoilt }, READ);
  assert.ok("workloads" in read);
  assert.deepEqual([...read.workloads.keys()], ["uid-1"]);
  assert.deepEqual(read.faults, ['usage-shop, key "uid-0": it is no workload\'s history']);
  const rings = { ...data, "uid-0": (data["uid-0"] ?? "").replace(/"app":"./, '"app":"?') };
  const [fault] = faultsOf(readCheckpoint({ name, data: rings }, READ));
  assert.match(fault ?? "", /^usage-shop, key "uid-0": .*JSON/);
  for (const about of ["", "{}", '{"version":2,"namespace":"shop","newestMs":0}']) {
    assert.deepEqual(readCheckpoint({ name, data: { ...data, about } }, READ), {
      fault: "usage-shop has no readable key about of version 1",
    });
  }
});

function faultsOf(read: ReturnType<typeof readCheckpoint>): readonly string[] {
  return "faults" in read ? read.faults : [read.fault];
}

test("readCheckpoint() takes any text without an exception", () => {
  const [checkpoint] = writeCheckpoints(namespaceOf(1), WRITE);
  const workload: unknown = JSON.parse(checkpoint?.data["uid-0"] ?? "");
  const about: unknown = JSON.parse(checkpoint?.data["about"] ?? "");
  fc.assert(
    fc.property(mutatedJSON(workload), mutatedJSON(about), fc.boolean(), (one, other, which) => {
      const data = {
        about: JSON.stringify(which ? other : about) ?? "",
        "uid-0": JSON.stringify(one) ?? "",
      };
      const read = readCheckpoint({ name: "usage-shop", data }, READ);
      if ("workloads" in read) assert.equal(read.workloads.size + read.faults.length, 1);
    }),
    { numRuns: 300 },
  );
});
