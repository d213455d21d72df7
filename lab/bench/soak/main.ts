/**
 * `deno task test:soak`: memory and open files of agent and controllers while pods come and go, on the
 * real node of the harness.
 *
 * @module
 */
import { listOf, objectOf } from "../../../adapters/kube/client/json_fields.ts";
import { createKubectl, type Kubectl } from "../../../tests/cluster/kubectl.ts";
import { installAllComponents } from "../../../tests/cluster/scene/all_components.ts";
import {
  leader,
  podsOf,
  PRODUCT_NAMESPACE,
  whenReady,
} from "../../../tests/cluster/scene/product.ts";
import {
  openRealNode,
  type RealNode,
  scratchNamespace,
} from "../../../tests/cluster/scene/real_node.ts";
import { pause, until } from "../../../tests/cluster/scene/until.ts";
import { memoryKiB } from "../agent/process_memory.ts";
import { type LongRun, parseCommandLine } from "../chaos/command_line.ts";
import { programIn } from "../chaos/programs.ts";
import { type Churn, churn } from "./churn.ts";
import { isSteady, type ProcessSample, seriesOf, type SoakReport, soakTable } from "./report.ts";
import { printAnswer } from "../parse_flags.ts";

const SAMPLE_MS = 10_000;
const SAMPLES_PER_MINUTE = 60_000 / SAMPLE_MS;
/** A third of the run, and at least this. */
const LEAST_WARM_UP_MINUTES = 2;

const log = (text: string): void => console.error(`${new Date().toISOString()} ${text}`);

async function main(args: readonly string[]): Promise<number> {
  const parsed = parseCommandLine(args, {
    name: "test:soak",
    about: "Makes and deletes pods all the time, and watches memory and open files of agent and " +
      "controllers. Exit code 1: something grew, or ended.",
    minutes: 30,
    leastMinutes: 3,
    fullGc: "let the programs collect all garbage all the time: what still grows is held",
  });
  if ("exitCode" in parsed) return printAnswer(parsed);
  const report = await play(parsed);
  console.log(parsed.json ? JSON.stringify(report) : soakTable(report));
  return isSteady(report) ? 0 : 1;
}

async function play({ minutes, seed, fullGc }: LongRun): Promise<SoakReport> {
  using node = await openRealNode();
  const kubectl = createKubectl();
  await using _components = await installAllComponents(kubectl);
  await using _flags = fullGc ? await withFullGC(kubectl) : undefined;
  await using namespace = await scratchNamespace(node.connection);
  await whenReady(node, "mbcas-controller", 2);
  const programs = await programsOf(node);
  const done: Churn = { created: 0, deleted: 0, toggled: 0, failed: 0 };
  const end = new AbortController();
  const churning = churn(node, { namespace: namespace.name, seed, done, signal: end.signal });
  const samples = new Map<string, ProcessSample[]>([...programs.keys()].map((name) => [name, []]));
  const restarted = new Set<string>();
  const began = performance.now();
  const looks = minutes * SAMPLES_PER_MINUTE;
  for (let look = 1; look <= looks; look++) {
    await pause(Math.max(0, began + look * SAMPLE_MS - performance.now()));
    for (const [name, pid] of programs) {
      const sample = sampleOf(pid, (performance.now() - began) / 3_600_000);
      if (sample === undefined) restarted.add(name);
      else samples.get(name)?.push(sample);
    }
    if (look % SAMPLES_PER_MINUTE === 0) {
      const now = [...samples].map(([name, some]) =>
        `${name} ${some.at(-1)?.rss} KiB, ${some.at(-1)?.files} files`
      );
      log(`${look / SAMPLES_PER_MINUTE} min, ${done.created} pods: ${now.join("; ")}`);
    }
  }
  const path = `/apis/allocation.mbcas.io/v1alpha1/namespaces/${namespace.name}/podallocations`;
  const records = listOf(objectOf(await node.connection.request({ path }))["items"]).length;
  end.abort();
  await churning;
  const warmUpMinutes = Math.max(LEAST_WARM_UP_MINUTES, minutes / 3);
  const series = [...samples].flatMap(([name, all]) =>
    restarted.has(name)
      ? []
      : seriesOf(name, all.filter(({ atHours }) => atHours > warmUpMinutes / 60))
  );
  return {
    seed,
    minutes,
    fullGc,
    warmUpMinutes,
    churn: done,
    records,
    series,
    restarted: [...restarted],
  };
}

/** Sets the flag of V8 that makes each collection a whole one, until it is disposed of. */
async function withFullGC(kubectl: Kubectl): Promise<AsyncDisposable> {
  const programs = ["deployment/mbcas-controller", "daemonset/mbcas-agent"];
  const set = async (variable: string): Promise<void> => {
    await kubectl.must(["set", "env", "-n", PRODUCT_NAMESPACE, ...programs, variable]);
    for (const program of programs) {
      const wait = ["rollout", "status", program, "-n", PRODUCT_NAMESPACE, "--timeout=120s"];
      await kubectl.must(wait);
    }
  };
  await set("DENO_V8_FLAGS=--gc-global");
  return { [Symbol.asyncDispose]: () => set("DENO_V8_FLAGS-") };
}

/** Processes by name: the agent and both controllers, which are called by what they were at first. */
async function programsOf(node: RealNode): Promise<ReadonlyMap<string, number>> {
  const leading = await until("a leader", () => leader(node));
  const pods = [...await podsOf(node, "mbcas-agent"), ...await podsOf(node, "mbcas-controller")];
  return new Map(pods.map((pod): [string, number] => {
    const { name } = pod.metadata;
    const role = name === leading ? "leader" : "standby";
    const pid = programIn(pod);
    if (pid === undefined) throw new Error(`Cannot find the process of pod ${name} here`);
    return [name.startsWith("mbcas-agent") ? "agent" : role, pid];
  }));
}

/** A look at the process; undefined when it is gone. */
function sampleOf(pid: number, atHours: number): ProcessSample | undefined {
  try {
    const [rss, anonymous] = [memoryKiB(pid, "VmRSS"), memoryKiB(pid, "RssAnon")];
    const files = [...Deno.readDirSync(`/proc/${pid}/fd`)].length;
    return { atHours, pid, rss, anonymous, files };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

if (import.meta.main) Deno.exitCode = await main(Deno.args);
