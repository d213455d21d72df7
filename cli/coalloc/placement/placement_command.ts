/**
 * `placement`: shows the state of workloads and what comes next, as the controller has published it, once
 * or again and again. Nothing is written.
 *
 * @module
 */
import { SGR, textLines } from "../../terminal/terminal_text.ts";
import { defined } from "../../../shared/defined.ts";
import type { CommandContext } from "../ports.ts";
import { INTERRUPTED } from "../global_flags.ts";
import { dataOutput } from "../output.ts";
import { watchScreens } from "../watch_screens.ts";
import type { PlacedArgument } from "./placement_arguments.ts";
import { barLegend, placementDetail } from "./placement_detail.ts";
import { placementRows, placementTable } from "./placement_table.ts";
import { type PlacementView, readPlacement } from "./placement_view.ts";

/** The request of the user. */
export interface PlacementRequest {
  /** Absent: all workloads. */
  readonly workload?: PlacedArgument;
  /** Time between two screens, ms; absent: one screen only. */
  readonly watchMs?: number;
}

/** Shows what is asked for; with a watch until the user ends it. Resolves with the exit code. */
export async function placementCommand(
  request: PlacementRequest,
  context: CommandContext,
): Promise<number> {
  const { world, cluster, namespace, selector } = context;
  const { watchMs, ...named } = request;
  const choice = { ...named, namespace, ...defined({ selector }) };
  const screen = async (): Promise<string> =>
    textOf(await readPlacement(cluster, choice), { request, context });
  if (watchMs !== undefined) {
    return await watchScreens({
      watchMs,
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

function textOf(
  view: PlacementView,
  { request: { workload, watchMs }, context }: {
    readonly request: PlacementRequest;
    readonly context: CommandContext;
  },
): string {
  const { world, namespace, output, look } = context;
  if (output === "json" && watchMs !== undefined) return `${JSON.stringify(view)}\n`;
  const nowMs = world.clock.wall();
  const data = dataOutput(view, placementRows(view, nowMs), context);
  if (data !== undefined) return data;
  const wide = output === "wide";
  const text = workload === undefined
    ? placementTable(view, { ...look, wide, namespaces: namespace.all, nowMs })
    : [
      ...view.workloads.map((one) => placementDetail(one, { ...look, nowMs })),
      barLegend(view.workloads, look) + textLines(view.notes),
    ].filter((part) => part !== "").join("\n");
  return watchMs !== undefined && world.outIsTerminal ? fittedScreen(text, world.size()) : text;
}

const PAINT = new RegExp(SGR, "g");

/** The first lines of the text that fit, and how many there are more; the cursor has a line for itself. */
export function fittedScreen(
  text: string,
  { columns, rows }: { readonly columns: number; readonly rows: number },
): string {
  const lines = text.split("\n").slice(0, -1);
  const height = (line: string): number =>
    Math.max(1, Math.ceil(line.replaceAll(PAINT, "").length / columns));
  const total = lines.reduce((sum, line) => sum + height(line), 0);
  if (total < rows) return text;
  const kept: string[] = [];
  let room = rows - 2;
  for (const line of lines) {
    room -= height(line);
    if (room < 0) break;
    kept.push(line);
  }
  return [...kept, `… and ${lines.length - kept.length} more lines`, ""].join("\n");
}
