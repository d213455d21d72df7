/**
 * The installed product with placement and its webhook, simulated nodes of both classes, and a
 * namespace with its pods as a watch shows them: what the tests of one file about placement share.
 *
 * @module
 */
import { createKubectl } from "../kubectl.ts";
import { withAllComponents } from "./all_components.ts";
import { openRealNode, type RealNode, scratchNamespace } from "./real_node.ts";
import {
  openSimulatedNodes,
  sceneBounds,
  type SimulatedNode,
  type SimulatedNodes,
} from "./simulated_nodes.ts";
import { until, type UntilOptions } from "./until.ts";
import { listOf, objectOf, textOf, textsOf } from "../../../adapters/kube/client/json_fields.ts";
import { parseIdentity } from "../../../adapters/kube/kinds/object_fields.ts";
import { CAPACITY } from "../../../shared/api/placement_keys.ts";
import type { KubeConnection } from "../../../adapters/kube/client/connection.ts";
import { createInformer } from "../../../shared/control/informer.ts";
import { podListWatch } from "../../../adapters/kube/kinds/pods.ts";
import { systemClock } from "../../../adapters/system_clock.ts";
import type { Pod } from "../../../shared/api/pod.ts";
import { silentLog } from "../../../shared/log.ts";
import type { ClassCounts, NodeClass } from "../../../shared/placement/node_classes.ts";

/** May be used in tests only. */
interface PlacementBed {
  readonly node: RealNode;
  readonly nodes: SimulatedNodes;
  readonly namespace: string;
  readonly replicas: SeenReplicas;
}

/** Answers in a row that show that the webhook places pods, and every server trusts it. */
const ANSWERS_IN_A_ROW = 30;

const kubectl = createKubectl();

/**
 * Is there from before the first test of the file until after the last.
 */
export function placementBed(nodes: readonly SimulatedNode[]): PlacementBed {
  const bed = {} as PlacementBed;
  let made: AsyncDisposable | undefined;
  Deno.test.beforeAll(async () => {
    await using undo = new AsyncDisposableStack();
    Object.assign(bed, await makeBed(nodes, undo));
    made = undo.move();
  });
  Deno.test.afterAll(async () => void await made?.[Symbol.asyncDispose]());
  return bed;
}

export function placementTest(name: string, fn: () => Promise<void>): void {
  // The bed's watches and signs of life go on from before each test until after it.
  Deno.test({ name, sanitizeOps: false, sanitizeResources: false, fn });
}

async function makeBed(
  wanted: readonly SimulatedNode[],
  undo: AsyncDisposableStack,
): Promise<PlacementBed> {
  const node = undo.use(await openRealNode());
  const { connection } = node;
  const nodes = undo.use(await openSimulatedNodes(connection));
  await Promise.all(wanted.map((one) => nodes.add(one)));
  const { name: namespace } = undo.use(await scratchNamespace(connection));
  undo.use(await withAllComponents(kubectl));
  const { classOf } = nodes;
  const replicas = undo.use(await seenReplicas(connection, { namespace, classOf }));
  const bed = { node, nodes, namespace, replicas };
  const probe = await admissionProbe(bed, { scene: wanted[0]?.scene ?? "none" });
  let inARow = 0;
  await until(`webhook that places ${ANSWERS_IN_A_ROW} pods in a row`, async () => {
    while (inARow < ANSWERS_IN_A_ROW) {
      if (await probe.ask() === undefined) {
        inARow = 0;
        return undefined;
      }
      inARow++;
    }
    return true;
  }, { timeoutMs: 60_000 });
  return bed;
}

