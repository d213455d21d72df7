/**
 * `deno task test:soak`: memory and open files of agent and controllers while pods come and go, on the
 * real node of the harness.
 *
 * @module
 */
import { Command } from "commander";
import { allocationsPath } from "../../../adapters/kube/kinds/allocations.ts";
import { MANAGED } from "../../../shared/api/market_keys.ts";
import { seededRandom } from "../../../shared/random.ts";
import { createKubectl } from "../../../tests/cluster/kubectl.ts";
import { installAllComponents } from "../../../tests/cluster/scene/all_components.ts";
import { loadPod } from "../../../tests/cluster/scene/load_pod.ts";
import {
  leader,
  podsOf,
  PRODUCT_NAMESPACE,
  whenReady,
} from "../../../tests/cluster/scene/product.ts";
import { openRealNode, scratchNamespace } from "../../../tests/cluster/scene/real_node.ts";
import { pause, until } from "../../../tests/cluster/scene/until.ts";
import {
  benchFlags,
  columns,
  type Goal,
  goal,
  memoryKiB,
  printResult,
  wholeNumber,
  wholeNumberFrom,
} from "../bench.ts";
import { programIn } from "../chaos/programs.ts";
import { blockMeans, slopeOf } from "../../simulation/statistics.ts";

const SAMPLE_MS = 10_000;
/**
 * The growth at most, per hour of this churn, in which 1,800 pods come and go. 2 MiB are 1.2 KiB per
 * pod: the agent has some 100 MiB up to its limit, which takes 50 hours and 90,000 pods. A file that is
 * left open with one pod of 450 makes 4. Pages that a file backs are the program itself and not counted.
 */
const BOUNDS = { anonymous: 2048, files: 4 } as const;
const FIGURES = ["anonymous", "files"] as const;
/** Samples of the same minutes are alike: open files follow the pods that are there. */
const BLOCKS = 10;

type Sample = Readonly<Record<typeof FIGURES[number] | "atHours", number>>;

const { json, minutes, seed, fullGc } = benchFlags<
  Record<"minutes" | "seed", number> & { fullGc: boolean }
>(
  new Command("test:soak")
    .description(
      "Makes and deletes pods all the time, and watches memory and open files of agent and " +
        "controllers. Needs root on the node of the harness. Exit code 1: something grew, or ended.",
    )
    .option("--minutes <n>", "length of the run, 3 or more", wholeNumberFrom(3), 30)
    .option("--seed <n>", "of all that is drawn", wholeNumber, 1)
    .option("--full-gc", "let the programs collect all garbage: what still grows is held", false),
);

const kubectl = createKubectl();

