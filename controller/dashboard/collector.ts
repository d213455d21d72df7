/**
 * Reads the views of all agents, round by round, and keeps the newest of each node and the last hour.
 *
 * @module
 */
import { AGENT_APP, APP_LABEL } from "../../shared/installation.ts";
import type { Pod } from "../../shared/api/pod.ts";
import type { Clock } from "../../shared/clock.ts";
import { inParallel } from "../../shared/control/in_parallel.ts";
import type { NodeView } from "../../shared/view/node_view.ts";
import { createHistory, type History, STEP_MS } from "./history.ts";

/** An agent that runs. */
export interface AgentAddress {
  readonly node: string;
  readonly ip: string;
}

/** Reads the view of an agent; rejects with the reason why there is none. */
export type ReadView = (agent: AgentAddress, signal: AbortSignal) => Promise<NodeView>;

/** The newest views of the nodes, and their history. */
export interface Collector {
  readonly history: History;
  /** The newest view of each node with an agent. */
  readonly views: ReadonlyMap<string, NodeView>;
  /** Why the agent of a node has not answered when it was last read. */
  readonly problems: ReadonlyMap<string, string>;
  /** Calls `listener` at the end of each round, until the returned function is called. */
  onRound(listener: () => void): () => void;
  run(signal: AbortSignal): Promise<void>;
}

/** Agents that are read at the same time. */
const AT_ONCE = 16;

/**
 * Longest time of a round, ms: agents that failed before and are not reached by then wait for the next
 * round, which begins on time even if the last ones time out.
 */
const ROUND_MS = 11_000;

/** A view that is older, ms, is not shown as the present one. */
const MOST_AGE_MS = 60_000;

/** A collector that has read nothing yet. */
export function createCollector({ clock, agents, readView }: {
  readonly clock: Clock;
  readonly agents: () => readonly AgentAddress[];
  readonly readView: ReadView;
}): Collector {
  const history = createHistory();
  const views = new Map<string, NodeView>();
  const problems = new Map<string, string>();
  const readAtMs = new Map<string, number>();
  const listeners = new Set<() => void>();

  async function readOne(agent: AgentAddress, signal: AbortSignal): Promise<void> {
    try {
      const view = await readView(agent, signal);
      if (view.node !== agent.node) {
        throw new Error(`Cannot use its view: it is of node ${view.node}`);
      }
      views.set(agent.node, view);
      readAtMs.set(agent.node, clock.monotonic());
      problems.delete(agent.node);
      history.take(view, clock.wall());
    } catch (error) {
      if (clock.monotonic() - (readAtMs.get(agent.node) ?? 0) > MOST_AGE_MS) {
        views.delete(agent.node);
      }
      // The agent that was tried last comes last in the next round.
      problems.delete(agent.node);
      problems.set(agent.node, error instanceof Error ? error.message : String(error));
    }
  }

  async function round(signal: AbortSignal): Promise<void> {
    const failing = [...problems.keys()];
    const rank = ({ node }: AgentAddress): number => failing.indexOf(node);
    const sorted = [...agents()].toSorted((a, b) => rank(a) - rank(b));
    const names = new Set(sorted.map(({ node }) => node));
    for (const known of [views, problems, readAtMs]) {
      for (const node of known.keys()) if (!names.has(node)) known.delete(node);
    }
    const overMs = clock.monotonic() + ROUND_MS;
    const isLate = ({ node }: AgentAddress): boolean =>
      clock.monotonic() >= overMs && problems.has(node);
    await inParallel(sorted, async (agent) => {
      if (!signal.aborted && !isLate(agent)) await readOne(agent, signal);
    }, { concurrency: AT_ONCE });
    history.forget(clock.wall());
    for (const listener of listeners) listener();
  }

  return {
    history,
    views,
    problems,
    onRound(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async run(signal) {
      while (!signal.aborted) {
        await round(signal);
        await clock.sleep(STEP_MS - clock.wall() % STEP_MS, signal);
      }
    },
  };
}

/** The agents among the pods of the installation's namespace. */
export function agentsAmong(pods: Iterable<Pod>): readonly AgentAddress[] {
  return [...pods].flatMap(({ metadata, phase, nodeName, ip }) => {
    const isAgent = metadata.labels[APP_LABEL] === AGENT_APP && phase === "Running";
    return isAgent && !metadata.terminating && ip !== undefined ? [{ node: nodeName, ip }] : [];
  });
}
