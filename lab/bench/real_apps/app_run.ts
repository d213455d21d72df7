/**
 * One run of the apps under an algorithm, from the first object to the last figure.
 *
 * @module
 */
import type { OpenKubeConnection } from "../../../adapters/kube/client/connection.ts";
import { listOf, objectOf } from "../../../adapters/kube/client/json_fields.ts";
import { parsePod } from "../../../adapters/kube/kinds/pods.ts";
import { formatCPU } from "../../../shared/quantity.ts";
import { BUSYBOX_IMAGE } from "../../../tests/cluster/harness/install/image_archive.ts";
import { cpuAccount, podDirectories } from "../../../tests/cluster/scene/node_cgroups.ts";
import { scratchNamespace } from "../../../tests/cluster/scene/real_node.ts";
import { pause, until } from "../../../tests/cluster/scene/until.ts";
import { imageOf } from "./app_images.ts";
import type { AppAlgorithm, AppFigures, AppResult, Phase } from "./app_result.ts";
import { type App, APPS, type Burst, BURST_S, burstTurns, TURN_S } from "./apps.ts";
import { attack, requestFigures, runWebdis, type SentRequest } from "./load.ts";
import type { Programs } from "./programs.ts";

/** The options of a run. */
export interface AppRunOptions extends Pick<AppResult, "seed" | "minutes"> {
  readonly connection: OpenKubeConnection;
  readonly programs: Programs;
}

/** The outcome of a run, without the fields that are the same for all. */
export type AppRun = Omit<AppResult, "kernel" | "versions">;

