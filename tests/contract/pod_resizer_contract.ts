/**
 * The contract of `PodResizer`.
 *
 * @module
 */
import { type Pod, type PodContainer, withResources } from "../../shared/api/pod.ts";
import type { PodResizer } from "../../controller/resize/ports.ts";
import { isAtLeast } from "../../shared/control/object_key.ts";
import { marketManager, originalsIn } from "../../shared/resize/original_limits.ts";
import { type LimitChange, resizePatch } from "../../shared/resize/patch.ts";
import {
  assertRefused,
  CONFLICT,
  type ContractHarness,
  contractTest,
  INVALID,
  NOT_FOUND,
  type OpenHarness,
} from "./support/contract_harness.ts";
import { sampleContainer, sampleGuaranteed } from "./support/sample_objects.ts";
import assert from "node:assert/strict";

/** A server that runs pods, on a node with less than 900 CPUs. */
export interface PodResizerHarness extends ContractHarness {
  /** Writes as `mbcas`. */
  readonly subject: PodResizer;
  /** Writes as `mbcas-restore`. */
  readonly restorer: PodResizer;
  /** A pod with these containers, as stored. */
  create(containers: readonly PodContainer[]): Promise<Pod>;
  /** The stored pod. */
  read(pod: Pod): Promise<Pod | undefined>;
}

const MEMORY = 64 * 2 ** 20;
const WHOLE_NODE = 900_000;