export interface PlacedWorkloadOptions {
  /** @default {"Deployment"} */
  readonly kind?: "Deployment" | "StatefulSet";
  /** Its pods have it as their label `app`. */
  readonly name: string;
  readonly namespace: string;
  /** The scene with the nodes of its pods. */
  readonly scene: string;
  readonly replicas: number;
  /** `spotalis.io/spot-percentage`, as it is written. @default {none, and nothing is enabled} */
  readonly share?: string;
  /** `spotalis.io/min-on-demand`. @default {none} */
  readonly floor?: number;
  /** Where `spotalis.io/enabled` stands. @default {"label"} */
  readonly enabledBy?: "label" | "annotation";
  readonly annotations?: Readonly<Record<string, string>>;
}

export function placedWorkload(
  {
    kind = "Deployment",
    name,
    namespace,
    scene,
    replicas,
    share,
    floor,
    enabledBy = "label",
    annotations = {},
  }: PlacedWorkloadOptions,
): Record<string, unknown> {
  const enabled = share === undefined ? {} : { "spotalis.io/enabled": "true" };
  return {
    apiVersion: "apps/v1",
    kind,
    metadata: {
      name,
      namespace,
      labels: enabledBy === "label" ? enabled : {},
      annotations: {
        ...(enabledBy === "annotation" ? enabled : {}),
        ...(share === undefined ? {} : { "spotalis.io/spot-percentage": share }),
        ...(floor === undefined ? {} : { "spotalis.io/min-on-demand": String(floor) }),
        ...annotations,
      },
    },
    spec: {
      replicas,
      selector: { matchLabels: { app: name } },
      ...(kind === "StatefulSet" ? { serviceName: name } : {}),
      template: {
        metadata: { labels: { app: name } },
        spec: scenePodSpec(scene),
      },
    },
  };
}

/** The spec of a pod that runs on a scene's nodes; its container never starts. */
function scenePodSpec(scene: string): Record<string, unknown> {
  return {
    ...sceneBounds(scene),
    automountServiceAccountToken: false,
    containers: [{
      name: "app",
      image: "busybox:stable",
      resources: { requests: { cpu: "10m", memory: "8Mi" } },
    }],
  };
}

/** Asks for pods of a Deployment of its own. */
interface AdmissionProbe {
  /** The class that the pod would be given; undefined where it would be stored as it was sent. */
  ask(): Promise<string | undefined>;
  /** The pod that is tried, as its ReplicaSet would send it. */
  readonly pod: Readonly<Record<string, unknown>>;
}

/** Makes the Deployment, of one replica, all of them for spot nodes. */
export async function admissionProbe(
  { node: { connection, create }, namespace }: Pick<PlacementBed, "node" | "namespace">,
  { scene, annotations = {} }: {
    readonly scene: string;
    readonly annotations?: Readonly<Record<string, string>>;
  },
): Promise<AdmissionProbe> {
  const name = `probe-${crypto.randomUUID().slice(0, 8)}`;
  const apps = `/apis/apps/v1/namespaces/${namespace}`;
  const workload = placedWorkload({
    name,
    namespace,
    scene,
    replicas: 1,
    share: "100%",
    annotations,
  });
  await create(`${apps}/deployments`, workload);
  const raw = await until(`ReplicaSet of ${name}`, async () => {
    const query = { labelSelector: `app=${name}` };
    const { items } = objectOf(await connection.request({ path: `${apps}/replicasets`, query }));
    return listOf(items)[0];
  });
  const set = parseIdentity(raw);
  const { template } = objectOf(objectOf(raw).spec);
  const { metadata, spec } = objectOf(template);
  const owner = {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    name: set.name,
    uid: set.uid,
    controller: true,
  };
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      generateName: `${set.name}-`,
      namespace,
      labels: objectOf(metadata).labels,
      ownerReferences: [owner],
    },
    spec,
  };
  return {
    pod,
    async ask() {
      const stored = await connection.request({
        method: "POST",
        path: `/api/v1/namespaces/${namespace}/pods`,
        query: { dryRun: "All" },
        body: pod,
      });
      const { labels } = objectOf(objectOf(stored).metadata);
      return textOf(textsOf(labels)[CAPACITY]);
    },
  };
}

