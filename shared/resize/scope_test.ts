import assert from "node:assert/strict";
import { DEFAULT_MARKET_CONFIG, type MarketConfig } from "../../controller/config.ts";
import { sampleContainer, samplePod } from "../../tests/contract/support/sample_objects.ts";
import { sampleVPA } from "../../tests/fixtures/sample_workloads.ts";
import type { HorizontalPodAutoscaler } from "../api/autoscalers.ts";
import type { Namespace } from "../api/namespace.ts";
import type { Pod } from "../api/pod.ts";
import { ALLOW_OVERRIDES, HPA_COORDINATION, MANAGED, SKIP_GUARANTEED } from "../api/market_keys.ts";
import {
  isFinished,
  isLive,
  type OutOfScope,
  outOfScope,
  restoredCause,
  restoredMessage,
  SCOPE_RULES,
} from "./scope.ts";

type Switch = { readonly label?: string; readonly annotation?: string };

function marks({ label, annotation }: Switch) {
  return {
    labels: label === undefined ? {} : { [MANAGED]: label },
    annotations: annotation === undefined ? {} : { [MANAGED]: annotation },
  };
}

function namespace(switched: Switch): Namespace {
  return { metadata: { name: "shop", uid: "", resourceVersion: "", ...marks(switched) } };
}

interface Choice {
  readonly pod?: Partial<Pod>;
  readonly own?: Switch;
  readonly theirs?: Switch;
  readonly config?: Partial<MarketConfig>;
}

function verdict(
  { pod = {}, own = {}, theirs = {}, config = {} }: Choice,
): OutOfScope | undefined {
  const sample = samplePod("web");
  return outOfScope({
    pod: { ...sample, ...pod, metadata: { ...sample.metadata, ...marks(own) } },
    namespace: namespace(theirs),
    config: { ...DEFAULT_MARKET_CONFIG, ...config },
  });
}

function reason(choice: Choice): string | undefined {
  return verdict(choice)?.reason;
}

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

test("outOfScope() takes a Burstable pod with a CPU limit", () => {
  assert.equal(reason({}), undefined);
});

test("outOfScope() takes no pod while the market is off", () => {
  assert.equal(reason({ config: { market: false }, own: { label: "true" } }), "MarketOff");
});

test("outOfScope() leaves excluded namespaces alone, whatever the pod says", () => {
  const config = { excludedNamespaces: ["shop"] };
  assert.equal(reason({ config, own: { label: "true" } }), "NamespaceExcluded");
});

test("outOfScope() ignores values that are neither true nor false, and reads the next", () => {
  for (const odd of ["maybe", "", "False", "no", "false "]) {
    for (const own of [{ label: odd }, { annotation: odd }]) {
      assert.equal(reason({ own }), undefined);
      assert.equal(reason({ theirs: own }), undefined);
      assert.equal(reason({ own, theirs: { label: "false" } }), "OptedOut");
      assert.equal(reason({ config: { managementPolicy: "OptIn" }, theirs: own }), "NotOptedIn");
    }
    assert.equal(reason({ own: { label: odd, annotation: "false" } }), "OptedOut");
    const own = { label: odd, annotation: "true" };
    assert.equal(reason({ own, theirs: { label: "false" } }), undefined);
  }
});

test("outOfScope() reads the switch of pod and namespace, as label or annotation", () => {
  const optOuts: Switch[] = [{ label: "false" }, { annotation: "false" }];
  for (const own of optOuts) {
    assert.equal(reason({ own }), "OptedOut");
    assert.equal(reason({ theirs: own }), "OptedOut");
  }
});

test("outOfScope() lets the pod's switch take precedence over the namespace's", () => {
  assert.equal(reason({ own: { label: "true" }, theirs: { label: "false" } }), undefined);
  assert.equal(reason({ own: { label: "false" }, theirs: { label: "true" } }), "OptedOut");
});

test("outOfScope() believes the opt-out where label and annotation differ", () => {
  assert.equal(reason({ own: { label: "true", annotation: "false" } }), "OptedOut");
  assert.equal(reason({ own: { label: "false", annotation: "true" } }), "OptedOut");
});

test("outOfScope() asks for the namespace's label under OptIn", () => {
  const config = { managementPolicy: "OptIn" } as const;
  assert.equal(reason({ config }), "NotOptedIn");
  assert.equal(reason({ config, own: { label: "true" } }), "NotOptedIn");
  assert.equal(reason({ config, theirs: { annotation: "true" } }), "NotOptedIn");
  assert.equal(reason({ config, theirs: { label: "true" } }), undefined);
  assert.equal(reason({ config, theirs: { label: "true" }, own: { label: "false" } }), "OptedOut");
  const pod = samplePod("web");
  const unknown = { pod, namespace: undefined, config: { ...DEFAULT_MARKET_CONFIG, ...config } };
  assert.equal(outOfScope(unknown)?.reason, "NotOptedIn");
});

