/**
 * `simulate --trace`: replays a recorded load under each algorithm.
 *
 * @module
 */
import { type ProgressDisplay, showProgress } from "../../terminal/progress_line.ts";
import { type TerminalStyle, textLines } from "../../terminal/terminal_text.ts";
import { INTERRUPTED } from "../global_flags.ts";
import type { CommandWorld } from "../ports.ts";
import { structuredOutput } from "../output.ts";
import { readHistory } from "./read_history.ts";
import { replay } from "./replay.ts";
import { simulateText, type Story } from "./simulate_text.ts";
import { stageJSON } from "../../../lab/arena/result_json.ts";
import { quantile } from "../../../lab/simulation/statistics.ts";
import type { Trace } from "../../../lab/simulation/trace.ts";
import type { SimulateRequest } from "./simulate_arguments.ts";

/** A load of more cores takes minutes to play. */
const MANY_CORES = 16;
/** Progress is shown from this time on, ms. */
const QUIET_MS = 1000;

/** Ports of the command, which needs no cluster. */
export interface SimulateContext {
  readonly world: CommandWorld;
  readonly style: TerminalStyle;
}

/** Replays the history and shows the results. Resolves with the exit code. */
export async function simulateCommand(
  request: SimulateRequest,
  { world, style }: SimulateContext,
): Promise<number> {
  const { source, output, minutes: maxMinutes, ...service } = request;
  const history = await readHistory(source, { readFile: world.readFile, maxMinutes });
  if (history.guess !== undefined) world.err(textLines([history.guess]));
  const cores = service.p95Cores ?? p95Cores(history.trace, service.costMs);
  const progress = progressTo(world, cores);
  const played = await replay(history.trace, { ...service, world, onProgress: progress.report });
  progress.end();
  if (played === undefined) return INTERRUPTED;
  const story: Story = { history, replay: played, request };
  if (output === "html") {
    // Loaded here, since drawing needs far more code than the rest.
    const { simulatePage } = await import("./simulate_page.ts");
    world.err(simulateText(story, style));
    world.out(simulatePage(story));
    return 0;
  }
  world.out(
    structuredOutput(simulateData(story), output) ??
      simulateText(story, { ...style, wide: output === "wide" }),
  );
  return 0;
}

/** The 95th percentile of the trace's demand, cores. */
function p95Cores({ unit, values }: Trace, costMs: number): number {
  const p95 = quantile(values, 0.95);
  return unit === "cores" ? p95 : p95 * costMs / 1000;
}

/** Progress goes to standard error, so that output can be piped. */
function progressTo(
  { progress: write, err, errIsTerminal: isTerminal, clock }: CommandWorld,
  cores: number,
): ProgressDisplay {
  const now = (): number => clock.monotonic();
  const since = now();
  const display = showProgress({ write, now, isTerminal });
  let isReported = cores <= MANY_CORES;
  return {
    report(share) {
      if (now() - since < QUIET_MS) return;
      if (!isReported) {
        err(textLines([
          `The history is of ${cores.toFixed(0)} cores (P95), which takes minutes to play; ` +
          "--scale-p95 2 plays its shape at 2 cores.",
        ]));
      }
      isReported = true;
      display.report(share);
    },
    end: display.end,
  };
}

/** The replay as one object. */
function simulateData({ history, replay, request }: Story): Record<string, unknown> {
  const { outcomes, scene, sloMs } = replay;
  return stageJSON({
    kind: "trace",
    name: history.path,
    format: history.format,
    ...(request.p95Cores === undefined ? {} : { p95Cores: request.p95Cores }),
    minutes: scene.minutes,
    seeds: request.seeds,
    giveUp: request.giveUp,
    sloMs,
    outcomes,
    records: [],
  });
}
