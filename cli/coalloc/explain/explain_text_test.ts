import assert from "node:assert/strict";
import { sampleContainer, samplePod } from "../../../tests/contract/sample_objects.ts";
import {
  sampleContainerView,
  sampleNodeView,
  samplePodView,
} from "../../../tests/fixtures/node_views.ts";
import { restoredMessage } from "../../../shared/actuation/restored_message.ts";
import type { Pod } from "../../../shared/api/pod.ts";
import type { PodAllocation } from "../../../shared/api/pod_allocation.ts";
import type { ContainerView } from "../../../shared/view/node_view.ts";
import { DEFAULT_MARKET_SETTINGS } from "../market_settings.ts";
import { explainText } from "./explain_text.ts";
import { type Explanation, type ExplanationInput, explanationOf } from "./explanation.ts";
import { heldBack } from "./held_back.ts";

const POD: Pod = {
  ...samplePod("web", {
    containers: [sampleContainer({ containerID: "containerd://web", appliedLimitCPU: 200 })],
  }),
  phase: "Running",
};

const ALLOCATION: PodAllocation = {
  apiVersion: "allocation.mbcas.io/v1alpha1",
  kind: "PodAllocation",
  metadata: { name: "web", namespace: "shop", uid: "", resourceVersion: "" },
  spec: {
    podName: "web",
    podUID: "",
    nodeName: "node-1",
    namespace: "shop",
    desiredCPULimit: "200m",
    containers: [{ name: "app", cpuLimit: "200m" }],
    market: {
      mode: "congested",
      price: 0.266_666,
      demand: 480,
      need: 480,
      credit: 1.2,
      reason: "Throttled",
      observedBounds: 7,
    },
  },
  status: {
    originalLimits: [{ name: "app", cpu: "200m" }],
    bounds: {
      revision: 7,
      reason: "own limit × 4",
      containers: [
        { name: "app", containerID: "containerd://web", floor: 100, ceiling: 800, weight: 100 },
      ],
    },
    phase: "Applied",
    reason: "Applied",
  },
};

function nodeView(container: Partial<ContainerView> = {}, node = {}) {
  const pod = samplePodView("web", { uid: "", container: sampleContainerView(container) });
  return sampleNodeView([pod], node);
}

function viewOf(container: ContainerView) {
  return samplePodView("web", { uid: "", container });
}

function explanation(change: Partial<ExplanationInput> = {}): Explanation {
  return explanationOf({
    pod: POD,
    namespace: undefined,
    settings: DEFAULT_MARKET_SETTINGS,
    allocation: ALLOCATION,
    nodeView: nodeView({ waiting: "raise to 450m waits for funds" }),
    problems: [],
    nowMs: Date.UTC(2026, 0, 1, 0, 0, 0, 250),
    ...change,
  });
}

function cause(change: Partial<ExplanationInput>): string | undefined {
  return heldBack(explanation(change))?.by;
}

function controllerSays(
  status: Partial<NonNullable<PodAllocation["status"]>>,
): Partial<ExplanationInput> {
  return { allocation: { ...ALLOCATION, status: { ...ALLOCATION.status, ...status } } };
}

Deno.test({
  name: "explainText() tells the path from readings to limit",
  permissions: "none",
  fn() {
    assert.equal(
      explainText(explanation()),
      `\
Pod shop/web on node node-1: Burstable, Running
Held back: node node-1 is congested: its 3.60 cores are divided, and the share of app is 450m of the 480m that it needs
What to do: a larger request or priority gives a larger share; so does a less busy node

Readings     250ms ago, by the node's agent
  app        uses 198m of a quota of 200m; held back 412 ms in every second, in 86 % of the periods
Demand
  app        would use 480m: what its quota holds back can't show in the usage
Bounds       revision 7; own limit × 4
  app        floor 100m, ceiling 800m, weight 100 × credit 1.20
Clearing     node node-1 is congested at price 0.267: 3.42 of 3.60 cores committed, 0.20 unmanaged, 4.00 allocatable
  app        need 480m, share 450m: weight × credit / price = 100 × 1.20 / 0.267 = 450m, less than it needs
Pacing
  app        limit 200m, target 450m: raise to 450m waits for funds
Desired      200m for Throttled: the container was held back by its limit
  app        200m; own limit 200m
Controller   Applied: the kubelet reports the desired limits
Kubelet
  app        limit 200m in the spec, 200m applied; request 100m
`,
    );
  },
});

