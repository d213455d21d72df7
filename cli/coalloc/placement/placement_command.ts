/**
 * `placement`: shows the published placement of workloads and their next steps, once or repeatedly. Nothing is
 * written.
 *
 * @module
 */
import { Command } from "commander";
import { textLines, wrappedLines } from "../../terminal/terminal_text.ts";
import { defined } from "../../../shared/defined.ts";
import { isPlacedKind } from "../../../shared/placement/eligibility.ts";
import { quotedText } from "../../../shared/quoted_text.ts";
import { workloadArgument } from "../formats.ts";
import type { CommandContext } from "../ports.ts";
import { examples, selectorOption, watchOption } from "../global_flags.ts";
import { dataOutput } from "../output.ts";
import { showScreens } from "../show_screens.ts";
import { barLegend, placementDetail } from "./placement_detail.ts";
import { placementRows, placementTable } from "./placement_table.ts";
import { type PlacedArgument, type PlacementView, readPlacement } from "./placement_view.ts";

/** The command without its action and the flags that all commands have. */
export function placementArguments(): Command {
  return new Command("placement")
    .summary("where replicas run: spot and on-demand nodes")
    .argument("[workload]", "this workload only: a name, or kind/name")
    .description(
      "How many replicas of Deployments and StatefulSets run on spot and on on-demand nodes, how\n" +
        "many are to, what keeps them from moving, and which pod moves next. A workload that is\n" +
        "named is shown in detail. Writes nothing.",
    )
    .addOption(watchOption("the workload"))
    .addOption(selectorOption("workloads"))
    .addHelpText(...examples([
      ["kubectl coalloc placement -A", "all workloads that are placed"],
      ["kubectl coalloc placement deployment/web -n shop", "one with its pods and its next step"],
      ["kubectl coalloc placement web -n shop --watch", "follow a move, a rollout, a shortage"],
      ["kubectl coalloc placement -n shop -o wide", "also those that take no part, and why"],
      ["kubectl coalloc placement -A -o json", "for programs"],
    ]));
}

/** Parses `web`, `deployment/web` and `sts/db`, or returns what is wrong with the argument. */
export function placedArgument(text: string): PlacedArgument | string {
  const argument = workloadArgument(text);
  if (argument === undefined) {
    return `Cannot find workload: ${
      quotedText(text)
    } is neither NAME nor KIND/NAME with a kind of ` +
      "deployment or statefulset; -n names the namespace";
  }
  const { kind, name } = argument;
  if (kind === undefined) return { name };
  return isPlacedKind(kind)
    ? { kind, name }
    : `Cannot show placement: ${quotedText(text)} is a ${kind}, and only pods of Deployments and ` +
      "StatefulSets are placed";
}

/** The arguments of `placement`. */
export interface PlacementRequest {
  /** Absent: all workloads. */
  readonly workload?: PlacedArgument;
  /** Time between two screens, ms; absent: one screen only. */
  readonly watchMs?: number;
}

/** Shows the workloads; with a watch until the user ends it. Resolves with the exit code. */
export async function placementCommand(
  request: PlacementRequest,
  context: CommandContext,
): Promise<number> {
  const { cluster, namespace, selector } = context;
  const { watchMs, ...named } = request;
  const choice = { ...named, namespace, ...defined({ selector }) };
  return await showScreens({
    watchMs,
    action: "read placement",
    screen: async () => textOf(await readPlacement(cluster, choice), { request, context }),
    changesOnly: true,
  }, context);
}

function textOf(
  view: PlacementView,
  { request: { workload, watchMs }, context }: {
    readonly request: PlacementRequest;
    readonly context: CommandContext;
  },
): string {
  const { world, namespace, output, style } = context;
  const nowMs = world.clock.wall();
  const data = dataOutput(view, placementRows(view, nowMs), { ...context, watchMs });
  if (data !== undefined) return data;
  const wide = output === "wide";
  const text = workload === undefined
    ? placementTable(view, { ...style, wide, namespaces: namespace.all, nowMs })
    : [
      ...view.workloads.map((one) => placementDetail(one, { ...style, nowMs })),
      barLegend(view.workloads, style) + textLines(view.notes),
    ].filter((part) => part !== "").join("\n");
  return watchMs !== undefined && world.outIsTerminal ? fittedScreen(text, world.size()) : text;
}

/** The first lines that fit, the number of further ones, and a line for the cursor. */
export function fittedScreen(
  text: string,
  { columns, rows }: { readonly columns: number; readonly rows: number },
): string {
  const lines = text.split("\n").slice(0, -1);
  const total = lines.reduce((sum, line) => sum + wrappedLines(line, columns), 0);
  if (total < rows) return text;
  const shown: string[] = [];
  let room = rows - 2;
  for (const line of lines) {
    room -= wrappedLines(line, columns);
    if (room < 0) break;
    shown.push(line);
  }
  return [...shown, `… and ${lines.length - shown.length} more lines`, ""].join("\n");
}
