import assert from "node:assert/strict";
import type { Pod, PodContainer } from "../../../shared/api/pod.ts";
import { createObjectCache } from "../../../shared/control/object_cache.ts";
import {
  sampleContainer,
  sampleGuaranteed,
  sampleNode,
  samplePod,
} from "../../../tests/contract/support/sample_objects.ts";
import { cpuRanges } from "../../../tests/fixtures/market/enforcement_input.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import { namespaceBounds, type NamespaceFacts, type QuotaBounds } from "./namespace_bounds.ts";
import { nodeCeiling, nodeRoom } from "./node_room.ts";

const app = sampleContainer();
const proxy = sampleContainer({ name: "proxy", limits: { cpu: 400 } });
const sidecar = { ...proxy, sidecar: true };
const batch = sampleContainer({ name: "batch", requests: { cpu: 50 }, limits: { cpu: 300 } });

function shares(millicores: Readonly<Record<string, number>>, owed = 0): QuotaBounds {
  const of = (share: number) => ({ millicores: share, quota: "cpu" });
  return {
    owed,
    shares: new Map(Object.entries(millicores).map(([name, share]) => [name, of(share)])),
  };
}

interface Choice extends Omit<NamespaceFacts, "pod"> {
  readonly containers?: readonly PodContainer[];
  readonly pod?: Partial<Pod>;
}

/** The bounds of all containers but `batch`. */
function boundsOf({ containers = [app, proxy], pod, ...facts }: Choice) {
  const participants = containers.filter(({ name }) => name !== "batch")
    .map((container) => ({ container, own: container.limits.cpu ?? 0 }));
  return namespaceBounds(participants, {
    ...{ pod: { ...samplePod("web", { containers }), ...pod }, ...facts },
  });
}

pure("namespaceBounds() has the lowest ceiling that LimitRanges, quotas and the node leave", () => {
  const init = (sidecarsBefore: number): Choice => ({
    containers: [app, sidecar],
    pod: {
      initContainers: [sampleContainer({ name: "prepare", limits: { cpu: 700 }, sidecarsBefore })],
    },
    limitRange: cpuRanges({}, { max: 1000 }),
  });
  const cases: readonly (readonly [Choice, ceilings: readonly number[]])[] = [
    [{}, [Infinity, Infinity]],
    [{ containers: [batch], limitRange: cpuRanges({}, { min: 5, max: 300 }) }, []],
    [{ limitRange: cpuRanges({ max: 350 }) }, [350, 350]],
    [{ limitRange: cpuRanges({ max: 350, ratio: 3 }) }, [300, 300]],
    // A pod's maximum: original limits first, the rest by request, or all by request.
    [{ limitRange: cpuRanges({}, { max: 1000 }) }, [400, 600]],
    [{ limitRange: cpuRanges({}, { ratio: 4 }) }, [300, 500]],
    [{ limitRange: cpuRanges({}, { max: 500 }) }, [250, 250]],
    [{ containers: [app, proxy, batch], limitRange: cpuRanges({}, { max: 1000 }) }, [250, 450]],
    // Beside the init container the sidecar may have 300 m, however little the others take.
    [init(0), [400, 600]],
    [init(1), [400, 300]],
    [
      {
        pod: { podLevel: { requests: {}, limits: { cpu: 300 } } },
        limitRange: cpuRanges({}, { max: 300 }),
      },
      [Infinity, Infinity],
    ],
    [{ quota: shares({ app: 250, proxy: 450 }) }, [250, 450]],
    [{ quota: shares({ app: 250 }) }, [250, Infinity]],
    [{ nodeCeiling: 700 }, [250, 450]],
    [{ nodeCeiling: 600 }, [200, 400]],
    [{ nodeCeiling: 1000, containers: [app, proxy, batch] }, [250, 450]],
    // Where the request goes with the limit ratios say nothing.
    [
      {
        containers: [sampleGuaranteed()],
        limitRange: cpuRanges({ max: 900, ratio: 1 }, { ratio: 1 }),
      },
      [900],
    ],
  ];
  for (const [choice, expected] of cases) {
    const lowest = boundsOf(choice).map(({ ceilings }) =>
      Math.min(...ceilings.map(({ ceiling }) => ceiling))
    );
    assert.deepEqual(lowest, expected);
  }
});

pure("namespaceBounds() takes back what is owed from containers above their shares alone", () => {
  const raised = [["app", 500], ["proxy", 200], ["lowered", 150]] as const;
  const containers = raised.map(([name, cpu]) => sampleContainer({ name, limits: { cpu } }));
  const of = (owed: number) =>
    boundsOf({ containers, quota: shares({ app: 300, proxy: 100, lowered: 400 }, owed) })
      .map(({ backTo }) => backTo);
  assert.deepEqual(of(0), [undefined, undefined, undefined]);
  assert.deepEqual(of(90), [440, 170, undefined]);
  // Shares are never undercut.
  assert.deepEqual(of(1000), [300, 100, undefined]);
});

const NODE = sampleNode("node-1");
const asking = (cpu: number, more = {}) => sampleContainer({ requests: { cpu }, ...more });

pure("nodeRoom() is allocatable less the requests of pods that have not finished", () => {
  const pod = (change: Partial<Pod>, ...containers: readonly PodContainer[]): Pod => ({
    ...{ ...samplePod("web", { containers }), ...change },
  });
  const withInit = (...requests: readonly number[]): Pod =>
    pod(
      { initContainers: requests.map((cpu) => asking(cpu)) },
      asking(200),
      asking(50, { name: "proxy", sidecar: true }),
    );
  const cases: readonly (readonly [room: number, ...pods: Pod[]])[] = [
    [4000],
    [2500, pod({ phase: "Running" }, asking(1000), asking(500))],
    [3700, pod({ phase: "Pending" }, asking(300))],
    [4000, pod({ phase: "Succeeded" }, asking(700)), pod({ phase: "Failed" }, asking(700))],
    [-1000, pod({}, asking(5000))],
    // A request that has not fallen yet, and the largest init container beside the sidecars.
    [3100, pod({}, asking(100, { applied: { requests: { cpu: 900 } } }))],
    [3750, withInit()],
    [3750, withInit(100, 150)],
    [3650, withInit(100, 300)],
  ];
  for (const [room, ...pods] of cases) assert.equal(nodeRoom(NODE, pods), room);
});

pure("nodeCeiling() is what a Guaranteed pod has and all that is free on its node", () => {
  const cache = createObjectCache<Pod>(({ nodeName }) => [`node/${nodeName}`]);
  const own = samplePod("own", { containers: [sampleGuaranteed(), sampleGuaranteed()] });
  for (const one of [own, samplePod("other", { containers: [asking(2985)] })]) cache.put(one);
  cache.put(samplePod("far", { nodeName: "node-2" }));
  assert.equal(nodeCeiling({ pod: own, node: NODE }, cache), 400 + 610);
  assert.equal(nodeCeiling({ pod: own, node: undefined }, cache), undefined);
  assert.equal(nodeCeiling({ pod: samplePod("web"), node: NODE }, cache), undefined);
  cache.put(samplePod("more", { containers: [asking(1000)] }));
  assert.equal(nodeCeiling({ pod: own, node: NODE }, cache), 400);
});