/** Sets the flag of V8 that makes each collection a whole one, until it is disposed of. */
async function withFullGC(): Promise<AsyncDisposable> {
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

/** A look at the process; undefined when it is gone. */
function sampleOf(pid: number, atHours: number): Sample | undefined {
  try {
    const files = [...Deno.readDirSync(`/proc/${pid}/fd`)].length;
    return { atHours, anonymous: memoryKiB(pid, "RssAnon"), files };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** The growth of each figure after the warm-up, which is flat as far as chance explains it. */
function growthGoals(program: string, samples: readonly Sample[]): Goal[] {
  return FIGURES.map((figure) => {
    const means = blockMeans(samples.map((one) => [one.atHours, one[figure]]), BLOCKS);
    const { perUnit, error } = slopeOf(means);
    const name = `${program} ${figure}, ± ${error.toFixed(1)} per hour`;
    return goal(name, perUnit, { most: Math.max(BOUNDS[figure], 2 * error) });
  });
}

/** One pod comes in this time, and from then on one goes, ms. */
const EVERY_MS = 2000;
const LIVING = 36;
/** In this share of turns a living pod opts out or in. */
const TOGGLES = 0.25;
/** This share of pods begins outside of the market. */
const OUTSIDE = 0.2;
/** Counts of the requests; a turn goes on after one that failed. */
const done = { created: 0, deleted: 0, toggled: 0, failed: 0 };

async function attempt(
  count: Exclude<keyof typeof done, "failed">,
  request: Promise<unknown>,
): Promise<void> {
  try {
    await request;
    done[count]++;
  } catch {
    done.failed++;
  }
}

/** Makes, changes and deletes pods until the signal is aborted. */
async function churn(namespace: string, signal: AbortSignal): Promise<void> {
  const random = seededRandom(seed);
  const living: { readonly name: string; managed: boolean }[] = [];
  const path = `/api/v1/namespaces/${namespace}/pods`;
  const containers = [{ name: "load", request: "5m", limit: "20m" }];
  for (let turn = 0; !signal.aborted; turn++) {
    const began = performance.now();
    const pod = { name: `churn-${turn}`, managed: random.next() >= OUTSIDE };
    const labels = { [MANAGED]: `${pod.managed}` };
    const made = loadPod({ namespace, name: pod.name, labels, containers });
    await attempt("created", node.create(path, made));
    living.push(pod);
    const oldest = living.length > LIVING ? living.shift() : undefined;
    if (oldest !== undefined) await attempt("deleted", node.remove(`${path}/${oldest.name}`));
    const changed = living[Math.floor(random.next() * living.length)];
    if (changed !== undefined && random.next() < TOGGLES) {
      changed.managed = !changed.managed;
      const change = { metadata: { labels: { [MANAGED]: `${changed.managed}` } } };
      await attempt("toggled", node.merge(`${path}/${changed.name}`, change));
    }
    await pause(Math.max(0, began + EVERY_MS - performance.now()));
  }
}

using node = await openRealNode();
await using _components = await installAllComponents(kubectl);
await using _flags = fullGc ? await withFullGC() : undefined;
await using namespace = await scratchNamespace(node.connection);
await whenReady(node, "mbcas-controller", 2);
const leading = await until("a leader", () => leader(node));
const pods = [...await podsOf(node, "mbcas-agent"), ...await podsOf(node, "mbcas-controller")];
/** Processes by what they were at first. */
const programs = pods.map((pod) => {
  const { name } = pod.metadata;
  const pid = programIn(pod);
  if (pid === undefined) throw new Error(`Cannot find the process of pod ${name} here`);
  const role = name === leading ? "leader" : "standby";
  return { name: name.startsWith("mbcas-agent") ? "agent" : role, pid, samples: [] as Sample[] };
});
const ended = new Set<string>();
const end = new AbortController();
const churning = churn(namespace.name, end.signal);
const began = performance.now();
const warmUpMinutes = Math.max(2, minutes / 3);
for (let look = 1; look <= minutes * 60_000 / SAMPLE_MS; look++) {
  await pause(Math.max(0, began + look * SAMPLE_MS - performance.now()));
  const atHours = (performance.now() - began) / 3_600_000;
  for (const { name, pid, samples } of programs) {
    const sample = sampleOf(pid, atHours);
    if (sample === undefined) ended.add(name);
    else if (atHours > warmUpMinutes / 60) samples.push(sample);
  }
}
const records = (await node.items(allocationsPath(namespace.name))).length;
end.abort();
await churning;
printResult({
  json,
  figures: { seed, minutes, fullGc, warmUpMinutes, churn: done, records },
  goals: [
    goal("programs that ended", ended.size, { most: 0 }),
    // The product did take part.
    goal("1 / allocations in the end", 1 / records, { most: 1 }),
    ...programs.filter(({ name }) => !ended.has(name))
      .flatMap(({ name, samples }) => growthGoals(name, samples)),
  ],
  text: [
    `${minutes} minutes, of which ${warmUpMinutes.toFixed(0)} are warm-up; seed ${seed}` +
    `${fullGc ? ", collecting all garbage" : ""}; ${JSON.stringify(done)}`,
    columns([
      ["KiB, open files", "first", "last"],
      ...programs.flatMap(({ name, samples }) =>
        FIGURES.map((figure) => [
          `${name} ${figure}`,
          ...[samples[0], samples.at(-1)].map((sample) => `${sample?.[figure]}`),
        ])
      ),
    ]),
    ...[...ended].map((name) => `ENDED: ${name}`),
  ],
});
