/**
 * What settings of placement must fulfil together.
 *
 * @module
 */
import { formatDuration } from "../../duration.ts";
import { PLACEMENT_ROWS, type PlacementValues } from "./placement_settings.ts";

/** The settings that are looked at. */
export type CheckedPlacement = Pick<
  PlacementValues,
  "windowSchedule" | "windowDuration" | "fallbackDuration" | "maxFallbackDuration"
>;

/** A sentence for each rule that is broken, with the keys. */
export function placementFaults(
  { windowSchedule, windowDuration, fallbackDuration, maxFallbackDuration }: CheckedPlacement,
): readonly string[] {
  const faults: string[] = [];
  if ((windowSchedule === null) !== (windowDuration === null)) {
    const pair = [PLACEMENT_ROWS.windowSchedule.key, PLACEMENT_ROWS.windowDuration.key];
    const [set, unset] = windowSchedule === null ? pair.toReversed() : pair;
    faults.push(`${set} is set and ${unset} is not: set both or neither`);
  }
  if (fallbackDuration > maxFallbackDuration) {
    const { fallbackDuration: first, maxFallbackDuration: longest } = PLACEMENT_ROWS;
    faults.push(
      `${first.key} is ${formatDuration(fallbackDuration)} and ${longest.key} is ` +
        `${formatDuration(maxFallbackDuration)}: the longest must be at least as long as the first`,
    );
  }
  return faults;
}
