/**
 * Plays plans in a thread of its own.
 *
 * @module
 */
import type { FaultPlan } from "../../../tests/faults/fault.ts";
import { playSafely } from "./play_plans.ts";

const scope = self as unknown as {
  onmessage: ((event: MessageEvent<FaultPlan>) => void) | null;
  postMessage(message: unknown): void;
};

scope.onmessage = async ({ data }) => scope.postMessage(await playSafely(data));
