/**
 * A worker of the arena: plays the contests that it is sent. It reads no files: stages come as data.
 *
 * @module
 */
import { answerInThread } from "../task/thread.ts";
import { playContest } from "./contest.ts";
import type { ToWorker } from "./run_arena.ts";
import type { Stage } from "./stages.ts";

const stages: Stage[] = [];

answerInThread((question: ToWorker, onPlayed) => {
  if ("stage" in question) return playContest(question, { stages, onPlayed });
  stages.push(...question);
  return undefined;
});
