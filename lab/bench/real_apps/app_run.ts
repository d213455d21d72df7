/**
 * One run of the apps under an algorithm, from the first object to the last figure.
 *
 * @module
 */
import { objectOf } from "../../../adapters/kube/client/json_fields.ts";
import { formatCPU } from "../../../shared/quantity.ts";
import { autoscalerOf, autoscalersPath, loadPod } from "../../../tests/cluster/scene/load_pod.ts";
import {
  cpuAccount,
  podDirectories,
  processOne,
} from "../../../tests/cluster/scene/node_cgroups.ts";
import { type RealNode, scratchNamespace } from "../../../tests/cluster/scene/real_node.ts";
import { pause, until } from "../../../tests/cluster/scene/until.ts";
import { imageOf } from "./app_images.ts";
import {
  type App,
  type AppAlgorithm,
  type AppFigures,
  type AppResult,
  APPS,
  type Burst,
  BURST_S,
  burstTurns,
  type Phase,
  TURN_S,
} from "./app_result.ts";
import { attack, requestFigures, runWebdis, type SentRequest } from "./load.ts";
import type { Programs } from "./programs.ts";

/** The options of a run. */
export interface AppRunOptions extends Pick<AppResult, "seed" | "minutes"> {
  readonly node: RealNode;
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
/** Request of the neighbour, and its limit. */
const NEIGHBOUR = "500m";
/** The label that names a replica's service. */
const SERVICE_LABEL = "bench-service";
/** Base load before the run, in which programs warm up and the algorithm sees the pods. */
const WARM_UP_S = 10;
/** Plays a run. */
export async function appRun(algorithm: AppAlgorithm, options: AppRunOptions): Promise<AppRun> {
  const { node, programs, seed, minutes } = options;
  const seconds = 60 * minutes;
  const bursts = burstTurns({ seed, minutes });
  await using scratch = await scratchNamespace(node.connection, {
    annotations: algorithm === "coallocator" ? {} : { "mbcas.io/managed": "false" },
  });
  const namespace = scratch.name;
  const addresses = await createObjects(algorithm, { node, namespace });
  const limit = algorithm === "none" ? {} : { limit: NEIGHBOUR };
  // Four busy loops take all CPUs of this node, in the second half.
  const burst = { request: NEIGHBOUR, ...limit, threads: 4, burstSeconds: seconds / 2 };
  const containers = [{ name: "load", ...burst }];
  const neighbour = await node.run(loadPod({ name: "neighbour", namespace, containers }));
  const usedMs = (): number => cpuAccount(podDirectories(neighbour)).usageMs;
  await using webdis = await runWebdis(addresses("redis"), programs);
  const urlOf = ({ name, port, path }: App): string =>
    `${name === "redis" ? webdis.url : `http://${addresses(name)}:${port}`}${path}`;
  const startMs = Date.now() + 1000 * (WARM_UP_S + 2);
  const middleMs = startMs + 500 * seconds;
  const [sent, neighbourMs] = await Promise.all([
    Promise.all(APPS.map((app) => load(app, { ...options, url: urlOf(app), bursts, startMs }))),
    pause(Math.max(0, middleMs - Date.now())).then(async () => {
      const beforeMs = usedMs();
      Deno.kill(processOne(neighbour, "load"), "SIGUSR1");
      await pause(Math.max(0, startMs + 1000 * seconds - Date.now()));
      return usedMs() - beforeMs;
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
}

/** Creates the apps and waits until they run; the result has the Services' addresses. */
async function createObjects(
  algorithm: AppAlgorithm,
  { node, namespace }: { readonly node: RealNode; readonly namespace: string },
): Promise<(name: App["name"]) => string> {
  const addresses = new Map<string, string>();
  for (const app of APPS) {
    const { name, scales } = app;
    await node.deploy(appDeployment(app, { namespace, limited: algorithm !== "none" }));
    const service = await node.create(`/api/v1/namespaces/${namespace}/services`, appService(app));
    addresses.set(name, String(objectOf(objectOf(service)["spec"])["clusterIP"]));
    if (algorithm === "hpa" && scales) {
      // As people set it; its limits together are what the product allows one pod.
      await node.create(autoscalersPath(namespace), autoscalerOf(name, 70, { most: 4 }));
    }
  }
  for (const { name } of APPS) {
    const path = `/apis/apps/v1/namespaces/${namespace}/deployments/${name}`;
    await until(`ready replica of ${name}`, async () => {
      const { status } = objectOf(await node.find(path));
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

type KubeObject = Record<string, unknown>;

function appDeployment(
  { name, port }: App,
  { namespace, limited }: { readonly namespace: string; readonly limited: boolean },
): KubeObject {
  const labels = { [SERVICE_LABEL]: name };
  const resources = {
    requests: { cpu: formatCPU(REQUEST) },
    ...(limited ? { limits: { cpu: formatCPU(LIMIT) } } : {}),
  };
  const container = {
    name: "app",
    image: imageOf(name),
    imagePullPolicy: "Never",
    resources,
    readinessProbe: { tcpSocket: { port }, periodSeconds: 1 },
  };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          terminationGracePeriodSeconds: 5,
          automountServiceAccountToken: false,
          containers: [container],
        },
      },
    },
  };
}

function appService({ name, port }: App): KubeObject {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name },
    spec: { selector: { [SERVICE_LABEL]: name }, ports: [{ port }] },
  };
}
