import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import { seededRandom } from "../../../shared/random.ts";
import {
  sampleAllocation,
  sampleContainer,
  sampleDesired,
  samplePod,
} from "../../../tests/contract/support/sample_objects.ts";
import { createVirtualClock } from "../virtual_clock.ts";
import { createObjectStore, frozenCopy } from "./object_store.ts";

function tables() {
  const clock = createVirtualClock({ wallStart: Date.UTC(2026, 0, 1) });
  return createObjectStore({ clock, random: seededRandom(5) }).tables;
}

pure("replace() writes the spec, leaves the status and counts a generation", () => {
  const { Pod, PodAllocation } = tables();
  const created = PodAllocation.create(sampleAllocation(Pod.create(samplePod("web"))));
  const first = PodAllocation.replaceStatus({ ...created, status: { phase: "Pending" } });
  const spec = { ...first.spec, ...sampleDesired("300m") };
  const second = PodAllocation.replace({ ...first, spec, status: { phase: "Failed" } });
  assert.deepEqual([second.spec, second.status], [spec, { phase: "Pending" }]);
  assert.deepEqual([first.metadata.generation, second.metadata.generation], [1, 2]);
  assert.equal(second.metadata.creationTimestamp, "2026-01-01T00:00:00.000Z");
  assert.throws(() => PodAllocation.replace(first), { status: 409, reason: "Conflict" });
});

pure("replace() refuses another identity of an allocation", () => {
  const { Pod, PodAllocation } = tables();
  const created = PodAllocation.create(sampleAllocation(Pod.create(samplePod("web"))));
  const moved = { ...created, spec: { ...created.spec, nodeName: "node-2" } };
  assert.throws(() => PodAllocation.replace(moved), /spec.nodeName.*immutable/);
  assert.equal(PodAllocation.get(`shop/${created.metadata.name}`), created);
});

pure("create() drops what only a kubelet may say of a pod, and seed() keeps it", () => {
  const { Pod } = tables();
  const containers = [
    sampleContainer({
      containerID: "containerd://ab",
      ready: true,
      applied: { limits: { cpu: 200 } },
    }),
  ];
  const running = { ...samplePod("web", { containers }), phase: "Running" as const, ready: true };
  const created = Pod.create(running);
  assert.deepEqual([created.phase, created.ready], ["Pending", false]);
  assert.deepEqual(created.containers, [sampleContainer()]);
  const seeded = Pod.seed({ ...running, metadata: { ...running.metadata, name: "db" } });
  assert.deepEqual([seeded.phase, seeded.containers], ["Running", containers]);
});

pure("replaceStatus() of a pod leaves limits and labels as they are", () => {
  const { Pod } = tables();
  const created = Pod.create(samplePod("web"));
  const written = Pod.replaceStatus({
    ...created,
    metadata: { ...created.metadata, labels: { a: "b" } },
    phase: "Running",
    containers: [
      sampleContainer({
        limits: { cpu: 900 },
        applied: { limits: { cpu: 200 } },
        containerID: "containerd://ab",
      }),
    ],
  });
  assert.deepEqual([written.phase, written.metadata.labels], ["Running", {}]);
  assert.deepEqual(written.containers, [
    sampleContainer({ containerID: "containerd://ab", applied: { limits: { cpu: 200 } } }),
  ]);
});

pure("modify() that changes nothing spends no version and notifies no watch", () => {
  const { Pod } = tables();
  const created = Pod.create(samplePod("web"));
  const end = Pod.log.after(Number(created.metadata.resourceVersion));
  assert.equal(Pod.modify("shop/web", (pod) => ({ ...pod })), created);
  assert.equal(Pod.log.at(end), undefined);
});

pure("modify() changes neither UID nor version by hand", () => {
  const { Pod } = tables();
  const created = Pod.create(samplePod("web"));
  const changed = Pod.modify("shop/web", (pod) => ({
    ...pod,
    priority: 5,
    metadata: { ...pod.metadata, uid: "other", resourceVersion: "77" },
  }));
  assert.equal(changed.metadata.uid, created.metadata.uid);
  assert.equal(changed.metadata.resourceVersion, "2");
  assert.match(
    created.metadata.uid,
    /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/,
  );
});

pure("frozenCopy() is equal to its source and shares nothing that can change", () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => {
    const before = JSON.stringify(value);
    const copy = frozenCopy(value);
    assert.equal(JSON.stringify(copy), before);
    const check = (part: unknown): void => {
      if (typeof part !== "object" || part === null) return;
      assert.ok(Object.isFrozen(part));
      Object.values(part).forEach(check);
    };
    check(copy);
  }));
});

pure("frozenCopy() leaves its source free and out of members that are undefined", () => {
  const source = { a: { b: 1 }, c: undefined };
  const copy = frozenCopy(source);
  source.a.b = 2;
  assert.deepEqual(copy, { a: { b: 1 } });
  assert.equal(frozenCopy({ ...copy, d: 1 }).a, copy.a);
});
