import { blockerOf } from "../../../shared/view/blocker.ts";
import type { ContainerView, NodeView } from "../../../shared/view/node_view.ts";
import { boundsNotes, clearingText, stateText } from "../../../shared/view/stage_text.ts";
import { assertTexts } from "../../../tests/fixtures/assert_sentences.ts";
import {
  app,
  BOUNDS,
  bounds,
  type Change,
  ENOUGH,
  explained,
  held,
  IDLE,
  MARKET,
  OFF,
  sampleContainerView,
  sampleNodeView,
  UNREAD,
  UNSEEN,
} from "../../../tests/fixtures/cli/node_views.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import { explainText } from "./explain_text.ts";

const page = (change: Change): string => explainText(explained(change));
const lineOf = (stage: string, change: Change): string =>
  page(change).split("\n").find((line) => line.startsWith(stage)) ?? "";

/** An uncongested node; each container is in another situation. */
const MANY: Change = {
  nodeView: {
    ...sampleNodeView([], { mode: "uncongested", price: 0 }),
    pressures: ["MemoryPressure", "DiskPressure"],
    cpuPressure: { share: 0.123, seconds: 60 },
    ...{ pods: 0, ageMs: 5000 },
  },
  cpuPressure: { share: 0.345, seconds: 40 },
  bounds: bounds("HPADamped", "PodNotReady", "NodeDraining", "Moonlight"),
  market: { ...MARKET, observedBounds: 6 },
  controller: { phase: "Pending", reason: "ResizeDeferred", appliedAgeMs: 180_000 },
  containers: [
    app({ ...IDLE, throttledShare: 0 }, held("half")),
    app({ ...ENOUGH, target: 600 }, { name: "full", ...held("lower") }),
    app({ demand: 900 }, { name: "metric", bounds: { ...BOUNDS, boost: true, demand: 900 } }),
    app(UNREAD, { name: "young", ...held("both") }),
    app(
      { ...IDLE, usage: 40, enforced: undefined, limit: 450 },
      { name: "none", bounds: { ...BOUNDS, demand: 25 } },
    ),
  ],
};

const HELD_NODE = { ...sampleNodeView([]), pods: 0, ageMs: 250, held: "SchedExt" } as const;

/** The head of the page: the rule that finds what blocks the pod, the cause and the remedy. */
const head = (change: Change) => (): string => {
  const lines = page(change).split("\n\n")[0]?.split("\n").slice(1) ?? [];
  const { by } = blockerOf(explained(change)) ?? {};
  return (by === undefined ? "" : `${by}: `) + lines.join("\n");
};

