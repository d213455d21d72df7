/**
 * The installed product with placement and its webhook, simulated nodes of both classes, and a
 * namespace: what the tests of one file about placement share.
 *
 * @module
 */
import { createKubectl, type Kubectl } from "../kubectl.ts";
import { withAllComponents } from "./all_components.ts";
import { openRealNode, type RealNode, scratchNamespace } from "./real_node.ts";
import { type SeenReplicas, seenReplicas } from "./seen_replicas.ts";
import {
  openSimulatedNodes,
  sceneBounds,
  type SimulatedNode,
  type SimulatedNodes,
} from "./simulated_nodes.ts";
import { pause, until } from "./until.ts";
import { listOf, objectOf, textOf, textsOf } from "../../../adapters/kube/client/json_fields.ts";
import { parseIdentity } from "../../../adapters/kube/kinds/object_fields.ts";
import { CAPACITY } from "../../../shared/api/placement_keys.ts";
import { metricsByPod, PRODUCT_NAMESPACE, seriesIn } from "./product.ts";
import { createCertificateMaker } from "../../../adapters/webhook/certificates.ts";
import { createSecretStore } from "../../../adapters/kube/writers/webhook_stores.ts";
import type { KubeConnection } from "../../../adapters/kube/client/connection.ts";
import { lifeFrom, SERVING_LIFE_MS } from "../../../controller/webhook/certificate_step.ts";
import { servingNames, WEBHOOK_SECRET } from "../../../controller/webhook/webhook_objects.ts";

/** May be used in tests only. */
export interface PlacementBed {
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

/** A test on the bed. */
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

/** What a workload is to be. */
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
  /** More annotations. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** More of its spec. */
  readonly spec?: Readonly<Record<string, unknown>>;
}

/** The object. */
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
    spec = {},
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
      ...spec,
    },
  };
}

/** The spec of a pod that runs on a scene's nodes; its container never starts. */
export function scenePodSpec(scene: string): Record<string, unknown> {
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
export interface AdmissionProbe {
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
    /** More of the Deployment's. */
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

/** The load, and the new certificate that is on its way. */
export interface RotatedCertificate extends AsyncDisposable {
  /**
   * Waits until the leader serves the new one, goes on until as many pods were asked for as the
   * test needs, of them {@link AFTER_ROTATION} with the new one, ends the load, and reports.
   */
  end(): Promise<AdmissionCount & { readonly failures: number }>;
}

const PER_SECOND = 20;
/** The leader reads the Secret every 60 s. */
const ROTATES = { timeoutMs: 120_000, everyMs: 1000 } as const;
const ENDS = "mbcas_webhook_certificate_end_timestamp_seconds";
const AFTER_ROTATION = 100;

/** Begins both. */
export async function rotatedCertificate(
  bed: PlacementBed,
  { kubectl, scene, pods }: {
    readonly kubectl: Kubectl;
    readonly scene: string;
    /** So many pods are asked for at least. The leader may read the Secret at any time of its minute. */
    readonly pods: number;
  },
): Promise<RotatedCertificate> {
  const probe = await admissionProbe(bed, { scene });
  const before = await webhookFailures(kubectl);
  const load = steadyAdmissions(probe, { perSecond: PER_SECOND });
  const endsMs = await renewServing(bed.node.connection, Date.now());
  return {
    async end() {
      await until("new certificate at the leader", async () => {
        const series = [...(await metricsByPod(bed.node, "mbcas-controller")).values()];
        return series.some((one) => one.get(ENDS) === endsMs / 1000) || undefined;
      }, ROTATES);
      const wanted = Math.max(pods, load.asked() + AFTER_ROTATION);
      await until(`${wanted} pods asked for`, () => load.asked() >= wanted || undefined, ROTATES);
      const count = await load.end();
      return { ...count, failures: await webhookFailures(kubectl) - before };
    },
    [Symbol.asyncDispose]: async () => void await load.end(),
  };
}

/** The load while it lasts. */
export interface SteadyAdmissions {
  /** The pods asked for until now. */
  asked(): number;
  /** Ends it, waits for the last answers, and reports. Throws what a request has thrown. */
  end(): Promise<AdmissionCount>;
}

/** Pods that were tried. */
export interface AdmissionCount {
  readonly asked: number;
  /** Those that would have been stored as they were sent. */
  readonly unplaced: number;
}

/** Asks so often, however long the answers take. */
function steadyAdmissions(
  probe: Pick<AdmissionProbe, "ask">,
  { perSecond }: { readonly perSecond: number },
): SteadyAdmissions {
  const end = new AbortController();
  const answers: Promise<string | undefined>[] = [];
  const failures: unknown[] = [];

  async function run(): Promise<void> {
    const begunMs = performance.now();
    while (!end.signal.aborted) {
      const answer = probe.ask();
      answer.catch((error: unknown) => failures.push(error));
      answers.push(answer);
      await pause(Math.max(0, begunMs + answers.length * 1000 / perSecond - performance.now()));
    }
  }

  const running = run();
  return {
    asked: () => answers.length,
    async end() {
      end.abort();
      await running;
      const all = await Promise.allSettled(answers);
      if (failures.length > 0) throw failures[0];
      const unplaced = all.filter((one) => one.status === "fulfilled" && one.value === undefined);
      return { asked: all.length, unplaced: unplaced.length };
    },
  };
}

const FAILED = /^apiserver_admission_webhook_fail_open_count\{.*name="[a-z.]+\.mbcas\.io"/;

/** How often the server has let an object pass because the webhook had not answered. */
async function webhookFailures(kubectl: Kubectl): Promise<number> {
  const series = seriesIn(await kubectl.must(["get", "--raw", "/metrics"]));
  return [...series].filter(([name]) => FAILED.test(name))
    .reduce((sum, [, value]) => sum + value, 0);
}

const SERVICE = "mbcas-webhook";
const HOUR_MS = 3_600_000;

/** Puts a new certificate of the same authority in; returns when it ends, ms since 1970. */
async function renewServing(connection: KubeConnection, nowMs: number): Promise<number> {
  const store = createSecretStore(connection, {
    namespace: PRODUCT_NAMESPACE,
    name: WEBHOOK_SECRET,
    labels: {},
  });
  const stored = await store.read();
  if (stored === undefined) throw new Error("Cannot renew the certificate: there is no Secret");
  const authority = { cert: stored.data["ca.crt"] ?? "", key: stored.data["ca.key"] ?? "" };
  // An hour less than the product's own, so that it is distinguished from those.
  const validity = lifeFrom(nowMs, SERVING_LIFE_MS - HOUR_MS);
  const names = servingNames(SERVICE, PRODUCT_NAMESPACE);
  const { cert, key } = await createCertificateMaker().makeServing(authority, {
    ...validity,
    names,
  });
  await store.replace(stored, { ...stored.data, "tls.crt": cert, "tls.key": key });
  return validity.notAfterMs;
}
