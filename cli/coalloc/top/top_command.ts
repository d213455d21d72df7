/**
 * `top`: once, or again and again.
 *
 * @module
 */
import { defined } from "../../../shared/defined.ts";
import type { CommandContext } from "../ports.ts";
import { INTERRUPTED } from "../global_flags.ts";
import { readNodes } from "../node_readings.ts";
import { dataOutput } from "../output.ts";
import { watchScreens } from "../watch_screens.ts";
import { type TopChoice, type TopOrder, topView } from "../../../shared/view/top_view.ts";
import { topScreen, topTable } from "./top_screen.ts";

/** What the user asked for. */
export interface TopRequest {
  /** All pods when empty. */
  readonly pods: readonly string[];
  readonly node?: string;
  readonly sort: TopOrder;
  /** Time between two screens, ms; one screen only when absent. */
  readonly watchMs?: number;
}

/**
 * Shows the pods; with a watch until the user ends it. Resolves with the exit code: 1 when a pod that
 * the user has named is not in the market.
 */
export async function topCommand(request: TopRequest, context: CommandContext): Promise<number> {
  const { watchMs } = request;
  if (watchMs !== undefined) {
    return await watchScreens({
      watchMs,
      action: "read the market",
      screen: async () => (await screen(request, context)).text,
    }, context);
  }
  const { text, complete } = await screen(request, context);
  if (context.world.signal.aborted) return INTERRUPTED;
  context.world.out(text);
  return complete ? 0 : 1;
}

/** The screen's text; complete when it shows every pod that the user has named. */
async function screen(
  request: TopRequest,
  context: CommandContext,
): Promise<{ readonly text: string; readonly complete: boolean }> {
  const { cluster, world, namespace, selector, output, look } = context;
  const { pods, node, sort, watchMs } = request;
  const where = defined({ namespace: namespace.all ? undefined : namespace.name });
  const onNode = node === undefined ? {} : { node };
  const [readings, selected] = await Promise.all([
    readNodes(cluster, { ...where, ...onNode }),
    selector === undefined ? undefined : cluster.reader.pods(where.namespace, selector),
  ]);
  const uids = selected && new Set(selected.map(({ metadata }) => metadata.uid));
  const choice: TopChoice = { ...where, ...onNode, ...defined({ uids }), pods, sort };
  const view = topView(readings, { choice, nowMs: world.clock.wall() });
  const complete = pods.every((name) => view.pods.some(({ pod }) => pod === name));
  const isWatched = watchMs !== undefined;
  if (output === "json" && isWatched) return { text: `${JSON.stringify(view)}\n`, complete };
  const { rows } = world.size();
  const text = dataOutput(view, topTable(view), context) ?? topScreen(view, {
    ...(isWatched && world.outIsTerminal ? { ...look, rows } : look),
    wide: output === "wide",
    namespaces: namespace.all,
    named: pods.length > 0,
  });
  return { text, complete };
}