Deno.test({
  name: "explainText() uses what was written down where no agent answers",
  permissions: "none",
  fn() {
    const text = explainText(
      explanation({ nodeView: undefined, problems: ["No agent runs on node node-1"] }),
    );
    assert.match(
      text,
      /^Market +congested at price 0\.267: demand 480m, need 480m, credit 1\.20 \(as last written\)$/m,
    );
    assert.match(text, /^Held back: the node is congested: its demand of 480m is above its limit/m);
    assert.match(text, /^No agent runs on node node-1$/m);
    const young = explainText(explanation({ nodeView: undefined, allocation: undefined }));
    assert.match(young, /^Held back: the controller has made no allocation for the pod$/m);
    assert.match(young, /^Bounds +none yet/m);
  },
});

Deno.test({
  name: "explainText() says why a pod is outside the market, and how to bring it in",
  permissions: "none",
  fn() {
    const pod = {
      ...POD,
      metadata: { ...POD.metadata, annotations: { "mbcas.io/managed": "false" } },
    };
    assert.equal(
      explainText(explanation({ pod, allocation: undefined, nodeView: undefined })),
      `\
Pod shop/web on node node-1: Burstable, Running
Not in the market: OptedOut: the pod says mbcas.io/managed: "false"
What to do: to opt in, remove mbcas.io/managed from pod and namespace (label and annotation)

Kubelet
  app     limit 200m in the spec, 200m applied; request 100m
`,
    );
  },
});

Deno.test({
  name: "heldBack() finds the outermost cause",
  permissions: "none",
  fn() {
    const calm = {
      usage: 30,
      demand: 40,
      need: 100,
      share: 100,
      target: 200,
      heldBackMsPerSecond: 0,
    };
    assert.equal(cause({ nodeView: nodeView(calm) }), undefined);
    assert.equal(
      cause({ settings: { ...DEFAULT_MARKET_SETTINGS, market: false } }),
      "OutsideTheMarket",
    );
    assert.equal(cause({ pod: { ...POD, phase: "Pending" } }), "NotRunning");
    assert.equal(
      cause({ pod: { ...POD, metadata: { ...POD.metadata, terminating: true } } }),
      "NotRunning",
    );
    assert.equal(cause({ allocation: undefined }), "NoAllocation");
    assert.equal(cause({ allocation: { ...ALLOCATION, status: undefined } }), "ControllerHolds");
    assert.equal(cause(controllerSays({ reason: "QuotaExceeded" })), "ControllerHolds");
    assert.equal(
      cause({
        pod: {
          ...POD,
          containers: POD.containers.map((one) => ({ ...one, limitCPU: 450 })),
          resizeConditions: [{ type: "PodResizePending", reason: "Deferred", message: "no room" }],
        },
      }),
      "KubeletIsBehind",
    );
    assert.equal(cause({ nodeView: nodeView({ limit: 200, ceiling: 200 }) }), "CeilingBinds");
    const { usage: _usage, demand: _demand, ...young } = sampleContainerView();
    assert.equal(cause({ nodeView: sampleNodeView([viewOf(young)]) }), "NoReadings");
    assert.equal(cause({ nodeView: sampleNodeView([]) }), "NoReadings");
    assert.equal(cause({}), "NodeIsShort");
    const enough = { share: 480, target: 480, waiting: "raise to 480m waits 1 s after the last" };
    assert.equal(cause({ nodeView: nodeView(enough) }), "PacingWaits");
    const [bounds] = ALLOCATION.status?.bounds?.containers ?? [];
    assert(bounds !== undefined);
    assert.equal(
      cause(controllerSays({
        bounds: {
          revision: 7,
          reason: "QoSWouldChange",
          containers: [{ ...bounds, held: "both" }],
        },
      })),
      "BoundsHold",
    );
  },
});

/** The head of the text, without the pod's line. */
function verdict(change: Partial<ExplanationInput>): string {
  return explainText(explanation(change)).split("\n").slice(1).join("\n").split("\n\n")[0] ?? "";
}

