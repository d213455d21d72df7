/**
 * A worker of the arena: plays the contests that it is sent. It reads no files: stages come as data.
 *
 * @module
 */
/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
import { playContest } from "./contest.ts";
import type { Stage } from "./stages.ts";
import type { FromWorker, ToWorker } from "./run_arena.ts";

const stages: Stage[] = [];
const answer = (message: FromWorker): void => self.postMessage(message);

self.onmessage = ({ data }: MessageEvent<ToWorker>) => {
  if (data.kind === "stages") {
    stages.push(...data.stages);
    return;
  }
  playContest(data.contest, { stages, onPlayed: () => answer({ kind: "played" }) }).then(
    (played) => answer({ kind: "outcome", played }),
    (error: unknown) =>
      answer({
        kind: "failed",
        message: error instanceof Error ? error.stack ?? error.message : String(error),
      }),
  );
};