test("outOfScope() says under OptIn why a switch that opts in does not count", () => {
  const config = { managementPolicy: "OptIn" } as const;
  const messageOf = (given: Choice): string => verdict({ config, ...given })?.message ?? "";
  const plain = messageOf({});
  assert.match(plain, /namespace shop .*mbcas\.io\/managed=true$/);
  assert.equal(messageOf({ own: { label: "maybe" } }), plain);
  const annotated = messageOf({ theirs: { annotation: "true" } });
  assert.match(annotated, /mbcas\.io\/managed=true, .*annotation/);
  for (const own of [{ label: "true" }, { annotation: "true" }]) {
    assert.match(
      messageOf({ own }),
      /mbcas\.io\/managed: "true".*mbcas\.io\/allow-overrides=true$/,
    );
  }
});

test("outOfScope() lets a pod opt in by itself under OptIn where an administrator allows it", () => {
  const config = { ...DEFAULT_MARKET_CONFIG, managementPolicy: "OptIn" } as const;
  const of = (own: Switch, theirs: Switch, allow: string) => {
    const { metadata } = namespace(theirs);
    const pod = samplePod("web");
    return outOfScope({
      pod: { ...pod, metadata: { ...pod.metadata, ...marks(own) } },
      namespace: {
        metadata: { ...metadata, labels: { ...metadata.labels, [ALLOW_OVERRIDES]: allow } },
      },
      config,
    })?.reason;
  };
  for (const own of [{ label: "true" }, { annotation: "true" }]) {
    assert.equal(of(own, {}, "true"), undefined);
    assert.equal(of(own, { label: "false" }, "true"), undefined);
    assert.equal(of(own, {}, "yes"), "NotOptedIn");
  }
  assert.equal(of({}, {}, "true"), "NotOptedIn");
  assert.equal(of({ label: "yes" }, {}, "true"), "NotOptedIn");
  assert.equal(of({ label: "false" }, { label: "true" }, "true"), "OptedOut");
});

test("outOfScope() leaves a pod to a VPA that acts, and names it", () => {
  const of = (...verticalAutoscalers: ReturnType<typeof sampleVPA>[]) =>
    outOfScope({
      pod: samplePod("web"),
      namespace: namespace({}),
      config: DEFAULT_MARKET_CONFIG,
      verticalAutoscalers,
    });
  assert.equal(of(), undefined);
  assert.equal(of(sampleVPA("Off")), undefined);
  for (const mode of ["Initial", "Recreate", "InPlaceOrRecreate", "InPlace", "Auto", "New"]) {
    const { reason, message } = of(sampleVPA("Off"), sampleVPA(mode)) ?? {};
    assert.equal(reason, "VPAConflict");
    assert.match(message ?? "", new RegExp(`web-vpa.* ${mode},.* Deployment web$`));
  }
});

test("outOfScope() takes in a pod when no VPA sets its CPU", () => {
  const of = (...cpuPolicies: readonly (readonly [container: string, controlled: boolean])[]) =>
    outOfScope({
      pod: samplePod("web"),
      namespace: namespace({}),
      config: DEFAULT_MARKET_CONFIG,
      verticalAutoscalers: [sampleVPA("Recreate", {
        cpuPolicies: cpuPolicies.map(([container, controlled]) => ({ container, controlled })),
      })],
    })?.reason;
  assert.equal(of(["*", false]), undefined);
  assert.equal(of(["app", false]), undefined);
  assert.equal(of(["app", true], ["*", false]), "VPAConflict");
  assert.equal(of(["proxy", false]), "VPAConflict");
});

test("outOfScope() reports a VPA only where the pod would take part", () => {
  const of = (own: Switch, config: Partial<MarketConfig> = {}) => {
    const pod = samplePod("web");
    return outOfScope({
      pod: { ...pod, metadata: { ...pod.metadata, ...marks(own) } },
      namespace: namespace({}),
      config: { ...DEFAULT_MARKET_CONFIG, ...config },
      verticalAutoscalers: [sampleVPA("Auto")],
      node: { kubeletVersion: "v1.36.3" },
    })?.reason;
  };
  assert.equal(of({ label: "false" }), "OptedOut");
  assert.equal(of({}, { market: false }), "MarketOff");
  // An opt-in does not remove the VPA: two controllers would still set one field.
  assert.equal(of({ label: "true" }), "VPAConflict");
});

test("outOfScope() leaves Guaranteed and BestEffort pods alone", () => {
  assert.equal(reason({ pod: { qosClass: "Guaranteed" } }), "NotBurstable");
  assert.equal(reason({ pod: { qosClass: "BestEffort" } }), "NotBurstable");
});

test("outOfScope() takes a Guaranteed pod in that asks for it, and no BestEffort one", () => {
  const of = (qosClass: Pod["qosClass"], skip: string) => {
    const sample = samplePod("web");
    const metadata = { ...sample.metadata, annotations: { [SKIP_GUARANTEED]: skip } };
    const pod = { ...sample, qosClass, metadata };
    return outOfScope({ pod, namespace: undefined, config: DEFAULT_MARKET_CONFIG })?.reason;
  };
  assert.equal(of("Guaranteed", "false"), undefined);
  assert.equal(of("Guaranteed", "true"), "NotBurstable");
  assert.equal(of("Guaranteed", "no"), "NotBurstable");
  assert.equal(of("BestEffort", "false"), "NotBurstable");
  assert.equal(of("Burstable", "true"), undefined);
});

