import { DEFAULT_MARKET_CONFIG } from "../../controller/config.ts";
import { sampleContainer, samplePod } from "../../tests/contract/support/sample_objects.ts";
import { assertSentences } from "../../tests/fixtures/assert_sentences.ts";
import {
  type ClaimFields,
  cpuRanges,
  decideClaim,
  enforcedContainer,
  enforcedPod,
  marketClaim,
} from "../../tests/fixtures/market/decide_claim.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { sampleHPA, sampleVPA } from "../../tests/fixtures/sample_workloads.ts";
import type { Namespace } from "../api/namespace.ts";
import { NO_RESOURCES, type Pod } from "../api/pod.ts";
import { outOfScope, restoredMessage, type ScopeSubject } from "./scope.ts";
import { MANAGED, SKIP_GUARANTEED } from "../api/market_keys.ts";

type Texts = Readonly<Record<string, string>>;

const OPT_IN = { ...DEFAULT_MARKET_CONFIG, managementPolicy: "OptIn" } as const;

/** Pod `web` in namespace `shop`, as rules of the scope see it. */
function scope(pod: Partial<Pod>, change: Partial<ScopeSubject> = {}): string {
  const subject = {
    pod: { ...samplePod("web"), ...pod },
    namespace: namespaceWith({}),
    config: DEFAULT_MARKET_CONFIG,
  };
  return outOfScope({ ...subject, ...change })?.message ?? "";
}

function annotated(annotations: Texts): Pick<Pod, "metadata"> {
  return { metadata: { ...samplePod("web").metadata, annotations } };
}

function namespaceWith(annotations: Texts): Namespace {
  return { metadata: { name: "shop", uid: "", resourceVersion: "", labels: {}, annotations } };
}

const unlimited = { ...sampleContainer(), limits: {} };
const GUARANTEED = {
  ...annotated({ [SKIP_GUARANTEED]: "false" }),
  qosClass: "Guaranteed",
} as const;

pure("sentences on pods out of scope", () =>
  assertSentences([
    [
      "NotOptedIn",
      () => scope({}, { config: OPT_IN }),
      "namespace shop is not labelled mbcas.io/managed=true",
    ],
    [
      "NotOptedIn, namespace annotated",
      () => scope({}, { config: OPT_IN, namespace: namespaceWith({ [MANAGED]: "true" }) }),
      "namespace shop is not labelled mbcas.io/managed=true, and as an annotation it does not " +
      "count",
    ],
    [
      "NotOptedIn, pod opted in",
      () => scope(annotated({ [MANAGED]: "true" }), { config: OPT_IN }),
      "namespace shop is not labelled mbcas.io/managed=true; the pod's own mbcas.io/managed: " +
      '"true" counts where an administrator has labelled it mbcas.io/allow-overrides=true',
    ],
    [
      "NotBurstable, by the whole pod",
      () =>
        scope({
          ...GUARANTEED,
          podLevel: { requests: { cpu: 200, memory: 1 }, limits: { cpu: 200, memory: 1 } },
        }),
      "the pod is Guaranteed by resources of the whole pod",
    ],
    ["NoCPULimit", () => scope({ containers: [unlimited] }), "no container has a CPU limit"],
    [
      "VPAConflict",
      () => scope({}, { verticalAutoscalers: [sampleVPA("Auto")] }),
      "VPA web-vpa, mode Auto, sets the resources of Deployment web",
    ],
    [
      "HPAConflict",
      () => scope(GUARANTEED, { autoscalers: [sampleHPA()] }),
      "HPA web-hpa divides the CPU usage by the request, which would move",
    ],
    ["WindowsPod, by the pod", () => scope({ windows: true }), "spec.os of the pod says windows"],
    [
      "WindowsPod, by the node",
      () => scope({ nodeName: "node-1" }, { node: { os: "windows" } }),
      "node node-1 runs windows",
    ],
    [
      "KubeletTooOld",
      () => scope({ nodeName: "node-1" }, { node: { kubeletVersion: "v1.32.9" } }),
      "the kubelet of node-1 is v1.32.9: resizes need 1.33 or newer",
    ],
  ]));

function held(fields: ClaimFields): string {
  return decideClaim(fields).message ?? "";
}

const large = enforcedContainer({
  name: "jvm",
  limits: { cpu: 900 },
  applied: { limits: { cpu: 900 } },
});
const bare = { ...enforcedContainer({ name: "side" }), ...NO_RESOURCES };
const withLarge = enforcedPod({ containers: [enforcedContainer(), large] });
const withInit = enforcedPod({ initContainers: [large] });
const withBare = enforcedPod({ containers: [enforcedContainer(), bare] });
const heavy = enforcedContainer({
  requests: { cpu: 200 },
  limits: { cpu: 300 },
  applied: { limits: { cpu: 300 } },
});

pure("sentences of the actuator's checks", () =>
  assertSentences([
    [
      "LimitRange, limit",
      () => held({ pod: withLarge, limitRange: cpuRanges({ max: 500 }) }),
      "pod web: cpu of container jvm: the LimitRange allows a limit of 500m, it would be 900m",
    ],
    [
      "LimitRange, init container",
      () => held({ pod: withInit, limitRange: cpuRanges({ max: 500 }) }),
      "pod web: cpu of init container jvm: the LimitRange allows a limit of 500m, it would be 900m",
    ],
    [
      "LimitRange, whole pod",
      () => held({ pod: withInit, limitRange: cpuRanges({}, { max: 500 }) }),
      "pod web: cpu of all containers: the LimitRange allows a limit of 500m, it would be 900m",
    ],
    [
      "LimitRange, request",
      () =>
        held({
          pod: enforcedPod({ containers: [heavy] }),
          claims: [marketClaim(200)],
          limitRange: cpuRanges({ max: 100 }),
        }),
      "pod web: cpu of container app: the LimitRange allows a limit of 100m, the request is 200m already",
    ],
    [
      "LimitRange, no limit",
      () => held({ pod: withBare, limitRange: cpuRanges({ max: 500 }) }),
      "pod web: cpu of container side: the LimitRange asks for a limit, there is none",
    ],
    [
      "LimitRange, defaults",
      () => held({ pod: withBare, limitRange: { ...cpuRanges({}), defaults: ["limits.cpu"] } }),
      "with any resize the API server would write the LimitRange's defaults into container side " +
      "(limits.cpu), and they could never be removed: recreate the pod, or take the defaults " +
      "out of the LimitRange (max and min set them, too)",
    ],
    [
      "OutsideBounds",
      () => held({ claims: [marketClaim(5000)] }),
      "app at 5000m is outside 10m to 4000m",
    ],
    [
      "OutsideBounds, no bounds",
      () => held({ claims: [marketClaim(300, "other")] }),
      "other has no bounds",
    ],
    [
      "OutOfSync",
      () => held({ outOfSync: ["namespaces", "nodes"] }),
      "no raise while these are read anew: namespaces, nodes",
    ],
    [
      "Oscillating",
      () => held({ oscillatingMs: 1, claims: [marketClaim(150)] }),
      "the limits were changed more than 100 times in 5 minutes: they are not lowered for 5 minutes",
    ],
    [
      "StepLimited",
      () => held({ maxStep: 1.5 }),
      "app from 200m to 300m first, not to 400m at once",
    ],
    ["RateLimited, just now", () => held({ restMs: 1 }), "the pod's last change was a moment ago"],
    [
      "Restored",
      () => restoredMessage({ reason: "AgentSilent", message: "it is gone" }),
      "the original limits are back: AgentSilent: it is gone",
    ],
  ]));
