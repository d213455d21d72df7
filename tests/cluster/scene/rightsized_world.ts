/**
 * Workloads and pods of the server as random facts of rightsizing describe them, and the product's own
 * hands on them.
 *
 * @module
 */
import fc from "fast-check";
import { byResource } from "../../../shared/resize/inputs/resources.ts";
import type { KubeConnection } from "../../../adapters/kube/client/connection.ts";
import { objectOf } from "../../../adapters/kube/client/json_fields.ts";
import { parsePod } from "../../../adapters/kube/kinds/pods.ts";
import {
  parseWorkload,
  workloadCollection,
  workloadPath,
} from "../../../adapters/kube/kinds/workloads.ts";
import { createPodResizer } from "../../../adapters/kube/writers/pod_writers.ts";
import { createWorkloadWriter } from "../../../adapters/kube/writers/workload_writer.ts";
import type { Appliers } from "../../../controller/rightsizing/apply_decision.ts";
import type { PodContainer } from "../../../shared/api/pod.ts";
import type { WorkloadKind } from "../../../shared/api/workload.ts";
import { silentLog } from "../../../shared/log.ts";
import { RIGHTSIZING_MANAGER } from "../../../shared/resize/original_limits.ts";
import {
  rightsizedWorkload,
  type RightsizingFacts,
} from "../../../shared/rightsizing/guards/rightsizing_facts.ts";
import { containerSpec } from "./contract_world.ts";
import { decideRightsizing } from "../../../shared/rightsizing/guards/decide_rightsizing.ts";
import type { UpdateStrategy } from "../../../shared/rightsizing/policy_spec.ts";
import { anyContainers, factsOf } from "../../fixtures/rightsizing/rightsizing_arbitrary.ts";

/** How random facts are put on the server. */
export interface WrittenAs {
  readonly kind: WorkloadKind;
  /** A request that is the same as its limit is not written: the server's default comes to that. */
  readonly limitsAlone: boolean;
}

/** Makes and reads workloads with their pods. */
export interface RightsizedWorld {
  /** The facts that were given, of the workload and the pods as the server has made them. */
  make(facts: RightsizingFacts, as: WrittenAs): Promise<WorldState>;
  /** The same facts, of the workload and the pods as they are now. */
  read(facts: RightsizingFacts): Promise<WorldState>;
}

/** Facts, and what they are of. */
export interface WorldState {
  readonly facts: RightsizingFacts;
  /** The workload and then its pods, as the server has them. */
  readonly stored: readonly StoredSpec[];
}

/** What of an object is a matter of its authors. */
export interface StoredSpec {
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly spec: Readonly<Record<string, unknown>>;
}

/**
 * A world in the namespace. Its workloads want no pods, and its pods have no owner and are seen by
 * no scheduler: nothing but the test changes them.
 */
export function createRightsizedWorld(
  connection: KubeConnection,
  namespace: string,
): RightsizedWorld {
  const pods = `/api/v1/namespaces/${namespace}/pods`;
  let made = 0;

  /** What the workload makes of its number of pods and its rollout is left as the facts have it. */
  function stateOf(
    { workload: before, ...facts }: RightsizingFacts,
    { workload, pods }: { readonly workload: unknown; readonly pods: readonly unknown[] },
  ): WorldState {
    const now = rightsizedWorkload(parseWorkload(workload, before.kind));
    if (now === undefined) throw new Error("Cannot read a workload: its template is unreadable");
    const { rollout, paused, replicas } = before;
    return {
      facts: {
        ...facts,
        workload: { ...now, rollout, paused, replicas },
        pods: pods.map(parsePod),
      },
      stored: [workload, ...pods].map(storedSpec),
    };
  }

  const create = (path: string, body: unknown): Promise<unknown> =>
    connection.request({ method: "POST", path, query: { fieldManager: "other" }, body });

  return {
    async make(facts, { kind, limitsAlone }) {
      const name = `web-${made++}`;
      const labels = { app: name };
      const { containers } = facts.workload.template;
      const nowhere = kind === "DaemonSet" ? { nodeSelector: { node: "none" } } : {};
      const none = kind === "DaemonSet" ? {} : { replicas: 0 };
      const template = {
        metadata: { labels },
        spec: { ...podSpec(containers, limitsAlone), ...nowhere },
      };
      const [workload, ...created] = await Promise.all([
        create(workloadCollection(kind, namespace), {
          metadata: { name },
          spec: { ...none, selector: { matchLabels: labels }, template },
        }),
        ...facts.pods.map((pod, index) =>
          create(pods, {
            metadata: { name: `${name}-${index}` },
            spec: { ...podSpec(pod.containers, limitsAlone), schedulerName: "none" },
          })
        ),
      ]);
      return stateOf({ ...facts, workload: { ...facts.workload, kind } }, {
        workload,
        pods: created,
      });
    },
    async read(facts) {
      const { kind, metadata: { name } } = facts.workload;
      const [workload, ...present] = await Promise.all([
        connection.request({ path: workloadPath(namespace, { kind, name }) ?? "" }),
        ...facts.pods.map((pod) => connection.request({ path: `${pods}/${pod.metadata.name}` })),
      ]);
      return stateOf(facts, { workload, pods: present });
    },
  };
}

