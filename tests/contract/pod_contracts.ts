/**
 * The contracts of `PodResizer` and `PodEvictor`.
 *
 * @module
 */
import { type Pod, type PodContainer, withResources } from "../../shared/api/pod.ts";
import { isAtLeast } from "../../shared/control/object_key.ts";
import { marketManager, originalsIn } from "../../shared/resize/original_limits.ts";
import { type LimitChange, type PodResizer, resizePatch } from "../../shared/resize/patch.ts";
import {
  assertRefused,
  type ContractHarness,
  contractTests,
  type OpenHarness,
  OTHER_UID,
} from "./support/contract_harness.ts";
import { sampleContainer, sampleGuaranteed } from "./support/sample_objects.ts";
import assert from "node:assert/strict";
import type { EvictionAnswer, PodEvictor } from "../../shared/api/ports.ts";

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
const INVALID = { status: 422, reason: "Invalid" };

/** Registers the suite. */
export function podResizerContract(open: OpenHarness<PodResizerHarness>): void {
  const contract = contractTests(open);
  const limit = (cpu: number, name = "app", sidecar = false): LimitChange => ({
    ...{ name, sidecar, requests: {}, limits: { cpu } },
  });
  const both = (cpu: number, request = cpu): LimitChange =>
    withResources(limit(cpu), { requests: { cpu: request } });

  /** A suite's harness with a pod of these containers. */
  async function stage(harness: PodResizerHarness, ...containers: readonly PodContainer[]) {
    const { subject } = harness;
    const pod = await harness.create(containers);
    const { name, namespace, uid } = pod.metadata;
    const stored = async (): Promise<Pod> => {
      const found = await harness.read(pod);
      return found ?? assert.fail("the pod is gone");
    };
    /** Without the status: a kubelet may still report an earlier resize. */
    const spec = async (): Promise<unknown> =>
      (await stored()).containers.map(({ name, requests, limits, limitManagers }) => ({
        ...{ name, requests, limits, limitManagers },
      }));
    const limits = async (): Promise<unknown> =>
      Object.fromEntries((await stored()).containers.map((one) => [one.name, one.limits.cpu]));
    const resize = (
      changes: readonly LimitChange[],
      { by = subject, uid: of = uid, resourceVersion, manager }: {
        readonly by?: PodResizer;
        readonly uid?: string;
        readonly resourceVersion?: string;
        readonly manager?: string;
      } = {},
    ): Promise<string> => {
      const version = resourceVersion === undefined ? {} : { resourceVersion };
      const patch = resizePatch(of, changes, version);
      return by.resize(namespace, name, patch, manager === undefined ? {} : { manager });
    };
    /** Resizes and returns the limits by container name. */
    const resized = async (...changes: readonly LimitChange[]): Promise<unknown> => {
      const version = await resize(changes);
      const { metadata, containers } = await stored();
      assert.equal(isAtLeast(metadata.resourceVersion, version), true);
      for (const change of changes) {
        const container = containers.find((one) => one.name === change.name);
        assert.deepEqual(container?.limitManagers, ["mbcas"]);
      }
      return await limits();
    };
    /** A refusal that changes nothing. */
    const refused = async (
      changes: readonly LimitChange[],
      refusal: Parameters<typeof assertRefused>[1],
      options: Parameters<typeof resize>[1] = {},
    ): Promise<void> => {
      const before = await spec();
      await assertRefused(resize(changes, options), refusal);
      assert.deepEqual(await spec(), before);
    };
    return {
      pod,
      stored,
      resize,
      resized,
      refused,
    };
  }

  contract("resize() changes the containers that it names and no other", async (harness) => {
    const { resized } = await stage(
      harness,
      sampleContainer(),
      sampleContainer({ name: "proxy", sidecar: true, limits: { cpu: 150 } }),
      sampleContainer({ name: "extra" }),
    );
    const changed = await resized(limit(450), limit(300, "proxy", true));
    assert.deepEqual(changed, { app: 450, proxy: 300, extra: 200 });
    assert.deepEqual(await resized(limit(120)), { app: 120, proxy: 300, extra: 200 });
  });

  contract(
    "resize() by one manager takes a limit from another, unless it stays as it is",
    async (harness) => {
      const { stored, resize } = await stage(harness, sampleContainer());
      const { subject, restorer } = harness;
      const steps = [
        ...[[subject, 300, "mbcas"], [restorer, 300, "mbcas"]] as const,
        ...[[restorer, 200, "mbcas-restore"], [subject, 450, "mbcas"]] as const,
      ];
      for (const [by, cpu, manager] of steps) {
        await resize([limit(cpu)], { by });
        const [app] = (await stored()).containers;
        assert.deepEqual([app?.limits.cpu, app?.limitManagers], [cpu, [manager]]);
      }
    },
  );

  contract(
    "resize() under a name that carries original limits, up to the longest that is taken",
    async (harness) => {
      const { pod, stored, resize } = await stage(harness, sampleContainer());
      for (const [cpu, original] of [[300, 200], [400, 200], [500, 350]] as const) {
        await resize([limit(cpu)], { manager: marketManager(pod, new Map([["app", original]])) });
        const found = await stored();
        assert.deepEqual(found.containers[0]?.limitManagers, [`mbcas/${original}m`]);
        assert.deepEqual([...originalsIn(found)], [["app", original]]);
      }
      const longest = `mbcas/${"1".repeat(122)}`;
      await resize([limit(600)], { manager: longest });
      assert.deepEqual((await stored()).containers[0]?.limitManagers, [longest]);
    },
  );

  contract("resize() is refused with 404 when the pod is gone", async (harness) => {
    const patch = resizePatch("uid", [limit(300)]);
    const gone = { status: 404, reason: "NotFound" };
    await assertRefused(harness.subject.resize("shop", "none", patch), gone);
  });

  contract(
    "resize() is refused with 422 for a reborn pod, below the request, and for no container",
    async (harness) => {
      const { refused } = await stage(
        harness,
        sampleContainer(),
        sampleContainer({ name: "extra" }),
      );
      await refused([limit(300)], INVALID, { uid: OTHER_UID });
      await refused([limit(90)], INVALID);
      await refused([limit(300, "other")], INVALID);
      // It takes all containers or none.
      await refused([limit(300), limit(50, "extra")], INVALID);
    },
  );

  contract("resize() is refused with 409 on a pod that is newer", async (harness) => {
    const { pod, resize, refused } = await stage(harness, sampleContainer());
    const { resourceVersion } = pod.metadata;
    await resize([limit(300)], { resourceVersion });
    // Even what would be refused otherwise, and what is there already.
    for (const cpu of [450, 300, 90]) {
      await refused([limit(cpu)], { status: 409, reason: "Conflict" }, { resourceVersion });
    }
  });

  contract("resize() is refused with 422 when the QoS class would change", async (harness) => {
    const memory = { requests: { memory: MEMORY }, limits: { memory: MEMORY } };
    const burstable = await stage(harness, sampleContainer(memory));
    assert.equal(burstable.pod.qosClass, "Burstable");
    await burstable.refused([limit(100)], INVALID);
    const guaranteed = await stage(
      harness,
      sampleContainer({ ...memory, requests: { ...memory.requests, cpu: 200 } }),
    );
    assert.equal(guaranteed.pod.qosClass, "Guaranteed");
    await guaranteed.refused([limit(300)], INVALID);
  });

  contract(
    "resize() moves request and limit of a Guaranteed pod together, and they stay so",
    async (harness) => {
      const half = { requests: { cpu: 150 }, limits: { cpu: 150 } };
      const { pod, stored, resized, refused } = await stage(
        harness,
        sampleGuaranteed(),
        sampleGuaranteed({ name: "proxy", sidecar: true, ...half }),
      );
      assert.equal(pod.qosClass, "Guaranteed");
      for (const apart of [limit(300), both(300, 250), limit(100)]) await refused([apart], INVALID);
      const proxy = { ...both(250), name: "proxy", sidecar: true };
      assert.deepEqual(await resized(both(300), proxy), { app: 300, proxy: 250 });
      assert.deepEqual(await resized(both(120)), { app: 120, proxy: 250 });
      const { containers, qosClass } = await stored();
      assert.deepEqual(containers.map(({ requests }) => requests.cpu), [120, 250]);
      assert.equal(qosClass, "Guaranteed");
    },
  );

  contract(
    "resize() is refused with the cause NodeCapacity when a request exceeds the whole node",
    async (harness) => {
      const { refused } = await stage(harness, sampleGuaranteed());
      await refused([both(WHOLE_NODE)], { status: 403, causes: ["NodeCapacity"] });
      // A limit alone asks nothing of the node.
      const burstable = await stage(harness, sampleContainer());
      assert.deepEqual(await burstable.resized(limit(WHOLE_NODE)), { app: WHOLE_NODE });
    },
  );
}

