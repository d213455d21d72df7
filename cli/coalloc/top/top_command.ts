/**
 * `top`: shows the pods in the market, once or repeatedly.
 *
 * @module
 */
import { defined } from "../../../shared/defined.ts";
import type { CommandContext } from "../ports.ts";
import { readNodes } from "../node_readings.ts";
import { dataOutput } from "../output.ts";
import { showScreens } from "../show_screens.ts";
import {
  type TopChoice,
  type TopOrder,
  type TopView,
  topView,
} from "../../../shared/view/top_view.ts";
import { topScreen, topTable } from "./top_screen.ts";

/** The arguments of `top`. */
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
  const { watchMs, pods } = request;
  let complete = true;
  const code = await showScreens({
    watchMs,
    action: "read the market",
    async screen() {
      const view = await readView(request, context);
      complete = pods.every((name) => view.pods.some(({ pod }) => pod === name));
      return textOf(view, { request, context });
    },
  }, context);
  return code === 0 && watchMs === undefined && !complete ? 1 : code;
}

async function readView(request: TopRequest, context: CommandContext): Promise<TopView> {
  const { cluster, namespace, selector } = context;
  const { pods, node, sort } = request;
  const where = defined({ namespace: namespace.all ? undefined : namespace.name });
  const onNode = node === undefined ? {} : { node };
  const [readings, selected] = await Promise.all([
    readNodes(cluster, { ...where, ...onNode }),
    selector === undefined ? undefined : cluster.reader.pods(where.namespace, selector),
  ]);
  const uids = selected && new Set(selected.map(({ metadata }) => metadata.uid));
  const choice: TopChoice = { ...where, ...onNode, ...defined({ uids }), pods, sort };
  return topView(readings, { choice, nowMs: context.world.clock.wall() });
}

function textOf(
  view: TopView,
  { request: { watchMs, pods }, context }: {
    readonly request: TopRequest;
    readonly context: CommandContext;
  },
): string {
  const { world, namespace, output, style } = context;
  const data = dataOutput(view, topTable(view), { ...context, watchMs });
  if (data !== undefined) return data;
  const { rows } = world.size();
  const fitted = watchMs !== undefined && world.outIsTerminal ? { ...style, rows } : style;
  return topScreen(view, {
    ...fitted,
    wide: output === "wide",
    namespaces: namespace.all,
    named: pods.length > 0,
  });
}
