/**
 * A pod that wanted values must fit: one that runs, or one as it would be made.
 *
 * @module
 */
import {
  type Pod,
  type PodContainer,
  type QOSClass,
  type ResourceAmounts,
  type ResourceName,
  type Resources,
  withResources,
} from "../../api/pod.ts";
import { movesRequest, qosClassOfPod } from "./qos.ts";
import {
  containersWith,
  type PairEntry,
  pairOf,
  type ResourcePair,
  sumOf,
  type WantedResources,
  withDefaultRequests,
} from "./resources.ts";

/** A pod that runs, or one as it would be made. */
export interface Subject extends Pick<Pod, "containers" | "initContainers" | "podLevel"> {
  /** For people: `pod web-1`, `new pods` or `the template`. */
  readonly name: string;
  readonly qosClass: QOSClass;
  /** True where another source owns `limits.cpu`: of rightsizing in running pods of the market. */
  readonly marketLimits: boolean;
  /** True where wanted values are for sidecars, too. @default {false} */
  readonly sidecars?: boolean;
  /** How many pods it stands for, for quotas. */
  readonly count: number;
  readonly nodeName?: string;
}

/** The pod as a subject for a source that owns its CPU limits, those of sidecars too. */
export function marketSubject(pod: Pod): Subject {
  return { ...podSubject(pod, { marketLimits: false }), sidecars: true };
}

/** A running pod as a subject. */
export function podSubject(pod: Pod, owner: Pick<Subject, "marketLimits">): Subject {
  const { containers, initContainers, podLevel, qosClass, nodeName, metadata } = pod;
  return {
    name: `pod ${metadata.name}`,
    containers,
    initContainers,
    ...(podLevel === undefined ? {} : { podLevel }),
    qosClass,
    ...owner,
    count: 1,
    nodeName,
  };
}

/**
 * A pod as the server would make it of the template with these values over its own: without a request, the
 * limit is the request.
 */
export function newPodSubject(
  template: Pick<Pod, "containers" | "initContainers" | "podLevel">,
  { values = new Map(), ...as }: Pick<Subject, "name" | "count"> & {
    /** By container. @default none */
    readonly values?: WantedResources;
  },
): Subject {
  const made = containersWith(template.containers, values).map(withDefaultRequests);
  const initContainers = template.initContainers.map(withDefaultRequests);
  const pod = { ...template, containers: made, initContainers };
  return { ...pod, ...as, qosClass: qosClassOfPod(pod), marketLimits: false };
}

/** The subject's containers as the wanted values make them; each keeps its place. */
export function containersWanted(
  subject: Subject,
  wanted: WantedResources,
): readonly PodContainer[] {
  return subject.containers.map((container) => {
    const values = wanted.get(container.name);
    return values === undefined || (container.sidecar && subject.sidecars !== true)
      ? container
      : withResources(container, settableFields(subject, values));
  });
}

/** The subject as the wanted values make it. */
export function subjectWanted(subject: Subject, wanted: WantedResources): Subject {
  return { ...subject, containers: containersWanted(subject, wanted) };
}

/** By how much wanted values move a sum over the subject's containers: Σ of raises less Σ of decreases. */
export function netChange(
  subject: Subject,
  wanted: WantedResources,
  { resource = "cpu", side = "limits" }: {
    /** @default {"cpu"} */
    readonly resource?: ResourceName;
    /** @default {"limits"} */
    readonly side?: keyof Resources;
  } = {},
): number {
  const amountOf = (one: Resources): number | undefined => one[side][resource];
  return sumOf(containersWanted(subject, wanted), amountOf) - sumOf(subject.containers, amountOf);
}

/** Request and limit of one resource in the subject; undefined where it has no such container. */
export function pairIn(
  { containers }: Pick<Subject, "containers">,
  { container, resource }: Pick<PairEntry, "container" | "resource">,
): ResourcePair | undefined {
  const found = containers.find(({ name }) => name === container);
  return found && pairOf(found, resource);
}

/**
 * The fields that the source may set on the subject. In a running pod of the market that leaves out
 * `limits.cpu` for rightsizing: its value becomes the pod's original limit instead, and where the
 * request goes with that limit (Guaranteed) the CPU request.
 */
export function settableFields(subject: Subject, wanted: Resources): Resources {
  if (!subject.marketLimits) return wanted;
  return {
    requests: movesRequest(subject) ? withoutCPU(wanted.requests) : wanted.requests,
    limits: withoutCPU(wanted.limits),
  };
}

function withoutCPU({ cpu: _cpu, ...memory }: ResourceAmounts): ResourceAmounts {
  return memory;
}

/** The pod with these CPU requests or limits instead of its own, millicores by container name. */
export function withCPU(
  pod: Pod,
  { side, values }: {
    readonly side: keyof Resources;
    readonly values: ReadonlyMap<string, number>;
  },
): Pod {
  const all = new Map(Array.from(values, ([name, cpu]) => [name, { [side]: { cpu } }] as const));
  return { ...pod, containers: containersWith(pod.containers, all) };
}

/** The pod's CPU limits by container name, millicores; containers without one are left out. */
export function presentLimits({ containers }: Pick<Pod, "containers">): Map<string, number> {
  return new Map(
    containers.flatMap(({ name, limits: { cpu } }) =>
      cpu === undefined ? [] : [[name, cpu] as const]
    ),
  );
}

/** CPU limits as wanted values: in a Guaranteed pod the request goes with the limit. */
export function limitsWanted(
  pod: Pick<Pod, "qosClass" | "podLevel">,
  limits: Iterable<readonly [string, number]>,
): WantedResources {
  const moves = movesRequest(pod);
  return new Map(
    [...limits].map(([name, cpu]) =>
      [name, { requests: moves ? { cpu } : {}, limits: { cpu } }] as const
    ),
  );
}

/** The CPU limits among wanted values, millicores by container name. */
export function limitsOf(wanted: WantedResources): ReadonlyMap<string, number> {
  return new Map(
    [...wanted].flatMap(([name, { limits }]) =>
      limits.cpu === undefined ? [] : [[name, limits.cpu] as const]
    ),
  );
}
