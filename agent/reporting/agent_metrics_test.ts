import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { Registry } from "prom-client";
import type { NodeView, PodView } from "../../shared/view/node_view.ts";
import {
  boundedAllocation,
  sampleBounds,
} from "../../tests/fixtures/market/sample_participants.ts";
import { sampleNodeView, samplePodView } from "../../tests/fixtures/cli/node_views.ts";
import { type Participant, participantsOf } from "../market/participants.ts";
import type { ContainerResult } from "../market/round.ts";
import { createAgentMetrics, type DecidedRound } from "./agent_metrics.ts";

function stage() {
  const registry = new Registry();
  const now: { view?: NodeView } = {};
  const metrics = createAgentMetrics({ registry, view: () => now.view });
  return {
    registry,
    metrics,
    show: (...pods: PodView[]) => void (now.view = sampleNodeView(pods)),
    hold: (held: Pick<NodeView, "held">) => void (now.view = { ...sampleNodeView([]), ...held }),
    /** The lines of a scrape that begin so. */
    scraped: async (name: string): Promise<string[]> =>
      (await registry.metrics()).split("\n").filter((line) => line.startsWith(name)),
  };
}

function pod(name: string, change: Partial<PodView> = {}): PodView {
  return { ...samplePodView(name), ...change };
}

const SCARCE = { state: "scarce", since: 0 } as const;
const AMPLE = { state: "ample", since: 3000 } as const;

/** A container after a round in which it was throttled for so long in all, ms. */
function decided(
  participant: Participant | undefined,
  { throttledMs = 0, ...change }: Partial<ContainerResult> & { throttledMs?: number },
): DecidedRound["containers"][number] {
  const container = { participant, state: { throttledMs }, from: 800, limit: 800, ...change };
  return container as ContainerResult;
}

const [APP, SIDE] = participantsOf(boundedAllocation("a", {
  status: {
    bounds: {
      revision: 1,
      reason: "",
      containers: [sampleBounds("a"), sampleBounds("b", { name: "side" })],
    },
  },
}));
const [OTHER] = participantsOf(boundedAllocation("c"));

pure("createAgentMetrics() shows that limits are held, and why, while they are", async () => {
  const { hold, scraped } = stage();
  assert.deepEqual(await scraped("mbcas_node_limits_held"), []);
  hold({ held: "SchedExt" });
  assert.deepEqual(await scraped("mbcas_node_limits_held"), [
    'mbcas_node_limits_held{reason="SchedExt"} 1',
  ]);
  hold({});
  assert.deepEqual(await scraped("mbcas_node_limits_held"), []);
});