test("outOfScope() leaves a pod alone that is Guaranteed by resources of the whole pod", () => {
  const sample = samplePod("web");
  const metadata = { ...sample.metadata, annotations: { [SKIP_GUARANTEED]: "false" } };
  const podLevel = { requests: { cpu: 200, memory: 1 }, limits: { cpu: 200, memory: 1 } };
  const pod: Pod = { ...sample, metadata, qosClass: "Guaranteed", podLevel };
  const { reason, message } =
    outOfScope({ pod, namespace: undefined, config: DEFAULT_MARKET_CONFIG }) ?? {};
  assert.equal(reason, "NotBurstable");
  assert.match(message ?? "", /whole pod/);
});

test("outOfScope() moves no request that an HPA on utilization divides by", () => {
  const autoscaler = (cpuTargets: HorizontalPodAutoscaler["cpuTargets"]) => ({
    metadata: { name: "web", namespace: "shop", uid: "", resourceVersion: "", annotations: {} },
    target: { kind: "Deployment", name: "web" },
    cpuTargets,
    stabilizationMs: 0,
  });
  const of = (
    qosClass: Pod["qosClass"],
    added: Readonly<Record<string, string>>,
    share?: number,
  ) => {
    const sample = samplePod("web");
    const annotations = { [SKIP_GUARANTEED]: "false", ...added };
    const target = share === undefined ? { value: 300 } : { utilization: share };
    return outOfScope({
      pod: { ...sample, qosClass, metadata: { ...sample.metadata, annotations } },
      namespace: undefined,
      autoscalers: [autoscaler([target])],
      config: DEFAULT_MARKET_CONFIG,
    })?.reason;
  };
  assert.equal(of("Guaranteed", {}, 0.7), "HPAConflict");
  assert.equal(of("Guaranteed", {}), undefined);
  assert.equal(of("Guaranteed", { [HPA_COORDINATION]: "false" }, 0.7), undefined);
  assert.equal(of("Burstable", {}, 0.7), undefined);
});

test("outOfScope() asks for a CPU limit on one container at least", () => {
  const bare = { ...sampleContainer({ name: "proxy" }), limits: {} };
  assert.equal(reason({ pod: { containers: [bare] } }), "NoCPULimit");
  assert.equal(reason({ pod: { containers: [bare, sampleContainer()] } }), undefined);
});

test("outOfScope() leaves pods alone where the kubelet can't resize them", () => {
  const of = (kubeletVersion: string | undefined) =>
    outOfScope({
      pod: { ...samplePod("web"), nodeName: "node-1" },
      namespace: namespace({}),
      config: DEFAULT_MARKET_CONFIG,
      node: kubeletVersion === undefined ? undefined : { kubeletVersion },
    });
  const tooOld = of("v1.32.9");
  assert.equal(tooOld?.reason, "KubeletTooOld");
  assert.match(tooOld?.message ?? "", /node-1.*v1\.32\.9.*1\.33/);
  assert.equal(of("v1.33.0"), undefined);
  assert.equal(of(undefined), undefined);
});

test("isFinished() is true for pods that will never run again", () => {
  const of = (phase: Pod["phase"]): boolean => isFinished({ phase });
  assert.deepEqual([of("Succeeded"), of("Failed")], [true, true]);
  assert.deepEqual([of("Pending"), of("Running"), of("Unknown")], [false, false, false]);
});

test("isLive() wants a running pod on a node that is not terminating", () => {
  const running: Pod = { ...samplePod("web"), phase: "Running" };
  assert.equal(isLive(running), true);
  assert.equal(isLive({ ...running, phase: "Pending" }), false);
  assert.equal(isLive({ ...running, nodeName: "" }), false);
  assert.equal(isLive({ ...running, metadata: { ...running.metadata, terminating: true } }), false);
});

Deno.test({
  name:
    "SCOPE_RULES read settings and switches first, then platform limits, then other controllers",
  permissions: "none",
  fn() {
    assert.deepEqual(SCOPE_RULES.map(({ name }) => name), [
      "MarketIsOff",
      "NamespaceIsExcluded",
      "OptedOut",
      "WindowsPod",
      "StaticPod",
      "DeviceClaims",
      "KubeletTooOld",
      "NotBurstable",
      "NoCPULimit",
      "VerticalAutoscaler",
      "HorizontalAutoscaler",
    ]);
  },
});

Deno.test({
  name: "restoredCause() reads the reason that restoredMessage() wrote, and no other",
  permissions: "none",
  fn() {
    const message = restoredMessage({
      reason: "AgentSilent",
      message: "VPA Web: the node's agent has not renewed its lease",
    });
    assert.equal(restoredCause(message), "AgentSilent");
    const old = "the original limits are back: the node's agent has not renewed its lease";
    for (const other of ["", old, "the server says: Restored: no", message.slice(4)]) {
      assert.equal(restoredCause(other), undefined, other);
    }
  },
});