Deno.test("sentences of explain: whole pages", () =>
  assertTexts(
    {
      "congested": () => page({}),
      "no agent": () => page({ ...UNSEEN, problems: ["No agent runs on node node-1"] }),
      // Pacing and Kubelet have one line each: those of all containers are alike.
      "each stage": () => page(MANY).replaceAll(/^ {2}(full|metric|young|none) +limit .*\n/gm, ""),
      "outside": () =>
        page({
          ...UNSEEN,
          outside: { reason: "OptedOut", message: "the pod is opted out" },
          hasAllocation: false,
        }),
    },
    `\
congested
| Pod shop/web on node node-1: Burstable, Running
| Blocked: node node-1 is congested: its 3.60 cores are divided, and the share of app is 450m of the 480m that it needs
| What to do: give the pod a larger request or priority, or make room on the node
|
| Readings     250ms ago, by the node's agent
|   app        uses 198m of a quota of 200m; throttled 412 ms in every second, in 86 % of the periods
| Demand
|   app        would use 480m: its usage can't show throttled demand
| Bounds       revision 7; original limit × 4
|   app        floor 100m, ceiling 800m, weight 100 × credit 1.20
| Clearing     node node-1 is congested at price 267: 3.42 of 3.60 cores committed, 0.20 unmanaged, 4.00 allocatable
|   app        need 480m, share 450m: weight × credit / price = 100 × 1.20 / 267 = 450m, less than it needs
| Pacing
|   app        limit 200m, target 450m: raise to 450m waits until other limits are lowered
| Desired      200m for Throttled: the container was throttled by its limit
|   app        200m; original limit 200m
| Controller   Applied: the kubelet reports the desired limits
| Kubelet
|   app        limit 200m in the spec, 200m applied; request 100m
no agent
| Pod shop/web on node node-1: Burstable, Running
| Blocked: the node is congested: its demand of 480m is above its limit of 200m, as last written down
| What to do: give the pod a larger request or priority, or make room on the node
|
| Market       congested at price 267: demand 480m, need 480m, credit 1.20 (as last written)
| Bounds       revision 7; original limit × 4
|   app        floor 100m, ceiling 800m, weight 100
| Desired      200m for Throttled: the container was throttled by its limit
| Controller   Applied: the kubelet reports the desired limits
| Kubelet
|   app        limit 200m in the spec, 200m applied; request 100m
| No agent runs on node node-1
each stage
| Pod shop/web on node node-1: Burstable, Running
| Blocked: ResizeDeferred: the kubelet has deferred the resize
| What to do: nothing: the kubelet tries again; the pod's conditions show why it waits
|
| Readings     5s ago, by the node's agent; CPU pressure in the last 10 s: pod 35 %, node 12 %
|   app        uses 30m of a quota of 200m; not throttled
|   full       uses 198m of a quota of 200m; throttled 412 ms in every second, in 86 % of the periods
|   metric     uses 198m of a quota of 200m; throttled 412 ms in every second, in 86 % of the periods
|   young      no readings yet
|   none       uses 40m without a quota; not throttled, in 86 % of the periods
| Demand
|   app        would use 40m: its recent usage with room for its swings
|   full       would use 480m: its usage can't show throttled demand
|   metric     would use 900m: a metric asks for 900m
|   young      unknown while there are no readings: the limit stays
|   none       would use 40m: its usage, since nothing throttles it; a metric asks for 25m
| Bounds       revision 7 (the last written clearing used 6)
|   app        floor 100m, ceiling 800m, weight 100 × credit 1.20; held, lowered by half steps only: HPADamped
|   full       floor 100m, ceiling 800m, weight 100 × credit 1.20; held, not to be lowered: PodNotReady
|   metric     floor 100m, ceiling 800m, weight 100 × credit 1.20; boosted while the pod starts: gets what the node has to spare
|   young      floor 100m, ceiling 800m, weight 100 × credit 1.20; held as it is: NodeDraining
|   none       floor 100m, ceiling 800m, weight 100 × credit 1.20
|              HPADamped: an HPA scales the workload on CPU: limits fall in half steps (app, HPADamped)
|              what to do: to ignore the HPA, set mbcas.io/hpa-coordination: "false" on workload, pods or HPA
|              PodNotReady: the pod is not Ready: its limits are not lowered (app, PodNotReady)
|              what to do: check the pod's conditions and readiness probes: kubectl describe pod
|              NodeDraining: an autoscaler is about to remove the node: limits stay as they are (app, NodeDraining)
|              what to do: nothing: pods that move get their share on another node
|              Moonlight: a reason that this version does not know (app, Moonlight)
| Clearing     node node-1 is uncongested at price 0: 3.42 of 3.60 cores committed, 0.20 unmanaged, 4.00 allocatable; the capacity is smaller for MemoryPressure and DiskPressure: each takes a tenth
|   app        need 100m, share 100m: all needs fit the node
|   full       need 480m, share 480m: all needs fit the node
|   metric     need 480m, share 450m: all needs fit the node
|   young      need 480m, share 450m: all needs fit the node
|   none       need 100m, share 100m: all needs fit the node
| Pacing
|   app        limit 200m is at its target
| Desired      200m for Throttled: the container was throttled by its limit
| Controller   Pending, ResizeDeferred: the kubelet has deferred the resize; last change 3m ago
| Kubelet
|   app        limit 200m in the spec, 200m applied; request 100m
outside
| Pod shop/web on node node-1: Burstable, Running
| Not in the market: OptedOut: the pod is opted out
| What to do: to opt in, remove mbcas.io/managed from pod and namespace (label and annotation)
|
| Kubelet
|   app     limit 200m in the spec, 200m applied; request 100m
`,
  ));