/** The product's appliers with the rights of this connection. The market sets no limits here. */
export function rightsizingHands(connection: KubeConnection): Appliers {
  return {
    resizer: createPodResizer(connection, { fieldManager: RIGHTSIZING_MANAGER }),
    workloads: createWorkloadWriter(connection, { log: silentLog }),
    setOriginalLimits: () => Promise.resolve(),
  };
}

function podSpec(containers: readonly PodContainer[], limitsAlone: boolean): object {
  const specs = (sidecar: boolean): unknown[] =>
    containers.filter((one) => one.sidecar === sidecar).map((one) => ({
      ...containerSpec(limitsAlone ? withoutDefaults(one) : one),
      resizePolicy: [
        { resourceName: "cpu", restartPolicy: restartPolicy(one.restartsOnCPU) },
        { resourceName: "memory", restartPolicy: restartPolicy(one.restartsOnMemory === true) },
      ],
    }));
  return { containers: specs(false), initContainers: specs(true) };
}

function restartPolicy(restarts: boolean): string {
  return restarts ? "RestartContainer" : "NotRequired";
}

function withoutDefaults(container: PodContainer): PodContainer {
  const { requests, limits } = container;
  return {
    ...container,
    requests: byResource((name) => requests[name] === limits[name] ? undefined : requests[name]),
  };
}

/** Written by the workload's controller, and counted by the server. */
const COUNTED = ["resourceVersion", "generation", "managedFields"];

function storedSpec(raw: unknown): StoredSpec {
  const { metadata, spec } = objectOf(raw);
  const { annotations, ...rest } = objectOf(metadata);
  const own = Object.entries(objectOf(annotations)).filter(([key]) =>
    !/^deployment\.kubernetes\.io\/|^deprecated\.daemonset\./.test(key)
  );
  return {
    metadata: {
      ...Object.fromEntries(Object.entries(rest).filter(([key]) => !COUNTED.includes(key))),
      annotations: Object.fromEntries(own),
    },
    spec: objectOf(spec),
  };
}

/** The strategies that leave one way alone, by how their values come to the server. */
export const WAYS: Readonly<Record<string, Partial<UpdateStrategy>>> = {
  "resized in place": { allowInPlaceResize: true, allowRecreate: false },
  "applied to the template": {
    allowInPlaceResize: false,
    allowRecreate: true,
    useServerSideApply: true,
  },
  "merged into the template": {
    allowInPlaceResize: false,
    allowRecreate: true,
    useServerSideApply: false,
  },
};

/** In whatever form. */
export const writtenAs: fc.Arbitrary<WrittenAs> = fc.record({
  kind: fc.constantFrom("Deployment", "StatefulSet", "DaemonSet"),
  limitsAlone: fc.boolean(),
});

/** A workload, and two looks at it, of which the first, at least, finds something to do. */
export interface Drawn {
  readonly as: WrittenAs;
  readonly looks: readonly [RightsizingFacts, RightsizingFacts];
}

/** Workloads of these containers under this strategy. */
export function drawnLooks(
  strategy: Partial<UpdateStrategy>,
  containers: fc.Arbitrary<readonly PodContainer[]> = anyContainers,
): fc.Arbitrary<Drawn> {
  const looks = containers.chain((all) => fc.tuple(factsOf(all), factsOf(all)))
    .map(([first, second]) =>
      [withStrategy(first, strategy), withStrategy(second, strategy)] as const
    )
    .filter(([first]) => decideRightsizing(first).outcome === "apply");
  return fc.record({ as: writtenAs, looks });
}

function withStrategy(
  facts: RightsizingFacts,
  strategy: Partial<UpdateStrategy>,
): RightsizingFacts {
  const { updateStrategy } = facts.policy;
  return {
    ...facts,
    policy: { ...facts.policy, updateStrategy: { ...updateStrategy, ...strategy } },
  };
}
