/**
 * From labels and annotations to what a workload asks of placement.
 *
 * @module
 */
import {
  DISRUPTION_DURATION,
  DISRUPTION_SCHEDULE,
  MIN_ON_DEMAND,
  PAUSED,
  SPOT_PERCENTAGE,
} from "../api/placement_keys.ts";
import { quotedText } from "../quoted_text.ts";
import type { DisruptionWindow } from "./disruption_window.ts";
import { enabledWord, textAt, type WordedWorkload } from "./enabled_word.ts";
import type { PlacementFault } from "./placement_fault.ts";
import type { PlacementWish } from "./placement_wish.ts";
import { readWindow } from "./read_window.ts";

/**
 * A wish; `off`; the namespace took it out; `untuned`, enabled without a word of how; or what is wrong
 * with the words, at least one fault.
 */
export type PlacementReading =
  | { readonly is: "wished"; readonly wish: PlacementWish }
  | { readonly is: "off" | "namespace-off" | "untuned" }
  | { readonly is: "faulty"; readonly faults: readonly PlacementFault[] };

/** Any of them and the workload asks for something. */
const TUNING = [SPOT_PERCENTAGE, MIN_ON_DEMAND, DISRUPTION_SCHEDULE, DISRUPTION_DURATION] as const;

const PERCENTAGE = "must be a whole number from 0 to 100, with or without %, for instance 70%";
const MOST_ON_DEMAND = 10_000;
const FLOOR = `must be a whole number from 0 to ${MOST_ON_DEMAND}`;
const PAUSE = 'must be "true", or not be there';

/**
 * What the workload asks for, or each fault in it; whatever stands in the annotations, it does not throw.
 * `configured` is the window of those that name none.
 */
export function readPlacement(
  words: WordedWorkload,
  configured?: DisruptionWindow,
): PlacementReading {
  const enabled = enabledWord(words);
  if (typeof enabled !== "string") return { is: "faulty", faults: enabled };
  if (enabled !== "on") return { is: enabled };
  const { annotations } = words.workload;
  if (TUNING.every((key) => textAt(annotations, key) === undefined)) return { is: "untuned" };
  const faults: PlacementFault[] = [];
  const word = <T>(
    key: string,
    read: (text: string | undefined) => T | undefined,
    { remedy, instead }: { readonly remedy: string; readonly instead: T },
  ): T => {
    const text = textAt(annotations, key);
    const value = read(text);
    if (value !== undefined) return value;
    faults.push({
      of: "workload",
      place: "annotation",
      key,
      ...(text === undefined ? {} : { value: quotedText(text) }),
      remedy,
    });
    return instead;
  };
  const spotPercentage = word(SPOT_PERCENTAGE, percentageOf, { remedy: PERCENTAGE, instead: 0 });
  const minOnDemand = word(MIN_ON_DEMAND, floorOf, { remedy: FLOOR, instead: 0 });
  const paused = word(PAUSED, pauseOf, { remedy: PAUSE, instead: false });
  const { window, faults: windowFaults } = readWindow(words, configured);
  faults.push(...windowFaults);
  if (faults.length > 0) return { is: "faulty", faults };
  const wish = {
    spotPercentage,
    minOnDemand,
    ...(window === undefined ? {} : { window }),
    paused,
  };
  return { is: "wished", wish };
}

function percentageOf(text: string | undefined): number | undefined {
  return wholeNumber(text?.replace(/%$/, ""), 100);
}

function floorOf(text: string | undefined): number | undefined {
  return text === undefined ? 0 : wholeNumber(text, MOST_ON_DEMAND);
}

function pauseOf(text: string | undefined): boolean | undefined {
  if (text === undefined || text === "false") return false;
  return text === "true" ? true : undefined;
}

function wholeNumber(text: string | undefined, most: number): number | undefined {
  if (text === undefined || !/^\d{1,6}$/.test(text)) return undefined;
  const value = Number(text);
  return value <= most ? value : undefined;
}
