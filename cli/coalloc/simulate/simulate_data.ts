/**
 * A replay for programs: the object that `deno task arena` prints for a trace.
 *
 * @module
 */
import { isSameEntry, OURS, OURS_LENT } from "../../../simulation/arena/entry.ts";
import { type StageJSON, stageJSON } from "../../../simulation/arena/result_json.ts";
import type { Story } from "./simulate_text.ts";

/** The replay as one object. Ours has one entry; what it is as it ships stands in that. */
export function simulateData({ history, replay, request }: Story): StageJSON {
  const { outcomes, scene, sloMs } = replay;
  const lent = outcomes.find((one) => isSameEntry(one, OURS_LENT));
  return stageJSON({
    kind: "trace",
    name: history.path,
    format: history.format,
    ...(request.p95Cores === undefined ? {} : { p95Cores: request.p95Cores }),
    minutes: scene.minutes,
    seeds: request.seeds,
    sloMs,
    outcomes: outcomes.filter((one) => !isSameEntry(one, OURS_LENT)).map((one) =>
      isSameEntry(one, OURS) && lent !== undefined ? { ...one, lent } : one
    ),
    records: [],
  });
}
