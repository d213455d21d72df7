/**
 * What a namespace, or the pod as a whole, bounds: cases of the market's decision table.
 *
 * @module
 */
import { guaranteed, type MarketCase, withPod } from "./market_input.ts";

/** A LimitRange of containers or of the pod. */
export const limitRange: MarketCase = (input, draw) => {
  const max = { max: { cpu: `${100 * draw.whole(2, 8)}m` } };
  const min = { min: { cpu: `${20 * draw.whole(1, 8)}m` } };
  const ratio = { maxLimitRequestRatio: { cpu: draw.oneOf(["1", "2", "2500m", "4"]) } };
  const type = draw.oneOf(["Container", "Container", "Pod"]);
  return { ...input, limitRange: [{ type, ...draw.oneOf([max, min, ratio, { ...max, ...min }]) }] };
};

const DEFAULTS = [
  { default: { memory: "128Mi" } },
  { defaultRequest: { cpu: "50m" } },
  { default: { cpu: "1" } },
  { defaultRequest: { memory: "64Mi" } },
  { default: { "ephemeral-storage": "1Gi" } },
];

/** Defaults that containers may lack: half of the pods are Guaranteed, which lack none of CPU and memory. */
export const WITH_DEFAULTS: readonly MarketCase[] = DEFAULTS.map(
  (list): MarketCase => (input, draw) => ({
    ...(draw.chance(1 / 2) ? guaranteed(input) : input),
    limitRange: [{ type: "Container", ...list }],
  }),
);

/** A ResourceQuota that leaves some room, or none. */
export const quota: MarketCase = (input, draw) => {
  const names = draw.oneOf([["limits.cpu"], ["limits.cpu"], ["limits.cpu", "requests.cpu"]]);
  const hard = draw.whole(6, 20) * 100;
  const used = hard - draw.whole(-2, 12) * 50;
  return {
    ...input,
    quota: {
      hard: Object.fromEntries(names.map((name) => [name, `${hard}m`])),
      used: Object.fromEntries(names.map((name) => [name, `${used}m`])),
    },
  };
};

/** The quota leaves exactly what is wanted; the controller keeps room for one more pod of 200m. */
export function exactQuota(kept: number): MarketCase {
  return (input, draw) => {
    const [present, raise] = [100 * draw.whole(2, 6), 50 * draw.whole(1, 6)];
    const resources = { requests: { cpu: "100m" }, limits: { cpu: `${present}m` } };
    return {
      ...(kept === 0 ? { by: "person" } : {}),
      pod: { spec: { containers: [{ name: "app", resources }] } },
      wanted: { app: `${present + raise}m` },
      quota: {
        hard: { "limits.cpu": `${present + raise + kept}m` },
        used: { "limits.cpu": `${present + draw.oneOf([0, 0, 10])}m` },
      },
      ...(input.settings === undefined ? {} : { settings: input.settings }),
    };
  };
}

/** A LimitRange, and an init container that takes more than it may allow. */
export const initContainer: MarketCase = (input, draw) =>
  withPod(limitRange(input, draw), (pod) => ({
    ...pod,
    spec: {
      ...pod.spec,
      initContainers: [
        ...pod.spec.initContainers ?? [],
        { name: "setup", resources: { requests: { cpu: "100m" }, limits: { cpu: "900m" } } },
      ],
    },
  }));

/** Resources of the whole pod. */
export const podLevel: MarketCase = (input, draw) =>
  withPod(draw.chance(1 / 2) ? limitRange(input, draw) : input, (pod) => ({
    ...pod,
    spec: {
      ...pod.spec,
      resources: { requests: { cpu: "1" }, limits: { cpu: draw.oneOf(["1", "2"]) } },
    },
  }));

/** The range of a whole pod, which says itself what it takes. */
export const podLevelRange: MarketCase = (input, draw) => ({
  ...podLevel(input, draw),
  limitRange: [{ type: "Pod", max: { cpu: draw.oneOf(["1", "1500m", "2"]) } }],
});
