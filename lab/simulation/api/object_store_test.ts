import fc from "fast-check";
import assert from "node:assert/strict";
import { ApiError } from "../../../shared/api/api_error.ts";
import type { LimitRangeItem, ResourceQuota } from "../../../shared/api/namespace.ts";
import type { Resources } from "../../../shared/api/pod.ts";
import { seededRandom } from "../../../shared/random.ts";
import { resizePatch } from "../../../shared/resize/patch.ts";
import {
  sampleAllocation,
  sampleContainer,
  sampleDesired,
  samplePod,
  sampleQuota,
} from "../../../tests/contract/support/sample_objects.ts";
import { settleVirtually } from "../../../tests/contract/support/settle_virtually.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import { createVirtualClock } from "../virtual_clock.ts";
import { createObjectStore, frozenCopy } from "./object_store.ts";
import { createSimulatedAPI } from "./simulated_api.ts";

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

const MI = 2 ** 20;

interface Namespace {
  readonly items?: readonly LimitRangeItem[];
  readonly quota?: ResourceQuota;
}

/** A pod of 64 Mi of 128 Mi under these bounds, and what becomes of it with other values. */
function stage({ items = [], quota }: Namespace) {
  const clock = createVirtualClock({ wallStart: 0 });
  const api = createSimulatedAPI({ clock, random: seededRandom(7) });
  const { tables } = api.store;
  const metadata = { name: "r", namespace: "shop", uid: "", resourceVersion: "" };
  tables.LimitRange.create({ metadata, items });
  if (quota !== undefined) tables.ResourceQuota.create(quota);
  const app = sampleContainer({ requests: { memory: 64 * MI }, limits: { memory: 128 * MI } });
  const { metadata: { uid } } = tables.Pod.create(samplePod("web", { containers: [app] }));
  return {
    quota: () => tables.ResourceQuota.get("shop/cpu"),
    /** The server's refusal, or nothing. */
    async resized(fields: Resources): Promise<string> {
      const patch = resizePatch(uid, [{ name: "app", sidecar: false, ...fields }]);
      try {
        await settleVirtually(clock, api.podResizer().resize("shop", "web", patch));
        return "";
      } catch (error) {
        assert.ok(error instanceof ApiError && error.status === 403, String(error));
        return error.message;
      }
    },
  };
}

Deno.test("resize() is refused where a container's memory would leave a LimitRange", async () => {
  const memory = { min: 32 * MI, max: 256 * MI, ratio: 4 };
  const { resized } = stage({ items: [{ type: "Container", memory }] });
  assert.equal(await resized({ requests: { memory: 60 * MI }, limits: {} }), "");
  assert.match(
    await resized({ requests: { memory: 31 * MI }, limits: {} }),
    /minimum memory .* Container .*33554432.*32505856/,
  );
  assert.match(
    await resized({ requests: {}, limits: { memory: 300 * MI } }),
    /maximum memory .* Container/,
  );
  assert.match(await resized({ requests: {}, limits: { memory: 250 * MI } }), /memory .* ratio/);
});

Deno.test("resize() is refused where a pod's memory would leave a LimitRange, not for its CPU", async () => {
  const { resized } = stage({ items: [{ type: "Pod", memory: { max: 130 * MI } }] });
  assert.equal(await resized({ requests: {}, limits: { memory: 130 * MI, cpu: 4000 } }), "");
  assert.match(
    await resized({ requests: {}, limits: { memory: 131 * MI } }),
    /maximum memory .* Pod/,
  );
});

Deno.test("resize() takes memory from a quota, gives it back, and is refused beyond it", async () => {
  const quota = sampleQuota({
    bounds: {
      "requests.memory": { hard: 100 * MI, used: 64 * MI },
      "limits.memory": { hard: 1000 * MI, used: 128 * MI },
    },
  });
  const { resized, quota: stored } = stage({ quota });
  const used = () => Object.values(stored()?.bounds ?? {}).map((bound) => bound.used);
  assert.equal(await resized({ requests: { memory: 100 * MI }, limits: { memory: 200 * MI } }), "");
  assert.deepEqual(used(), [100 * MI, 200 * MI]);
  assert.match(
    await resized({ requests: { memory: 101 * MI }, limits: {} }),
    /quota: cpu, .*requests\.memory=1048576,.* requests\.memory=104857600/,
  );
  assert.deepEqual(used(), [100 * MI, 200 * MI]);
  assert.equal(await resized({ requests: { memory: 10 * MI }, limits: { cpu: 900 } }), "");
  assert.deepEqual(used(), [10 * MI, 200 * MI]);
});
