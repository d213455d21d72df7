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
import { createAgentMetrics } from "./agent_metrics.ts";

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
): ContainerResult {
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
  const shown = 'mbcas_node_limits_held{reason="SchedExt"} 1';
  for (const [view, expected] of [[{ held: "SchedExt" }, [shown]], [{}, []]] as const) {
    hold(view);
    assert.deepEqual(await scraped("mbcas_node_limits_held"), expected);
  }
});

pure("createAgentMetrics() shows each pod of the latest view that has a value", async () => {
  const { show, scraped, registry } = stage();
  const limits = async (): Promise<readonly string[]> =>
    (await scraped("mbcas_pod_limit_cores")).map((line) => line.slice(line.indexOf("{")));
  assert.deepEqual(await scraped("mbcas_pod_"), []);
  show(pod("a", { limit: 100, usage: 20, originalLimit: 50 }), pod("b", { limit: Infinity }));
  const text = await registry.metrics();
  assert.match(text, /^mbcas_pod_original_limit_cores\{namespace="shop",pod="a"\} 0\.05$/m);
  assert.match(text, /^mbcas_pod_usage_cores\{namespace="shop",pod="a"\} 0\.02$/m);
  assert.match(text, /^# HELP mbcas_pod_limit_cores CPU limit .*\n# TYPE \w+ gauge$/m);
  assert.match(text, /^# TYPE mbcas_pod_throttled_seconds_total counter$/m);
  const series = (name: string, value: string) => `{namespace="shop",pod="${name}"} ${value}`;
  assert.deepEqual(await limits(), [series("a", "0.1"), series("b", "+Inf")]);
  show(pod("b", { limit: 200 }));
  assert.deepEqual(await limits(), [series("b", "0.2")]);
  // Of two pods of one name the one with readings counts.
  const { usage: _usage, ...dead } = pod("b", { limit: 100 });
  const alive = pod("b", { uid: "another", limit: 300, usage: 5 });
  for (const pods of [[dead, alive], [alive, dead]]) {
    show(...pods);
    assert.deepEqual(await limits(), [series("b", "0.3")]);
  }
});

pure("mbcas_pod_unenforced_limits counts a pod's containers without a quota", async () => {
  const { show, scraped } = stage();
  const containers = pod("web").containers.map((one) => ({ ...one, quotaOff: true as const }));
  show(pod("web", { containers: [...containers, ...pod("db").containers] }), pod("db"));
  assert.deepEqual(await scraped("mbcas_pod_unenforced_limits"), [
    'mbcas_pod_unenforced_limits{namespace="shop",pod="web"} 1',
  ]);
});

pure("createAgentMetrics() counts scarce time and the limits that changed for it", async () => {
  const { metrics, scraped } = stage();
  const lowered = decided(APP, { limit: 450, changedFor: "NodeCongested" });
  const released = decided(APP, { from: 450, changedFor: "CPUFree" });
  const fallen = decided(APP, { limit: 450, changedFor: "CeilingFell" });
  const rounds = [[1000, SCARCE, lowered, lowered], [1500, SCARCE]] as const;
  for (const [now, nodeState, ...containers] of rounds) {
    metrics.cleared({ now, nodeState, containers }, 1);
  }
  metrics.cleared({ now: 3000, nodeState: AMPLE, containers: [released] }, 1);
  metrics.cleared({ now: 9000, nodeState: AMPLE, containers: [fallen] }, 1);
  assert.deepEqual([...await scraped("mbcas_node_scarce_s"), ...await scraped("mbcas_limits")], [
    "mbcas_node_scarce_seconds_total 2",
    "mbcas_limits_to_ceiling_total 1",
    "mbcas_limits_lowered_total 2",
  ]);
});

type Rounds = readonly (readonly (readonly [Participant | undefined, number])[])[];

/** Seconds throttled of pods `a` and `c` after rounds with these containers. */
async function throttled(...rounds: Rounds): Promise<readonly (string | undefined)[]> {
  const { metrics, scraped, show } = stage();
  for (const round of rounds) {
    const containers = round.map(([one, throttledMs]) => decided(one, { throttledMs }));
    metrics.cleared({ now: 0, nodeState: AMPLE, containers }, 1);
  }
  show(pod("a", { uid: "a" }), pod("c", { uid: "c" }));
  return (await scraped("mbcas_pod_throttled_seconds_total")).map((line) => line.split(" ")[1]);
}

const REBORN = SIDE === undefined ? undefined : { ...SIDE, containerID: "another" };

/** Rounds with their containers' throttled ms, and the seconds of pods `a` and `c` after them. */
const THROTTLED: readonly (readonly [string, Rounds, readonly string[]])[] = [
  // Ten samples of 100 ms since the second round.
  ["all that was read, once", [[[APP, 100]], [[APP, 100]], [[APP, 1100]]], ["1.1", "0"]],
  [
    "a pod's containers, one restarted",
    [[[APP, 1000], [SIDE, 500]], [[APP, 1000], [REBORN, 200]]],
    ["1.7", "0"],
  ],
  ["a state that begins anew", [[[APP, 1000]], [[APP, 0]], [[APP, 300]]], ["1.3", "0"]],
  ["a pod that was gone, from 0", [[[APP, 1000], [OTHER, 20]], [[OTHER, 20]]], ["0", "0.02"]],
];

for (const [what, rounds, expected] of THROTTLED) {
  pure(`mbcas_pod_throttled_seconds_total counts ${what}`, async () => {
    assert.deepEqual(await throttled(...rounds), expected);
  });
}
