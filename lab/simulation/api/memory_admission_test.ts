import assert from "node:assert/strict";
import { ApiError } from "../../../shared/api/api_error.ts";
import type { LimitRangeItem, ResourceQuota } from "../../../shared/api/namespace.ts";
import type { Resources } from "../../../shared/api/pod.ts";
import { seededRandom } from "../../../shared/random.ts";
import { resizePatch } from "../../../shared/resize/patch.ts";
import {
  sampleContainer,
  samplePod,
  sampleQuota,
} from "../../../tests/contract/support/sample_objects.ts";
import { settleVirtually } from "../../../tests/contract/support/settle_virtually.ts";
import { createVirtualClock } from "../virtual_clock.ts";
import { createSimulatedAPI } from "./simulated_api.ts";

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
  const app = sampleContainer({ requestMemory: 64 * MI, limitMemory: 128 * MI });
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
  assert.equal(await resized({ requestMemory: 60 * MI }), "");
  assert.match(
    await resized({ requestMemory: 31 * MI }),
    /minimum memory .* Container .*33554432.*32505856/,
  );
  assert.match(await resized({ limitMemory: 300 * MI }), /maximum memory .* Container/);
  assert.match(await resized({ limitMemory: 250 * MI }), /memory .* ratio/);
});

Deno.test("resize() is refused where a pod's memory would leave a LimitRange, not for its CPU", async () => {
  const { resized } = stage({ items: [{ type: "Pod", memory: { max: 130 * MI } }] });
  assert.equal(await resized({ limitMemory: 130 * MI, limitCPU: 4000 }), "");
  assert.match(await resized({ limitMemory: 131 * MI }), /maximum memory .* Pod/);
});

Deno.test("resize() takes memory from a quota, gives it back, and is refused beyond it", async () => {
  const { hardLimitsCPU: _none, ...unbound } = sampleQuota();
  const quota = {
    ...unbound,
    memory: {
      requests: { hard: 100 * MI, used: 64 * MI },
      limits: { hard: 1000 * MI, used: 128 * MI },
    },
  };
  const { resized, quota: stored } = stage({ quota });
  const used = () => [stored()?.memory?.requests?.used, stored()?.memory?.limits?.used];
  assert.equal(await resized({ requestMemory: 100 * MI, limitMemory: 200 * MI }), "");
  assert.deepEqual(used(), [100 * MI, 200 * MI]);
  assert.match(
    await resized({ requestMemory: 101 * MI }),
    /quota: cpu, .*requests\.memory=1048576,.* requests\.memory=104857600/,
  );
  assert.deepEqual(used(), [100 * MI, 200 * MI]);
  assert.equal(await resized({ requestMemory: 10 * MI, limitCPU: 900 }), "");
  assert.deepEqual(used(), [10 * MI, 200 * MI]);
});