pure("a metric has the value of each pod of the latest view, where there is one", async () => {
  const { show, scraped, registry } = stage();
  assert.deepEqual(await scraped("mbcas_pod_"), []);
  const usage = 20;
  show(pod("a", { limit: 100, usage }), pod("b", { limit: Infinity }));
  assert.deepEqual(await scraped("mbcas_pod_limit_cores"), [
    'mbcas_pod_limit_cores{namespace="shop",pod="a"} 0.1',
    'mbcas_pod_limit_cores{namespace="shop",pod="b"} +Inf',
  ]);
  assert.deepEqual((await scraped("mbcas_pod_usage_cores{"))[0]?.split(" ")[1], "0.02");
  const text = await registry.metrics();
  assert.match(text, /^# HELP mbcas_pod_limit_cores CPU limit .*\n# TYPE \w+ gauge$/m);
  assert.match(text, /^# TYPE mbcas_pod_throttled_seconds_total counter$/m);
  show(pod("b", { limit: 200 }), pod("a", { limit: 300 }));
  assert.deepEqual(await scraped("mbcas_pod_limit_cores"), [
    'mbcas_pod_limit_cores{namespace="shop",pod="b"} 0.2',
    'mbcas_pod_limit_cores{namespace="shop",pod="a"} 0.3',
  ]);
  show();
  assert.deepEqual(await scraped("mbcas_pod_limit_cores"), []);
});

pure("of two pods of one name, the series are those of the one with readings", async () => {
  const { show, scraped } = stage();
  const { usage: _usage, ...dead } = pod("web-0", { limit: 100 });
  const alive = pod("web-0", { uid: "another", limit: 200, usage: 5 });
  for (const pods of [[dead, alive], [alive, dead]]) {
    show(...pods);
    assert.deepEqual(await scraped("mbcas_pod_limit_cores"), [
      'mbcas_pod_limit_cores{namespace="shop",pod="web-0"} 0.2',
    ]);
  }
});

pure(
  "mbcas_pod_unenforced_limits counts a pod's containers without a quota, and names no others",
  async () => {
    const { show, scraped } = stage();
    const [sample] = pod("web").containers;
    assert.ok(sample !== undefined);
    const web = pod("web", { containers: [{ ...sample, quotaOff: true }, sample] });
    show(web, pod("db", { containers: [sample] }));
    assert.deepEqual(await scraped("mbcas_pod_unenforced_limits"), [
      'mbcas_pod_unenforced_limits{namespace="shop",pod="web"} 1',
    ]);
  },
);

pure("createAgentMetrics() counts scarce time and the limits that changed for it", async () => {
  const { metrics, scraped } = stage();
  const lowered = decided(APP, { limit: 450, changedFor: "NodeCongested" });
  const released = decided(APP, { from: 450, changedFor: "CPUFree" });
  const fallen = decided(APP, { limit: 450, changedFor: "CeilingFell" });
  metrics.decided({ now: 1000, nodeState: SCARCE, containers: [lowered, lowered] });
  metrics.decided({ now: 1500, nodeState: SCARCE, containers: [] });
  metrics.decided({ now: 3000, nodeState: AMPLE, containers: [released] });
  metrics.decided({ now: 9000, nodeState: AMPLE, containers: [fallen] });
  assert.deepEqual([...await scraped("mbcas_node_scarce_s"), ...await scraped("mbcas_limits")], [
    "mbcas_node_scarce_seconds_total 2",
    "mbcas_limits_to_ceiling_total 1",
    "mbcas_limits_lowered_total 2",
  ]);
});

/** Seconds throttled of pods `a` and `c` after rounds with these containers. */
async function throttled(
  ...rounds: readonly (readonly (readonly [Participant | undefined, number])[])[]
): Promise<readonly (string | undefined)[]> {
  const { metrics, scraped, show } = stage();
  for (const round of rounds) {
    const containers = round.map(([one, throttledMs]) => decided(one, { throttledMs }));
    metrics.decided({ now: 0, nodeState: AMPLE, containers });
  }
  show(pod("a", { uid: "a" }), pod("c", { uid: "c" }));
  return (await scraped("mbcas_pod_throttled_seconds_total")).map((line) => line.split(" ")[1]);
}

pure("throttled seconds count all that was read between two rounds, once", async () => {
  // Ten samples of 100 ms since the second round.
  const rounds = [[[APP, 100]], [[APP, 100]], [[APP, 1100]]] as const;
  assert.deepEqual(await throttled(...rounds), ["1.1", "0"]);
});

pure("throttled seconds sum a pod's containers, and go on when one is restarted", async () => {
  const reborn = SIDE === undefined ? undefined : { ...SIDE, containerID: "another" };
  const rounds = [[[APP, 1000], [SIDE, 500]], [[APP, 1000], [reborn, 200]]] as const;
  assert.deepEqual(await throttled(...rounds), ["1.7", "0"]);
});

pure("throttled seconds never fall where a container's state begins anew", async () => {
  assert.deepEqual(await throttled([[APP, 1000]], [[APP, 0]], [[APP, 300]]), ["1.3", "0"]);
});

pure("throttled seconds of a pod begin anew once it was gone", async () => {
  const rounds = [[[APP, 1000], [OTHER, 20]], [[OTHER, 20]]] as const;
  assert.deepEqual(await throttled(...rounds), ["0", "0.02"]);
});