/** A pod that is not ending. */
interface SeenReplica {
  readonly uid: string;
  /** Class of the node that it is on; undefined until it has one, or where that is a real node. */
  readonly class: NodeClass | undefined;
  /** The class in the label with which it was made; undefined where there is none. */
  readonly label: string | undefined;
  readonly ready: boolean;
}

/** Pods by their label `app`. */
interface SeenReplicas extends AsyncDisposable {
  of(app: string): readonly SeenReplica[];
  /** Waits until there are exactly these, all Ready; returns them. */
  whenDivided(
    app: string,
    counts: ClassCounts,
    options?: UntilOptions,
  ): Promise<readonly SeenReplica[]>;
  /** Waits until there are so many, wherever, all Ready; returns them. */
  whenReady(app: string, count: number): Promise<readonly SeenReplica[]>;
  /** Looks at each moment that the watch shows, until it is ended. */
  everyMoment(app: string, check: (replicas: readonly SeenReplica[]) => void): Moments;
}

interface Moments {
  /**
   * Looks no more. Throws what the first check has thrown that did; otherwise the number of moments.
   */
  end(): number;
}

async function seenReplicas(
  connection: KubeConnection,
  { namespace, classOf }: {
    readonly namespace: string;
    readonly classOf: (nodeName: string) => NodeClass | undefined;
  },
): Promise<SeenReplicas> {
  const pods = createInformer({
    source: podListWatch(connection, { namespace }),
    clock: systemClock,
    random: { next: () => 0.5 },
    log: silentLog,
    name: "Pod",
    indexBy: ({ metadata }) => metadata.labels["app"],
  });
  const end = new AbortController();
  const running = pods.run(end.signal);
  await pods.whenSynced(end.signal);

  const seen = ({ metadata, nodeName, ready }: Pod): SeenReplica => ({
    uid: metadata.uid,
    class: classOf(nodeName),
    label: metadata.labels[CAPACITY],
    ready,
  });
  const of = (app: string): readonly SeenReplica[] =>
    pods.byIndex(app).filter(({ metadata }) => !metadata.terminating).map(seen);

  return {
    of,
    whenDivided: (app, counts, options) =>
      until(
        `${counts.spot} pods of ${app} on spot and ${counts["on-demand"]} on on-demand nodes`,
        () => {
          const now = of(app);
          const { spot, "on-demand": onDemand } = countsOf(now);
          const settled = now.every(({ ready, class: one }) => ready && one !== undefined);
          const isDivided = spot === counts.spot && onDemand === counts["on-demand"];
          if (settled && isDivided) return now;
          const ready = now.filter((one) => one.ready).length;
          throw new Error(`${spot} and ${onDemand}; of ${now.length} pods ${ready} are Ready`);
        },
        options,
      ),
    whenReady: (app, count) =>
      until(`${count} ready pods of ${app}`, () => {
        const now = of(app);
        return now.length === count && now.every(({ ready }) => ready) ? now : undefined;
      }),
    everyMoment(app, check) {
      let moments = 0;
      let failure: { readonly error: unknown } | undefined;
      const look = (): void => {
        if (failure !== undefined) return;
        moments++;
        try {
          check(of(app));
        } catch (error) {
          failure = { error };
        }
      };
      const unsubscribe = pods.subscribe((key) => {
        // The owner of a deleted pod is unknown.
        const pod = pods.get(key);
        if (pod === undefined || pod.metadata.labels["app"] === app) look();
      });
      return {
        end() {
          unsubscribe();
          if (failure !== undefined) throw failure.error;
          return moments;
        },
      };
    },
    async [Symbol.asyncDispose]() {
      end.abort();
      await running;
    },
  };
}

/** How many are where; a pod without a node counts as what it was made for. */
export function countsOf(replicas: readonly SeenReplica[]): ClassCounts {
  const counts = { spot: 0, "on-demand": 0 };
  for (const { class: one, label } of replicas) {
    if ((one ?? label) === "spot") counts.spot++;
    else counts["on-demand"]++;
  }
  return counts;
}