/** A server with pods of one workload. */
export interface PodEvictorHarness extends ContractHarness {
  readonly subject: PodEvictor;
  /** A pod that runs and is Ready, as stored. */
  running(name: string): Promise<Pod>;
  /** A pod without a node, as stored. */
  pending(name: string): Promise<Pod>;
  /** So many budgets for all these pods that allow nothing; they are in force when it resolves. */
  protect(budgets: number): Promise<void>;
  /** The stored pod. */
  read(pod: Pod): Promise<Pod | undefined>;
}

/** Registers the suite. */
export function podEvictorContract(open: OpenHarness<PodEvictorHarness>): void {
  const contract = contractTests(open);
  function evict(
    harness: PodEvictorHarness,
    { metadata: { namespace, name, uid } }: Pod,
  ): Promise<EvictionAnswer> {
    return harness.subject.evict({ namespace, name, uid });
  }

  async function assertStays(harness: PodEvictorHarness, pod: Pod, stays: boolean): Promise<void> {
    const stored = await harness.read(pod);
    assert.equal(stored !== undefined && !stored.metadata.terminating, stays);
  }

  contract("evict() makes a pod go", async (harness) => {
    for (const pod of [await harness.running("web-0"), await harness.pending("web-1")]) {
      assert.deepEqual(await evict(harness, pod), { is: "evicted" });
      await assertStays(harness, pod, false);
    }
  });

  contract("evict() leaves another pod of the name", async (harness) => {
    const pod = await harness.running("web-0");
    const other = { ...pod, metadata: { ...pod.metadata, uid: OTHER_UID } };
    assert.deepEqual(await evict(harness, other), { is: "gone" });
    await assertStays(harness, pod, true);
    const none = { ...pod, metadata: { ...pod.metadata, name: "none" } };
    assert.deepEqual(await evict(harness, none), { is: "gone" });
  });

  contract("evict() is blocked by a budget, with its name, for pods that run", async (harness) => {
    const [pod, pending] = [await harness.running("web-0"), await harness.pending("web-1")];
    await harness.protect(1);
    const answer = await evict(harness, pod);
    assert.equal(answer.is, "blocked");
    assert.ok("message" in answer && answer.message.length > 0);
    await assertStays(harness, pod, true);
    assert.deepEqual(await evict(harness, pending), { is: "evicted" });
  });

  contract("evict() is blocked where several budgets are for the pod", async (harness) => {
    const pod = await harness.running("web-0");
    await harness.protect(2);
    const answer = await evict(harness, pod);
    assert.equal(answer.is, "blocked");
    await assertStays(harness, pod, true);
  });
}
