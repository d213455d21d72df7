/**
 * Which window counts for a workload.
 *
 * @module
 */
import { DISRUPTION_DURATION, DISRUPTION_SCHEDULE } from "../api/placement_keys.ts";
import { quotedText } from "../quoted_text.ts";
import { parseCronSchedule } from "./cron_schedule.ts";
import { type DisruptionWindow, parseWindowDuration } from "./disruption_window.ts";
import { textAt, type Texts, type WordedWorkload } from "./enabled_word.ts";
import type { PlacementFault } from "./placement_fault.ts";

/** A window, none at all, or what is wrong with it. */
export interface WindowReading {
  readonly window?: DisruptionWindow;
  readonly faults: readonly PlacementFault[];
}

const SCHEDULE = "must be five fields of cron that name a time, for instance 0 2 * * * (UTC) or " +
  "CRON_TZ=Europe/Berlin 0 2 * * 1-5";
const DURATION = "must be more than 0 with a unit, for instance 2h or 90m";

/**
 * The window of the workload, or that of its namespace, or the configuration's: the first that has a word
 * of it. Schedule and duration come from the same of them, so one without the other is a fault.
 */
export function readWindow(
  { workload, namespace }: WordedWorkload,
  configured?: DisruptionWindow,
): WindowReading {
  return windowOf(workload.annotations, "workload") ??
    windowOf(namespace?.annotations ?? {}, "namespace") ??
    { ...(configured === undefined ? {} : { window: configured }), faults: [] };
}

function windowOf(
  annotations: Texts,
  of: PlacementFault["of"],
): WindowReading | undefined {
  const schedule = textAt(annotations, DISRUPTION_SCHEDULE);
  const duration = textAt(annotations, DISRUPTION_DURATION);
  if (schedule === undefined && duration === undefined) return undefined;
  const faults: PlacementFault[] = [];
  const read = <T>(
    text: string | undefined,
    parse: (text: string) => T,
    { key, remedy }: Pick<PlacementFault, "key" | "remedy">,
  ): T | undefined => {
    try {
      if (text !== undefined) return parse(text);
      faults.push({ of, place: "annotation", key, remedy });
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      faults.push({ of, place: "annotation", key, value: quotedText(text ?? ""), remedy });
    }
    return undefined;
  };
  read(schedule, parseCronSchedule, { key: DISRUPTION_SCHEDULE, remedy: SCHEDULE });
  const durationMs = read(duration, parseWindowDuration, {
    key: DISRUPTION_DURATION,
    remedy: DURATION,
  });
  return faults.length > 0 || schedule === undefined || durationMs === undefined
    ? { faults }
    : { window: { schedule, durationMs }, faults };
}