/** Registers the suite. */
export function podResizerContract(open: OpenHarness<PodResizerHarness>): void {
  const app = (limitCPU: number): LimitChange => ({
    name: "app",
    sidecar: false,
    requests: {},
    limits: { cpu: limitCPU },
  });

  /** Resizes and returns the limits by container name. */
  async function resized(
    harness: PodResizerHarness,
    pod: Pod,
    changes: readonly LimitChange[],
  ): Promise<Record<string, number | undefined>> {
    const { name, namespace, uid } = pod.metadata;
    const version = await harness.subject.resize(namespace, name, resizePatch(uid, changes));
    const stored = await harness.read(pod);
    assert.ok(stored);
    assert.equal(isAtLeast(stored.metadata.resourceVersion, version), true);
    for (const change of changes) {
      const container: PodContainer | undefined = stored.containers.find((one) =>
        one.name === change.name
      );
      assert.deepEqual(container?.limitManagers, ["mbcas"]);
    }
    return Object.fromEntries(stored.containers.map((one) => [one.name, one.limits.cpu]));
  }

  async function assertUntouched(
    harness: PodResizerHarness,
    pod: Pod,
    change: LimitChange,
  ): Promise<void> {
    const { name, namespace, uid } = pod.metadata;
    const before = await harness.read(pod);
    const patch = resizePatch(uid, [change]);
    await assertRefused(harness.subject.resize(namespace, name, patch), INVALID);
    const after = await harness.read(pod);
    assert.deepEqual(after?.containers, before?.containers);
  }

  contractTest(
    "resize() changes the containers that it names and no other",
    open,
    async (harness) => {
      const pod = await harness.create([
        sampleContainer(),
        sampleContainer({ name: "proxy", sidecar: true, limits: { cpu: 150 } }),
        sampleContainer({ name: "extra" }),
      ]);
      assert.deepEqual(
        await resized(harness, pod, [app(450), {
          name: "proxy",
          sidecar: true,
          requests: {},
          limits: { cpu: 300 },
        }]),
        { app: 450, proxy: 300, extra: 200 },
      );
      assert.deepEqual(await resized(harness, pod, [app(120)]), {
        app: 120,
        proxy: 300,
        extra: 200,
      });
    },
  );

  contractTest(
    "resize() by one manager takes a limit from another, unless it stays as it is",
    open,
    async (harness) => {
      const { subject, restorer } = harness;
      const pod = await harness.create([sampleContainer()]);
      const { name, namespace, uid } = pod.metadata;
      const set = async (hand: PodResizer, limitCPU: number): Promise<readonly string[]> => {
        await hand.resize(namespace, name, resizePatch(uid, [app(limitCPU)]));
        const stored = await harness.read(pod);
        assert.equal(stored?.containers[0]?.limits.cpu, limitCPU);
        return stored.containers[0].limitManagers ?? [];
      };
      assert.deepEqual(await set(subject, 300), ["mbcas"]);
      assert.deepEqual(await set(restorer, 300), ["mbcas"]);
      assert.deepEqual(await set(restorer, 200), ["mbcas-restore"]);
      assert.deepEqual(await set(subject, 450), ["mbcas"]);
    },
  );

  contractTest(
    "resize() under a name that carries original limits, up to the longest that is taken",
    open,
    async (harness) => {
      const { subject } = harness;
      const pod = await harness.create([sampleContainer()]);
      const { name, namespace, uid } = pod.metadata;
      for (const [limitCPU, original] of [[300, 200], [400, 200], [500, 350]] as const) {
        const manager = marketManager(pod, new Map([["app", original]]));
        const patch = resizePatch(uid, [app(limitCPU)]);
        await subject.resize(namespace, name, patch, { manager });
        const stored = await harness.read(pod);
        assert.ok(stored !== undefined);
        assert.deepEqual(stored.containers[0]?.limitManagers, [`mbcas/${original}m`]);
        assert.deepEqual([...originalsIn(stored)], [["app", original]]);
      }
      const longest = `mbcas/${"1".repeat(122)}`;
      const patch = resizePatch(uid, [app(600)]);
      await subject.resize(namespace, name, patch, { manager: longest });
      const stored = await harness.read(pod);
      assert.deepEqual(stored?.containers[0]?.limitManagers, [longest]);
    },
  );

  contractTest("resize() is refused with 404 when the pod is gone", open, async (harness) => {
    const patch = resizePatch("uid", [app(300)]);
    await assertRefused(harness.subject.resize("shop", "none", patch), NOT_FOUND);
  });

  contractTest("resize() never touches a reborn pod of the same name", open, async (harness) => {
    const pod = await harness.create([sampleContainer()]);
    const { name, namespace } = pod.metadata;
    const patch = resizePatch("00000000-0000-4000-8000-000000000000", [app(300)]);
    await assertRefused(harness.subject.resize(namespace, name, patch), INVALID);
    assert.equal((await harness.read(pod))?.containers[0]?.limits.cpu, 200);
  });

  contractTest("resize() is refused with 409 on a pod that is newer", open, async (harness) => {
    const { subject } = harness;
    const pod = await harness.create([sampleContainer()]);
    const { name, namespace, uid, resourceVersion } = pod.metadata;
    const resize = (version: string, limitCPU: number): Promise<string> =>
      subject.resize(
        namespace,
        name,
        resizePatch(uid, [app(limitCPU)], { resourceVersion: version }),
      );
    await resize(resourceVersion, 300);
    // Even what would be refused otherwise, and what is there already.
    for (const limit of [450, 300, 90]) {
      await assertRefused(resize(resourceVersion, limit), CONFLICT);
    }
    assert.equal((await harness.read(pod))?.containers[0]?.limits.cpu, 300);
  });

  contractTest("resize() is refused with 422 below the request", open, async (harness) => {
    await assertUntouched(harness, await harness.create([sampleContainer()]), app(90));
  });

  contractTest(
    "resize() is refused with 422 for a container that is not there",
    open,
    async (harness) => {
      const pod = await harness.create([sampleContainer()]);
      await assertUntouched(harness, pod, {
        name: "other",
        sidecar: false,
        requests: {},
        limits: { cpu: 300 },
      });
    },
  );

  contractTest(
    "resize() is refused with 422 when the QoS class would change",
    open,
    async (harness) => {
      const memory = { requests: { memory: MEMORY }, limits: { memory: MEMORY } };
      const burstable = await harness.create([sampleContainer(memory)]);
      assert.equal(burstable.qosClass, "Burstable");
      await assertUntouched(harness, burstable, app(100));
      const guaranteed = await harness.create([
        sampleContainer({ ...memory, requests: { ...memory.requests, cpu: 200 } }),
      ]);
      assert.equal(guaranteed.qosClass, "Guaranteed");
      await assertUntouched(harness, guaranteed, app(300));
    },
  );

  const both = (
    limitCPU: number,
    requestCPU = limitCPU,
  ): LimitChange => (withResources(app(limitCPU), { requests: { cpu: requestCPU } }));

  contractTest(
    "resize() moves request and limit of a Guaranteed pod together, and they stay so",
    open,
    async (harness) => {
      const pod = await harness.create([
        sampleGuaranteed(),
        sampleGuaranteed({
          name: "proxy",
          sidecar: true,
          requests: { cpu: 150 },
          limits: { cpu: 150 },
        }),
      ]);
      assert.equal(pod.qosClass, "Guaranteed");
      for (const apart of [app(300), both(300, 250), app(100)]) {
        await assertUntouched(harness, pod, apart);
      }
      const proxy = { name: "proxy", sidecar: true, requests: { cpu: 250 }, limits: { cpu: 250 } };
      assert.deepEqual(await resized(harness, pod, [both(300), proxy]), { app: 300, proxy: 250 });
      assert.deepEqual(await resized(harness, pod, [both(120)]), { app: 120, proxy: 250 });
      const stored = await harness.read(pod);
      assert.deepEqual(stored?.containers.map(({ requests: { cpu: requestCPU } }) => requestCPU), [
        120,
        250,
      ]);
      assert.equal(stored?.qosClass, "Guaranteed");
    },
  );

  contractTest(
    "resize() is refused with the cause NodeCapacity when a request exceeds the whole node",
    open,
    async (harness) => {
      const pod = await harness.create([sampleGuaranteed()]);
      const { name, namespace, uid } = pod.metadata;
      const patch = resizePatch(uid, [both(WHOLE_NODE)]);
      await assertRefused(harness.subject.resize(namespace, name, patch), {
        status: 403,
        causes: ["NodeCapacity"],
      });
      const stored = await harness.read(pod);
      assert.equal(stored?.containers[0]?.limits.cpu, 200);
      // A limit alone asks nothing of the node.
      const burstable = await harness.create([sampleContainer()]);
      assert.deepEqual(await resized(harness, burstable, [app(WHOLE_NODE)]), { app: WHOLE_NODE });
    },
  );

  contractTest("resize() takes all containers or none", open, async (harness) => {
    const pod = await harness.create([sampleContainer(), sampleContainer({ name: "extra" })]);
    const { name, namespace, uid } = pod.metadata;
    const changes = [app(300), {
      name: "extra",
      sidecar: false,
      requests: {},
      limits: { cpu: 50 },
    }];
    await assertRefused(
      harness.subject.resize(namespace, name, resizePatch(uid, changes)),
      INVALID,
    );
    const stored = await harness.read(pod);
    assert.deepEqual(stored?.containers.map(({ limits: { cpu: limitCPU } }) => limitCPU), [
      200,
      200,
    ]);
  });
}
