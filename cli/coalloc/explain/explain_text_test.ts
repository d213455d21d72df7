import assert from "node:assert/strict";
import type { Pod } from "../../../shared/api/pod.ts";
import type { PodAllocation } from "../../../shared/api/pod_allocation.ts";
import { restoredMessage } from "../../../shared/resize/scope.ts";
import type { ContainerView } from "../../../shared/view/node_view.ts";
import { sampleContainer, samplePod } from "../../../tests/contract/support/sample_objects.ts";
import {
  sampleContainerView,
  sampleNodeView,
  samplePodView,
} from "../../../tests/fixtures/cli/node_views.ts";
import { DEFAULT_MARKET_SETTINGS } from "../market_settings.ts";
import { explainText } from "./explain_text.ts";
import { type Explanation, type ExplanationInput, explanationOf } from "./explanation.ts";
import { blockerOf } from "./blocker.ts";

const POD: Pod = {
  ...samplePod("web", {
    containers: [
      sampleContainer({ containerID: "containerd://web", applied: { limits: { cpu: 200 } } }),
    ],
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
      reason: "original limit × 4",
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
  return blockerOf(explanation(change))?.by;
}

function controllerSays(
  status: Partial<NonNullable<PodAllocation["status"]>>,
): Partial<ExplanationInput> {
  return { allocation: { ...ALLOCATION, status: { ...ALLOCATION.status, ...status } } };
}

Deno.test({
  name: "explainText() uses what was written down where no agent answers",
  permissions: "none",
  fn() {
    const text = explainText(
      explanation({ nodeView: undefined, problems: ["No agent runs on node node-1"] }),
    );
    assert.match(text, /^Market +congested .*480m.*480m.* 1\.20 .*\nNo agent .*node-1$/ms);
    const young = explainText(explanation({ nodeView: undefined, allocation: undefined }));
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
    assert.match(
      explainText(explanation({ pod, allocation: undefined, nodeView: undefined })),
      /market: OptedOut: .*"false"\nWhat to do: .*mbcas.io\/managed.*\n\nKubelet\n/,
    );
  },
});

Deno.test({
  name: "blockerOf() finds the outermost cause",
  permissions: "none",
  fn() {
    const idle = {
      usage: 30,
      demand: 40,
      need: 100,
      share: 100,
      target: 200,
      throttledMsPerSecond: 0,
    };
    assert.equal(cause({ nodeView: nodeView(idle) }), undefined);
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
    const heldNode = { nodeView: { ...sampleNodeView([]), held: "SchedExt" } } as const;
    assert.equal(cause({ ...heldNode, allocation: undefined }), "NoAllocation");
    assert.equal(
      cause({ ...heldNode, ...controllerSays({ reason: "Waiting" }) }),
      "NodeHoldsLimits",
    );
    assert.equal(cause({ allocation: { ...ALLOCATION, status: undefined } }), "ControllerHolds");
    assert.equal(cause(controllerSays({ reason: "QuotaExceeded" })), "ControllerHolds");
    assert.equal(
      cause({
        pod: {
          ...POD,
          containers: POD.containers.map((one) => ({
            ...one,
            limits: { ...one.limits, cpu: 450 },
          })),
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
    const covers = /Not blocked: .*covers/;
    const enough = { share: 480, target: 480 };
    assert.match(verdict({ nodeView: nodeView({ demand: 201, ...enough }) }), covers);
    assert.match(
      verdict({ nodeView: nodeView(enough) }),
      /^Nothing is known .*: demand 480m, limit 200m$/,
    );
    const written = { demand: 100, need: 100, mode: "congested" as const, credit: 1 };
    const market = { ...written, reason: "DemandFell", observedBounds: 7 };
    const { market: _market, ...bare } = ALLOCATION.spec;
    for (
      const [spec, figures] of [
        [{ ...bare, market }, /^Nothing is known .*: demand 100m, limit 200m; /],
        [bare, /^Nothing .*: demand not known, limit 200m; /],
      ] as const
    ) {
      assert.match(verdict({ nodeView: undefined, allocation: { ...ALLOCATION, spec } }), figures);
    }
  },
});

Deno.test({
  name: "explainText() names containers without readings, and the node with an agent that has none",
  permissions: "none",
  fn() {
    const { usage: _usage, demand: _demand, ...young } = sampleContainerView();
    assert.match(
      verdict({ nodeView: sampleNodeView([viewOf(young)]) }),
      /no readings.* app: .*\nWhat to do: .* node-1$/,
    );
    assert.doesNotMatch(verdict({}), /no readings/);
    // A container without bounds has no limit that could be moved.
    const plain = { ...sampleContainer({ name: "plain" }) };
    const idle = nodeView({ demand: 40, need: 100, share: 100, target: 200 });
    assert.match(
      verdict({ nodeView: idle, pod: { ...POD, containers: [...POD.containers, plain] } }),
      /Not blocked: /,
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
    assert.match(line({ lastAppliedTime }) ?? "", /^Controller +Applied 3m ago: /);
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
    assert.match(pressed, /allocatable; .* MemoryPressure: /);
  },
});

Deno.test({
  name: "explainText() reports what to do about the cause for which original limits are back",
  permissions: "none",
  fn() {
    const restored = { phase: "Applied", reason: "Restored" } as const;
    const cause = "the node's agent has not renewed its lease";
    const message = restoredMessage({ reason: "AgentSilent", message: cause });
    assert.match(
      verdict(controllerSays({ ...restored, message })),
      /AgentSilent: .*\nWhat to do: .*kubectl -n mbcas-system get pods/,
    );
    assert.match(
      verdict(controllerSays({ ...restored, message: cause })),
      /do: nothing: /,
    );
  },
});