Deno.test("sentences of explain: what blocks the pod", () =>
  assertTexts(
    {
      "terminating": head({ terminating: true }),
      "no node": head({ node: "" }),
      "not running": head({ phase: "Pending", hasAllocation: false }),
      "no allocation": head({ hasAllocation: false, nodeView: HELD_NODE }),
      "node with sched_ext": head({ nodeView: HELD_NODE, controller: { reason: "Waiting" } }),
      "no status": head({ controller: {} }),
      "kubelet without a condition": head({ containers: [app({}, { limit: 450 })] }),
      "kubelet with a condition": head({
        containers: [app(IDLE, { limit: 450 })],
        resizeConditions: [{ type: "PodResizePending", reason: "Deferred", message: "no room" }],
      }),
      "held": head({ containers: [app({}, held("both"))] }),
      "ceiling": head({ containers: [app({ ceiling: 200 })] }),
      "no readings": head({ containers: [app(UNREAD)] }),
      "no agent": head({ ...UNSEEN, market: { ...MARKET, need: 200 } }),
      "waiting": head({ containers: [app({ ...ENOUGH, waiting: "raise waits 1 s" })] }),
    },
    `\
terminating
  NotRunning: Blocked: the pod is terminating
no node
  NotRunning: Blocked: the pod is on no node yet
not running
  NotRunning: Blocked: the pod is Pending
no allocation
  NoAllocation: Blocked: the controller has made no allocation for the pod
  What to do: does it run? kubectl get pods -A -l app.kubernetes.io/name=mbcas-controller
node with sched_ext
  NodeHoldsLimits: Blocked: no limit moves on node node-1: SchedExt: a sched_ext scheduler runs on the node, so the kernel enforces no CPU limits: the market moves none
  What to do: detach the scheduler (/sys/kernel/sched_ext/state shows it), or exclude the node's pods from the market
no status
  ControllerHolds: Blocked: the controller has not checked the desired limit yet
  What to do: if it lasts, does it run? kubectl get pods -A -l app.kubernetes.io/name=mbcas-controller
kubelet without a condition
  KubeletIsBehind: Blocked: the kubelet still has 200m for app, not 450m: it has not said why
kubelet with a condition
  KubeletIsBehind: Blocked: the kubelet still has 200m for app, not 450m: PodResizePending: Deferred: no room
held
  BoundsHold: Blocked: the controller keeps the limit of app as it is: original limit × 4
ceiling
  CeilingBinds: Blocked: the ceiling of app, 200m (original limit × 4), is below its demand of 480m
  What to do: a larger original limit, mbcas.io/max-cpu or burst factor raises the ceiling
no readings
  NoReadings: Blocked: the agent has no readings of app: its limit stays
  What to do: if it lasts, look at the log of the agent on node node-1
no agent
  WrittenNeedIsBounded: Blocked: the ceiling: its demand of 480m is above its limit of 200m, as last written down
waiting
  PacingWaits: Blocked: for a moment by pacing: app: raise waits 1 s
`,
  ));

Deno.test("sentences of explain: nothing known blocks the pod", () =>
  assertTexts(
    {
      "not covered": head({ containers: [app(ENOUGH)] }),
      "kept": head({ bounds: bounds("PodNotReady"), containers: [app(IDLE, held("lower"))] }),
      "QuotaOff": head({ containers: [app(OFF)] }),
      "QuotaOff: two": head({ containers: [app(OFF), app(OFF, { name: "side" })] }),
      "QuotaOff: covered": head({ containers: [app(OFF), app(IDLE, { name: "side" })] }),
      "QuotaOff: not covered": head({ containers: [app(OFF), app(ENOUGH, { name: "side" })] }),
      "no agent": head({ ...UNSEEN, market: undefined }),
      "no agent: QuotaOff": head({ ...UNSEEN, market: { ...MARKET, reason: "QuotaOff" } }),
    },
    `\
not covered
  Nothing is known to block it: demand 480m, limit 200m
kept
  Not blocked: the limit covers the demand; app is held, not to be lowered: PodNotReady
QuotaOff
  Not blocked: the limit of app is not enforced: QuotaOff
  What to do: set cpuCFSQuota: true in the kubelet's configuration, and give the container no exclusive CPUs
QuotaOff: two
  Not blocked: the limits of app, side are not enforced: QuotaOff
  What to do: set cpuCFSQuota: true in the kubelet's configuration, and give the container no exclusive CPUs
QuotaOff: covered
  Not blocked: what is limited has what it demands; the limit of app is not enforced: QuotaOff
  What to do: set cpuCFSQuota: true in the kubelet's configuration, and give the container no exclusive CPUs
QuotaOff: not covered
  Nothing is known to block it: demand 480m, limit 200m beside what is free; the limit of app is not enforced: QuotaOff
  What to do: set cpuCFSQuota: true in the kubelet's configuration, and give the container no exclusive CPUs
no agent
  Nothing is known to block it: as last written down: demand not known, limit 200m; the agent's readings are not known
no agent: QuotaOff
  Nothing is known to block it: as last written down: demand 480m, limit 200m, QuotaOff; the agent's readings are not known
  What to do: set cpuCFSQuota: true in the kubelet's configuration, and give the container no exclusive CPUs
`,
  ));