Deno.test({
  name: "explainText() says that the limit covers the demand only where that is known",
  permissions: "none",
  fn() {
    const covers = "Held back by nothing: the limit covers the demand";
    const enough = { share: 480, target: 480 };
    assert.equal(verdict({ nodeView: nodeView({ demand: 201, ...enough }) }), covers);
    const unknown = "Nothing is known to hold it back: demand 480m, limit 200m";
    assert.equal(verdict({ nodeView: nodeView(enough) }), unknown);
    const written = { demand: 100, need: 100, mode: "congested" as const, credit: 1 };
    const market = { ...written, reason: "DemandFell", observedBounds: 7 };
    const { market: _market, ...bare } = ALLOCATION.spec;
    const allocation = { ...ALLOCATION, spec: { ...bare, market } };
    const asWritten = (figures: string): string =>
      `Nothing is known to hold it back: as last written down: ${figures}; ` +
      "the agent's readings are not known";
    assert.equal(
      verdict({ nodeView: undefined, allocation }),
      asWritten("demand 100m, limit 200m"),
    );
    assert.equal(
      verdict({ nodeView: undefined, allocation: { ...ALLOCATION, spec: bare } }),
      asWritten("demand not known, limit 200m"),
    );
  },
});

Deno.test({
  name: "explainText() names containers without readings, and the node whose agent has none",
  permissions: "none",
  fn() {
    const { usage: _usage, demand: _demand, ...young } = sampleContainerView();
    assert.equal(
      verdict({ nodeView: sampleNodeView([viewOf(young)]) }),
      "Held back: the agent has no readings of app: its limit stays\n" +
        "What to do: if it lasts, look at the log of the agent on node node-1",
    );
    assert.doesNotMatch(verdict({}), /no readings/);
    // A container without bounds has no limit that could be moved.
    const plain = { ...sampleContainer({ name: "plain" }) };
    const calm = nodeView({ demand: 40, need: 100, share: 100, target: 200 });
    assert.match(
      verdict({ nodeView: calm, pod: { ...POD, containers: [...POD.containers, plain] } }),
      /^Held back by nothing/,
    );
  },
});

Deno.test({
  name: "explainText() says when the last change was applied, where that is on record",
  permissions: "none",
  fn() {
    const lastAppliedTime = "2025-12-31T23:57:00.000Z";
    const line = (status: Parameters<typeof controllerSays>[0]) =>
      explainText(explanation(controllerSays(status))).split("\n")
        .find((one) => one.startsWith("Controller"));
    assert.equal(
      line({ lastAppliedTime }),
      "Controller   Applied 3m ago: the kubelet reports the desired limits",
    );
    assert.match(line({ lastAppliedTime: "soon" }) ?? "", /Applied: the kubelet/);
    const deferred = { phase: "Pending", reason: "ResizeDeferred" } as const;
    assert.match(line({ ...deferred, lastAppliedTime }) ?? "", /; last change 3m ago$/);
    assert.doesNotMatch(line(deferred) ?? "", /last change/);
  },
});

Deno.test({
  name: "explainText() says in the clearing why a node's capacity is smaller, and only then",
  permissions: "none",
  fn() {
    const clearing = (node: object): string =>
      explainText(explanation({ nodeView: nodeView({}, node) })).split("\n")
        .find((line) => line.startsWith("Clearing")) ?? "";
    assert.match(clearing({}), /allocatable$/);
    const pressed = clearing({ pressures: ["MemoryPressure"] });
    assert.match(pressed, /allocatable; the capacity is smaller for MemoryPressure: each takes/);
  },
});

Deno.test({
  name: "explainText() tells what to do about the cause for which own limits are back",
  permissions: "none",
  fn() {
    const restored = { phase: "Applied", reason: "Restored" } as const;
    const told = "the node's agent has not renewed its lease";
    const message = restoredMessage({ reason: "AgentSilent", message: told });
    assert.match(
      verdict(controllerSays({ ...restored, message })),
      /AgentSilent: .*\nWhat to do: look at the node's agent: kubectl -n mbcas-system get pods/,
    );
    assert.match(
      verdict(controllerSays({ ...restored, message: `the user's own limits are back: ${told}` })),
      /What to do: nothing: the message says why/,
    );
  },
});
