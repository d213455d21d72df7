/**
 * `simulate`: what would have happened to a recorded load.
 *
 * @module
 */
import { nextArenaProgress } from "../../arena_progress.ts";
import { type TerminalLook, textLines } from "../../terminal/terminal_text.ts";
import { INTERRUPTED } from "../global_flags.ts";
import type { CommandWorld } from "../ports.ts";
import { structuredOutput } from "../output.ts";
import { readHistory } from "./read_history.ts";
import { replay } from "./replay.ts";
import type { SimulateRequest } from "./simulate_request.ts";
import { simulateText, type Story } from "./simulate_text.ts";
import { type StageJSON, stageJSON } from "../../../lab/arena/result_json.ts";

/** From this time on progress is shown, ms. */
const QUIET_MS = 1000;

/** What the command works with; no cluster. */
export interface SimulateContext {
  readonly world: CommandWorld;
  readonly look: TerminalLook;
}

/** Replays the history and shows what came of it. Resolves with the exit code. */
export async function simulateCommand(
  request: SimulateRequest,
  { world, look }: SimulateContext,
): Promise<number> {
  const { source, output, minutes: mostMinutes, ...service } = request;
  const history = await readHistory(source, { readFile: world.readFile, mostMinutes });
  if (history.guess !== undefined) world.err(textLines([history.guess]));
  const progress = progressTo(world);
  const played = await replay(history.trace, {
    ...service,
    world,
    onProgress: progress.report,
  });
  progress.end();
  if (played === undefined) return INTERRUPTED;
  const story: Story = { history, replay: played, request };
  if (output === "html") {
    // Drawing needs far more code than everything else here: it is read when it is asked for.
    const { simulatePage } = await import("./simulate_page.ts");
    world.err(simulateText(story, look));
    world.out(simulatePage(story));
    return 0;
  }
  world.out(
    structuredOutput(simulateData(story), output) ??
      simulateText(story, { ...look, wide: output === "wide" }),
  );
  return 0;
}

/** Progress goes to standard error, so that output can be piped. */
function progressTo(
  { progress, errIsTerminal: isTerminal, clock }: CommandWorld,
): { readonly report: (share: number) => void; readonly end: () => void } {
  const since = clock.monotonic();
  let before = 0;
  return {
    report(share) {
      const elapsedMs = clock.monotonic() - since;
      if (elapsedMs < QUIET_MS) return;
      const now = { share, elapsedS: elapsedMs / 1000 };
      progress(nextArenaProgress(before, { now, isTerminal }));
      before = share;
    },
    end() {
      if (isTerminal && before > 0) progress("\n");
    },
  };
}

/** The replay as one object. */
function simulateData({ history, replay, request }: Story): StageJSON {
  const { outcomes, scene, sloMs } = replay;
  return stageJSON({
    kind: "trace",
    name: history.path,
    format: history.format,
    ...(request.p95Cores === undefined ? {} : { p95Cores: request.p95Cores }),
    minutes: scene.minutes,
    seeds: request.seeds,
    sloMs,
    outcomes,
    records: [],
  });
}
