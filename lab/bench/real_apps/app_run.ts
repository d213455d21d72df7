/**
 * One run of the apps under an algorithm, from the first object to the last figure.
 *
 * @module
 */
import type { OpenKubeConnection } from "../../../adapters/kube/client/connection.ts";
import { objectOf } from "../../../adapters/kube/client/json_fields.ts";
import { scratchNamespace } from "../../../tests/cluster/scene/real_node.ts";
import { pause, until } from "../../../tests/cluster/scene/until.ts";
import {
  appAutoscaler,
  appDeployment,
  appService,
  NEIGHBOUR_NAME,
  neighbourDeployment,
  START_FILE,
} from "./app_objects.ts";
import type { AppAlgorithm, AppFigures, AppResult } from "./app_result.ts";
import {
  type App,
  APPS,
  type Burst,
  BURST_FACTOR,
  BURST_S,
  burstTurns,
  RATE,
  TURN_S,
} from "./apps.ts";
import { attack, requestFigures, runWebdis, type SentRequest } from "./load.ts";
import { measureMachine, observe, type ObservedApp, type Phase } from "./observe.ts";
import type { Programs } from "./programs.ts";

/** The options of a run. */
export interface AppRunOptions extends Pick<AppResult, "seed" | "minutes"> {
  readonly connection: OpenKubeConnection;
  readonly programs: Programs;
  readonly onProgress: (doneS: number) => void;
}

/** The outcome of a run, without the fields that are the same for all. */
export type AppRun = Omit<AppResult, "kernel" | "versions">;

/** Base load before the run, in which programs warm up and the algorithm sees the pods. */
const WARM_UP_S = 10;
/** Plays a run. */
export async function appRun(algorithm: AppAlgorithm, options: AppRunOptions): Promise<AppRun> {
  const { connection, programs, seed, minutes, onProgress } = options;
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
    const ownMs = ownTimeMs();
    const startMs = Date.now() + 1000 * (WARM_UP_S + 2);
    const [sent, seen, busyCores] = await Promise.all([
      Promise.all(APPS.map((app) => load(app, { ...options, url: urlOf(app), bursts, startMs }))),
      observe({ connection, namespace, seconds, startMs, onProgress }),
      busyDuring({ startMs, seconds }),
      startNeighbour(`${folder}/${START_FILE}`, startMs + 500 * seconds),
    ]);
    const neighbour = seen.get(NEIGHBOUR_NAME)?.growth.neighbour.usageMs ?? NaN;
    return {
      ...{ algorithm, seed, minutes, busyCores },
      loadCores: (ownTimeMs() - ownMs) / (Date.now() - startMs + 1000 * WARM_UP_S),
      neighbourUsed: neighbour / (seconds / 2),
      apps: APPS.map(({ name }, index) => {
        const app = seen.get(name);
        if (app === undefined) throw new Error(`Cannot sum up ${name}: it did not run`);
        const { mostReplicas, changes, growth } = app;
        const figures = (phase: Phase): AppFigures =>
          figuresIn(phase, {
            ...{ seconds, startMs, growth, sent: sent[index] ?? [] },
            bursts: bursts.filter(({ app }) => app === name),
          });
        const phases = { alone: figures("alone"), neighbour: figures("neighbour") };
        return { name, mostReplicas, changes, phases };
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
    await create(deployments, appDeployment(app, { limited }));
    const service = await create(`/api/v1/namespaces/${namespace}/services`, appService(app));
    addresses.set(app.name, String(objectOf(objectOf(service)["spec"])["clusterIP"]));
    if (algorithm === "hpa" && app.scales) {
      const path = `/apis/autoscaling/v2/namespaces/${namespace}/horizontalpodautoscalers`;
      await create(path, appAutoscaler(app));
    }
  }
  await create(deployments, neighbourDeployment({ folder, limited }));
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

/** CPUs of the machine that are busy, in the mean of the run. */
async function busyDuring(
  { startMs, seconds }: { readonly startMs: number; readonly seconds: number },
): Promise<number> {
  await pause(Math.max(0, startMs - Date.now()));
  const busyCores = measureMachine();
  await pause(1000 * seconds);
  return busyCores();
}

async function startNeighbour(file: string, atMs: number): Promise<void> {
  await pause(Math.max(0, atMs - Date.now()));
  await Deno.writeTextFile(file, "");
}

function figuresIn(phase: Phase, { seconds, startMs, bursts, growth, sent }: {
  readonly seconds: number;
  readonly startMs: number;
  readonly bursts: readonly Burst[];
  readonly growth: ObservedApp["growth"];
  readonly sent: readonly SentRequest[];
}): AppFigures {
  const halfS = seconds / 2;
  const inPhase = sent.filter(({ atMs }) =>
    (atMs < startMs + 1000 * halfS) === (phase === "alone")
  );
  const busy = (atMs: number): boolean =>
    bursts.some(({ atS }) => {
      const afterS = (atMs - startMs) / 1000 - atS;
      return afterS >= 0 && afterS < TURN_S;
    });
  return {
    ...requestFigures(inPhase, busy),
    throttledMsPerS: growth[phase].throttledMs / halfS,
    used: growth[phase].usageMs / halfS,
  };
}

/** CPU time of this process and of its children that have ended, ms. */
function ownTimeMs(): number {
  const stat = Deno.readTextFileSync("/proc/self/stat");
  // From the third field on: the second is a name in parentheses.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ").map(Number);
  const TICK_MS = 10;
  return fields.slice(11, 15).reduce((sum, ticks) => sum + ticks, 0) * TICK_MS;
}
