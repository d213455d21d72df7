/**
 * Readings of the market at one moment, from agents and the API.
 *
 * @module
 */
import { ApiError } from "../../shared/api/api_error.ts";
import type { NodeView } from "../../shared/view/node_view.ts";
import type { NodeReadings } from "../../shared/view/top_view.ts";
import type { AgentName, Cluster } from "./ports.ts";

/** The namespace and node to read. */
export interface ReadingsChoice {
  /** All namespaces when absent. */
  readonly namespace?: string;
  /** All nodes when absent. */
  readonly node?: string;
}

/**
 * Reads allocations and, all at once, the views of the agents. An agent that does not answer becomes a
 * problem. Throws an `ApiError` when allocations can't be read.
 */
export async function readNodes(
  { reader, views }: Pick<Cluster, "reader" | "views">,
  { namespace, node }: ReadingsChoice = {},
): Promise<NodeReadings> {
  const [allocations, found] = await Promise.all([
    reader.allocations(namespace),
    agentsOf(views, node),
  ]);
  const problems = [...found.problems];
  const read: NodeView[] = [];
  const answers = await Promise.allSettled(found.agents.map((agent) => views.view(agent)));
  answers.forEach((answer, index) => {
    if (answer.status === "fulfilled") read.push(answer.value);
    else problems.push(unreachable(found.agents[index], answer.reason));
  });
  if (node !== undefined && found.problems.length === 0 && found.agents.length === 0) {
    problems.push(`No agent runs on node ${node}: only the allocations of its pods are known`);
  }
  return { views: read, allocations, problems };
}

async function agentsOf(
  views: Cluster["views"],
  node: string | undefined,
): Promise<{ agents: readonly AgentName[]; problems: readonly string[] }> {
  try {
    const all = await views.agents();
    const problems = all.length === 0
      ? ["No agent runs: only the allocations are known, as old as they say"]
      : [];
    return {
      agents: all.filter((agent) => node === undefined || agent.node === node),
      problems,
    };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const problem = `Cannot look for agents: ${error.message}; only the allocations are known`;
    return { agents: [], problems: [problem] };
  }
}

function unreachable(agent: AgentName | undefined, reason: unknown): string {
  if (!(reason instanceof Error)) throw reason;
  return `Cannot read the agent of node ${agent?.node}: ${reason.message}; ` +
    "of its pods only the allocations are known";
}