const CONGESTED = { mode: "congested", price: 1765, idleCPU: "tight" } as const;
const FREE_BUT_CONGESTED = { ...CONGESTED, idleCPU: "free" } as const;

Deno.test("sentences of explain: stages", () =>
  assertTexts(
    {
      "held both": () => boundsNotes({ held: "both" }, {}),
      "no bounds": () => lineOf("Bounds", { bounds: undefined }),
      "overloaded": () =>
        clearingText(app({}).view, { ...CONGESTED, mode: "overloaded", price: null }),
      "enough": () => clearingText(app(ENOUGH).view, { ...CONGESTED, price: 200 }),
      "floor": () => clearingText(app({ share: 100 }).view, CONGESTED),
      "need within the floor": () => clearingText(app({ need: 90, share: 90 }).view, CONGESTED),
      "free": () => clearingText(app({}).view, FREE_BUT_CONGESTED),
      "free: enough": () =>
        clearingText(app({ share: 480, originalLimit: 300 }).view, FREE_BUT_CONGESTED),
      "free: need within the original limit": () =>
        clearingText(app({ share: 480, originalLimit: 500 }).view, FREE_BUT_CONGESTED),
      "no market": () => lineOf("Market", { ...UNSEEN, market: undefined }),
      "no status": () => lineOf("Controller", { controller: {} }),
    },
    `\
held both
  ; held as it is
no bounds
  Bounds       none yet: the controller has not published them
overloaded
  need 480m, share 450m: the floors alone exceed the node, limits stay at their floors
enough
  need 480m, share 480m: weight × credit / price = 100 × 1.20 / 200 = 600m, enough for its need
floor
  need 480m, share 100m: its floor, since weight × credit / price = 100 × 1.20 / 1765 = 68m is less
need within the floor
  need 90m, share 90m: its need is within its floor, though weight × credit / price = 100 × 1.20 / 1765 = 68m is less
free
  need 480m, share 450m: its part by request, original limit, priority and credit, less than it needs
free: enough
  need 480m, share 480m: its part by request, original limit, priority and credit, enough for its need
free: need within the original limit
  need 480m, share 480m: its need is within its original limit
no market
  Market       the agent has not decided on a limit for the pod yet
no status
  Controller   has not looked at it yet
`,
  ));

const FREE = { mode: "uncongested", price: 0, state: "ample", idleCPU: "free" } as const;

/** The sentence of a node with these containers; empty where there is none. */
function stateOf(node: Partial<NodeView>, ...views: Partial<ContainerView>[]): string {
  return stateText(sampleNodeView([], node), views.map(sampleContainerView)) ?? "";
}

pure("sentences of explain: whether CPU is scarce", () =>
  assertTexts(
    {
      "free": () => stateOf(FREE, { limit: 800, target: 800 }),
      "free, not there yet": () => stateOf(FREE, { target: 800 }),
      "free, the request moves with the limit": () => stateOf(FREE, { target: 480 }),
      "ample, limits follow demand": () => stateOf({ ...FREE, idleCPU: "tight" }, {}),
      "scarce": () =>
        stateOf({ state: "scarce", stateSeconds: 12.3 }, { share: 240 }, { share: 400 }),
      "no container of the pod": () => stateOf(FREE),
    },
    `\
free
  CPU is free on this node: limit at its ceiling
free, not there yet
  CPU is free on this node: limit on its way to its ceiling
free, the request moves with the limit
  CPU is free on this node: limit follows the need, since the request moves with it
ample, limits follow demand

scarce
  CPU is scarce since 12 s: share 640m of 3.6 CPUs, price 267
no container of the pod

`,
  ));
