/**
 * A pod that wanted values are checked against: a running one, or one that would be created.
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

/** A running pod, or one that would be created. */
export interface Subject extends Pick<Pod, "containers" | "initContainers" | "podLevel"> {
  /** For people: `pod web-1`, `new pods` or `the template`. */
  readonly name: string;
  readonly qosClass: QOSClass;
  /** True where the market owns `limits.cpu` and the values are rightsizing's. */
  readonly marketLimits: boolean;
  /** True where wanted values also apply to sidecars. @default {false} */
  readonly sidecars?: boolean;
  /** The number of pods that it represents, for quotas. */
  readonly count: number;
  readonly nodeName?: string;
}

/** A running pod as a subject for a source that owns its CPU limits, also those of sidecars. */
export function marketSubject(pod: Pod): Subject {
  return { ...podSubject(pod, { marketLimits: false }), sidecars: true };
}

/** A running pod as a subject for rightsizing. */
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

/** A pod as the server would create it from the template with these values over those of the template. */
export function newPodSubject(
  template: Pick<Pod, "containers" | "initContainers" | "podLevel">,
  { values = new Map(), ...as }: Pick<Subject, "name" | "count"> & {
    /** By container. @default none */
    readonly values?: WantedResources;
  },
): Subject {
  const containers = containersWith(template.containers, values).map(withDefaultRequests);
  const initContainers = template.initContainers.map(withDefaultRequests);
  const pod = { ...template, containers, initContainers };
  return { ...pod, ...as, qosClass: qosClassOfPod(pod), marketLimits: false };
}

/** The subject's containers with the wanted values, in the same order. */
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

/** The subject with the wanted values. */
export function subjectWanted(subject: Subject, wanted: WantedResources): Subject {
  return { ...subject, containers: containersWanted(subject, wanted) };
}

/** The change of the sum over the subject's containers by the wanted values. */
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
 * The values that the source may set on the subject. In a running pod of the market rightsizing may not
 * set `limits.cpu`, nor the CPU request where that moves with the limit: its limit becomes the pod's
 * original limit instead.
 */
function settableFields(subject: Subject, wanted: Resources): Resources {
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

/** CPU limits as wanted values, with requests where these move with the limits. */
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