/** Requests per second to each, outside of bursts: some 80m of CPU. */
const RATE = 25;
/** Load in a burst, as a multiple of that outside of it. */
const BURST_FACTOR = 5;
/** Request of each app and its limit, millicores. */
const REQUEST = 150;
const LIMIT = 2 * REQUEST;
/** Request and limit of the neighbour, millicores. */
const NEIGHBOUR = 500;
/** The label that names a replica's service. */
const SERVICE_LABEL = "bench-service";
/** Base load before the run, in which programs warm up and the algorithm sees the pods. */
const WARM_UP_S = 10;
/** Plays a run. */
export async function appRun(algorithm: AppAlgorithm, options: AppRunOptions): Promise<AppRun> {
  const { connection, programs, seed, minutes } = options;
  const seconds = 60 * minutes;
  const bursts = burstTurns({ seed, minutes });
  const folder = await Deno.makeTempDir({ prefix: "real-apps-" });
  try {
    await using scratch = await scratchNamespace(connection, {
      annotations: algorithm === "coallocator" ? {} : { "mbcas.io/managed": "false" },
    });
    const namespace = scratch.name;
    const addresses = await createObjects(algorithm, { connection, namespace, folder });
    await using webdis = await runWebdis(addresses("redis"), programs);
    const urlOf = ({ name, port, path }: App): string =>
      `${name === "redis" ? webdis.url : `http://${addresses(name)}:${port}`}${path}`;
    const startMs = Date.now() + 1000 * (WARM_UP_S + 2);
    const neighbour = await neighbourCPU(options, namespace);
    const middleMs = startMs + 500 * seconds;
    const [sent, neighbourMs] = await Promise.all([
      Promise.all(APPS.map((app) => load(app, { ...options, url: urlOf(app), bursts, startMs }))),
      pause(Math.max(0, middleMs - Date.now())).then(async () => {
        const beforeMs = neighbour();
        await Deno.writeTextFile(`${folder}/${START_FILE}`, "");
        await pause(Math.max(0, startMs + 1000 * seconds - Date.now()));
        return neighbour() - beforeMs;
      }),
    ]);
    return {
      ...{ algorithm, seed, minutes },
      neighbourUsed: neighbourMs / (seconds / 2),
      apps: APPS.map(({ name }, index) => {
        const figures = (phase: Phase): AppFigures =>
          figuresIn(phase, {
            ...{ middleMs, startMs, sent: sent[index] ?? [] },
            bursts: bursts.filter(({ app }) => app === name),
          });
        return { name, phases: { alone: figures("alone"), neighbour: figures("neighbour") } };
      }),
    };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Creates all objects and waits until they run; the result has the Services' addresses. */
async function createObjects(
  algorithm: AppAlgorithm,
  { connection, namespace, folder }: {
    readonly connection: OpenKubeConnection;
    readonly namespace: string;
    readonly folder: string;
  },
): Promise<(name: App["name"]) => string> {
  const create = async (path: string, body: unknown): Promise<unknown> =>
    await connection.request({ method: "POST", path, body });
  const deployments = `/apis/apps/v1/namespaces/${namespace}/deployments`;
  const limited = algorithm !== "none";
  const addresses = new Map<string, string>();
  for (const app of APPS) {
    await create(deployments, appDeployment(app, limited));
    const service = await create(`/api/v1/namespaces/${namespace}/services`, appService(app));
    addresses.set(app.name, String(objectOf(objectOf(service)["spec"])["clusterIP"]));
    if (algorithm === "hpa" && app.scales) {
      const path = `/apis/autoscaling/v2/namespaces/${namespace}/horizontalpodautoscalers`;
      await create(path, appAutoscaler(app));
    }
  }
  await create(deployments, neighbourDeployment(folder, limited));
  for (const name of [...APPS.map((app) => app.name), NEIGHBOUR_NAME]) {
    await until(`ready replica of ${name}`, async () => {
      const { status } = objectOf(await connection.request({ path: `${deployments}/${name}` }));
      return objectOf(status)["readyReplicas"] === 1 ? true : undefined;
    }, { timeoutMs: 60_000 });
  }
  return (name) => addresses.get(name) ?? "";
}

/** Sends an app's base load and its bursts; those of the warm-up are left out. */
async function load(
  { name }: App,
  { url, bursts, startMs, minutes, programs }: AppRunOptions & {
    readonly url: string;
    readonly bursts: readonly Burst[];
    readonly startMs: number;
  },
): Promise<SentRequest[]> {
  const base = {
    ...{ url, rate: RATE, startMs: startMs - 1000 * WARM_UP_S },
    seconds: 60 * minutes + WARM_UP_S,
  };
  const added = bursts.filter(({ app }) => app === name).map(({ atS }) => ({
    ...{ url, rate: (BURST_FACTOR - 1) * RATE, startMs: startMs + 1000 * atS },
    seconds: BURST_S,
  }));
  const all = await Promise.all([base, ...added].map((one) => attack(one, programs)));
  return all.flat().filter(({ atMs }) => atMs >= startMs);
}

/** Finds the neighbour; the function reads the CPU time that it has used, ms. */
async function neighbourCPU(
  { connection }: Pick<AppRunOptions, "connection">,
  namespace: string,
): Promise<() => number> {
  const list = await connection.request({
    path: `/api/v1/namespaces/${namespace}/pods`,
    query: { labelSelector: `${SERVICE_LABEL}=${NEIGHBOUR_NAME}` },
  });
  const directories = podDirectories(parsePod(listOf(objectOf(list)["items"])[0]));
  return () => cpuAccount(directories).usageMs;
}

function figuresIn(phase: Phase, { middleMs, startMs, bursts, sent }: {
  readonly middleMs: number;
  readonly startMs: number;
  readonly bursts: readonly Burst[];
  readonly sent: readonly SentRequest[];
}): AppFigures {
  const inPhase = sent.filter(({ atMs }) => (atMs < middleMs) === (phase === "alone"));
  return requestFigures(inPhase, (atMs) =>
    bursts.some(({ atS }) => {
      const afterS = (atMs - startMs) / 1000 - atS;
      return afterS >= 0 && afterS < TURN_S;
    }));
}

type KubeObject = Readonly<Record<string, unknown>>;

const NEIGHBOUR_NAME = "neighbour";
/** Starts the neighbour's loops when it is in their folder. */
const START_FILE = "start";

/** Four busy loops take all CPUs of this node. */
const LOOPS = `until [ -e /start/${START_FILE} ]; do sleep 0.2; done
for loop in 1 2 3 4; do (while :; do :; done) & done
wait`;

function appDeployment({ name, port }: App, limited: boolean): KubeObject {
  return deployment(name, {
    containers: [{
      name: "app",
      image: imageOf(name),
      imagePullPolicy: "Never",
      resources: resources(REQUEST, limited ? LIMIT : undefined),
      readinessProbe: { tcpSocket: { port }, periodSeconds: 1 },
    }],
  });
}

function appService({ name, port }: App): KubeObject {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name },
    spec: { selector: { [SERVICE_LABEL]: name }, ports: [{ port }] },
  };
}

/** An HPA as people set it; its limits together are what the product allows one pod. */
function appAutoscaler({ name }: App): KubeObject {
  return {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { name },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name },
      minReplicas: 1,
      maxReplicas: 4,
      metrics: [{
        type: "Resource",
        resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 70 } },
      }],
    },
  };
}

/** A pod that does nothing until {@linkcode START_FILE} is in `folder`, a path of the machine. */
function neighbourDeployment(folder: string, limited: boolean): KubeObject {
  return deployment(NEIGHBOUR_NAME, {
    volumes: [{ name: "start", hostPath: { path: folder, type: "Directory" } }],
    containers: [{
      name: "app",
      image: BUSYBOX_IMAGE,
      imagePullPolicy: "Never",
      command: ["sh", "-c", LOOPS],
      resources: resources(NEIGHBOUR, limited ? NEIGHBOUR : undefined),
      volumeMounts: [{ name: "start", mountPath: "/start" }],
    }],
  });
}

function deployment(name: string, spec: KubeObject): KubeObject {
  const labels = { [SERVICE_LABEL]: name };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { terminationGracePeriodSeconds: 5, automountServiceAccountToken: false, ...spec },
      },
    },
  };
}

function resources(request: number, limit: number | undefined): KubeObject {
  return {
    requests: { cpu: formatCPU(request) },
    ...(limit === undefined ? {} : { limits: { cpu: formatCPU(limit) } }),
  };
}
