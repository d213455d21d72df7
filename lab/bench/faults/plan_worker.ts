/**
 * Plays plans in a thread of its own.
 *
 * @module
 */
import type { FaultPlan } from "../../../tests/faults/fault.ts";
import { playPlan } from "../../../tests/faults/play_plan.ts";

const scope = self as unknown as {
  onmessage: ((event: MessageEvent<FaultPlan>) => void) | null;
  postMessage(message: unknown): void;
};

scope.onmessage = ({ data }) => {
  playPlan(data).then(
    ({ violations }) => scope.postMessage({ violations }),
    (error: unknown) => scope.postMessage({ error: String(error) }),
  );
};
