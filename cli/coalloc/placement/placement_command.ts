/**
 * `placement`: collects workloads and their pods, and shows their state and what comes
 * next, once or again and again. Nothing is written.
 *
 * @module
 */
import { ApiError } from "../../../shared/api/api_error.ts";
import { listedObjects } from "../../../shared/placement/workload_snapshot.ts";
import { textLines } from "../../terminal/printable_text.ts";
import type { CommandContext } from "../command_context.ts";
import { INTERRUPTED } from "../global_flags.ts";
import type { ClusterReader } from "../ports.ts";
import { structuredOutput } from "../output.ts";
import { watchScreens } from "../watch_screens.ts";
import { choosePlaced } from "./choose_placed.ts";
import { fittedScreen } from "./fitted_screen.ts";
import type { PlacedArgument } from "./placed_argument.ts";
import { barLegend, placementDetail } from "./placement_detail.ts";
import { placementTable } from "./placement_table.ts";
import type { PlacementView } from "./placement_view.ts";
import { type PlacementFacts, readMemories, readPlacement } from "./read_placement.ts";
import { readRules } from "./read_rules.ts";
import { gateAnswer, shownWorkload } from "./shown_workload.ts";

/** What the user asked for. */
export interface PlacementRequest {
  /** All workloads when absent. */
  readonly workload?: PlacedArgument;
  /** Time between two screens, ms; one screen only when absent. */
  readonly watchMs?: number;
}

/** Shows what is asked for; with a watch until the user ends it. Resolves with the exit code. */
export async function placementCommand(
  request: PlacementRequest,
  context: CommandContext,
): Promise<number> {
  const { world } = context;
  const screen = async (): Promise<string> =>
    textOf(await readView(request, context), { request, context });
  if (request.watchMs !== undefined) {
    return await watchScreens({
      watchMs: request.watchMs,
      action: "read placement",
      screen,
      changesOnly: true,
    }, context);
  }
  const text = await screen();
  if (world.signal.aborted) return INTERRUPTED;
  world.out(text);
  return 0;
}

async function readView(
  { workload }: PlacementRequest,
  { cluster, namespace, world }: CommandContext,
): Promise<PlacementView> {
  const [facts, { rules, notes }, alive] = await Promise.all([
    readPlacement(cluster, namespace),
    readRules(cluster),
    controllerIsAlive(cluster.reader),
  ]);
  const objects = listedObjects(facts.lists);
  const chosen = choosePlaced(facts.workloads, {
    ...(workload === undefined ? {} : { workload }),
    namespace,
  });
  const taking = chosen.filter((one) => gateAnswer(one, { objects, rules }).spec !== undefined);
  const namespaces = [...new Set(taking.map(({ metadata }) => metadata.namespace))];
  const memories = await readMemories(cluster.placement, namespaces);
  const around = {
    lists: facts.lists,
    objects,
    rules,
    memories: memories.pages,
    nowMs: world.clock.wall(),
  };
  return {
    workloads: chosen.map((one) => shownWorkload(one, around)),
    notes: [
      ...(taking.length > 0 ? notes : []),
      ...(alive === false && taking.length > 0
        ? ["No controller renews its lease: nothing is placed or moved until one runs"]
        : []),
      ...(taking.length > 0 || facts.problems.has("namespaces") ? readProblems(facts) : []),
      ...memories.problems,
    ],
  };
}

/** Volumes are of interest only where pods have some. */
function readProblems({ problems, lists: { pods = [] } }: PlacementFacts): readonly string[] {
  const claims = pods.some((pod) => (pod.claims ?? []).length > 0);
  return [...problems].flatMap(([kind, problem]) => kind === "volumes" && !claims ? [] : [problem]);
}

/** Undefined where the user may not see it. */
async function controllerIsAlive(
  reader: Pick<ClusterReader, "controllerIsAlive">,
): Promise<boolean | undefined> {
  try {
    return await reader.controllerIsAlive();
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) return undefined;
    throw error;
  }
}

function textOf(
  view: PlacementView,
  { request: { workload, watchMs }, context: { world, namespace, output, look } }: {
    readonly request: PlacementRequest;
    readonly context: CommandContext;
  },
): string {
  if (output === "json" && watchMs !== undefined) return `${JSON.stringify(view)}\n`;
  const structured = structuredOutput(view, output);
  if (structured !== undefined) return structured;
  const nowMs = world.clock.wall();
  const wide = output === "wide";
  const text = workload === undefined
    ? placementTable(view, { ...look, wide, namespaces: namespace.all, nowMs })
    : [
      ...view.workloads.map((one) => placementDetail(one, { ...look, nowMs })),
      barLegend(view.workloads, look) + textLines(view.notes),
    ].filter((part) => part !== "").join("\n");
  return watchMs !== undefined && world.outIsTerminal ? fittedScreen(text, world.size()) : text;
}
