/**
 * A replay for programs: the object that `deno task arena` prints for a trace.
 *
 * @module
 */
import { type StageJSON, stageJSON } from "../../../lab/arena/result_json.ts";
import type { Story } from "./simulate_text.ts";

/** The replay as one object. */
export function simulateData({ history, replay, request }: Story): StageJSON {
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
