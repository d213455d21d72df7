/**
 * Reads what `placement` shows. Only the workloads must be readable; what else can't be read is said.
 *
 * @module
 */
import { ApiError } from "../../../shared/api/api_error.ts";
import type { Workload } from "../../../shared/api/workload.ts";
import type { ObjectLists } from "../../../shared/placement/workload_snapshot.ts";
import { PLACED_KINDS } from "../../../shared/placement/eligibility.ts";
import { explainApiError } from "../api_problem.ts";
import { CommandProblem, type NamespaceChoice } from "../command_context.ts";
import { inParallel } from "../in_parallel.ts";
import type { Cluster, PlacementReader } from "../ports.ts";

/** What is not known where a kind can't be read, as a sentence without its end. */
const HIDES = {
  pods: "Where replicas run is not known",
  replicaSets: "Which pods are a Deployment's is not known",
  nodes: "On which class of nodes replicas run is not known",
  namespaces: "What namespaces say of placement is not known",
  budgets: "Whether a budget lets a pod go is not known",
  volumes: "Whether a volume binds a pod is not known",
} as const satisfies Readonly<Record<keyof ObjectLists, string>>;

/** Kinds as messages name them. */
const NAMES = {
  pods: "pods",
  replicaSets: "ReplicaSets",
  nodes: "nodes",
  namespaces: "namespaces",
  budgets: "PodDisruptionBudgets",
  volumes: "PersistentVolumes",
} as const satisfies Readonly<Record<keyof ObjectLists, string>>;

/** What was read; a list that may not be read is undefined. */
export interface PlacementFacts {
  readonly workloads: readonly Workload[];
  readonly lists: ObjectLists;
  /** Of lists that may not be read, in sentences for people. */
  readonly problems: ReadonlyMap<keyof ObjectLists, string>;
}

/** What the controller remembers, by namespace; undefined where it may not be read. */
export interface Memories {
  readonly pages: ReadonlyMap<string, Readonly<Record<string, string>> | undefined>;
  /** In sentences, for people. */
  readonly problems: readonly string[];
}

/** Throws a {@linkcode CommandProblem} where the workloads may not be read. */
export async function readPlacement(
  { placement, reader }: Pick<Cluster, "placement" | "reader">,
  namespace: NamespaceChoice,
): Promise<PlacementFacts> {
  const name = namespace.all ? undefined : namespace.name;
  const problems = new Map<keyof ObjectLists, string>();
  const readable = async <T>(
    kind: keyof ObjectLists,
    answer: Promise<readonly T[]>,
  ): Promise<readonly T[] | undefined> => {
    try {
      return await answer;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      problems.set(kind, `${explainApiError(`read ${NAMES[kind]}`, error)}. ${HIDES[kind]}`);
      return undefined;
    }
  };
  const [workloads, pods, replicaSets, nodes, namespaces, budgets, volumes] = await Promise.all([
    readWorkloads(placement, name),
    readable("pods", reader.pods(name)),
    readable("replicaSets", placement.replicaSets(name)),
    readable("nodes", placement.nodes()),
    readable("namespaces", placement.namespaces(name)),
    readable("budgets", placement.budgets(name)),
    readable("volumes", placement.volumes()),
  ]);
  return {
    workloads,
    lists: { pods, replicaSets, nodes, namespaces, budgets, volumes },
    problems,
  };
}

/** What is remembered of the workloads of these namespaces. */
export async function readMemories(
  placement: Pick<PlacementReader, "memory">,
  namespaces: readonly string[],
): Promise<Memories> {
  const problems = new Set<string>();
  const pages = await inParallel(namespaces, async (namespace) => {
    try {
      return [namespace, await placement.memory(namespace)] as const;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      problems.add(
        `${explainApiError("read what the controller remembers", error)}. Whether a cooldown or ` +
          `a fallback holds in namespace ${namespace} is not known`,
      );
      return [namespace, undefined] as const;
    }
  });
  return { pages: new Map(pages), problems: [...problems] };
}

async function readWorkloads(
  placement: PlacementReader,
  namespace: string | undefined,
): Promise<readonly Workload[]> {
  try {
    const kinds = PLACED_KINDS.map((kind) => placement.workloads(kind, namespace));
    return (await Promise.all(kinds)).flat();
  } catch (error) {
    if (!isRefusal(error)) throw error;
    throw new CommandProblem(explainApiError("read Deployments and StatefulSets", error));
  }
}

function isRefusal(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 403;
}
