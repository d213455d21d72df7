/**
 * How cases of the market's decision table change an input.
 *
 * @module
 */
import type { Draw } from "../draw.ts";
import type { MarketInput } from "./market_input.ts";
import type { RawContainer, RawPod } from "../raw_pod.ts";

/** Changes an input so that the case applies. */
export type MarketCase = (input: MarketInput, draw: Draw) => MarketInput;

/** The input with a changed pod. */
export function withPod(input: MarketInput, change: (pod: RawPod) => RawPod): MarketInput {
  return { ...input, pod: change(input.pod) };
}

/** The input with these fields of the pod's status. */
export function withStatus(input: MarketInput, status: RawPod["status"]): MarketInput {
  return withPod(input, (pod) => ({ ...pod, status: { ...pod.status, ...status } }));
}

/** The input with these annotations of the pod. */
export function withAnnotations(
  input: MarketInput,
  annotations: Readonly<Record<string, string>>,
): MarketInput {
  return withPod(input, (pod) => ({
    ...pod,
    metadata: { ...pod.metadata, annotations: { ...pod.metadata?.annotations, ...annotations } },
  }));
}

/** The input with each container of the pod changed. */
export function withContainers(
  input: MarketInput,
  change: (container: RawContainer, index: number) => RawContainer,
): MarketInput {
  return withPod(input, (pod) => ({
    ...pod,
    spec: { ...pod.spec, containers: pod.spec.containers.map(change) },
  }));
}

/** Each container with a request that is its limit. */
export function guaranteed(input: MarketInput): MarketInput {
  const made = withContainers(input, ({ resources, ...one }) => {
    const list = { memory: "64Mi", cpu: resources.limits?.["cpu"] ?? "200m" };
    return { ...one, resources: { requests: list, limits: list } };
  });
  const { initContainers: _none, ...spec } = made.pod.spec;
  const annotated = withAnnotations(made, { "mbcas.io/skip-guaranteed": "false" });
  return { ...annotated, pod: { ...annotated.pod, spec } };
}
