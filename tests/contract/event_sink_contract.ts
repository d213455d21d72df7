/**
 * The contract of `EventSink`.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { EventSink, PodEvent } from "../../controller/allocation/ports.ts";
import {
  type ContractHarness,
  contractTests,
  type OpenHarness,
} from "./support/contract_harness.ts";

/** A server that keeps events. */
export interface EventSinkHarness extends ContractHarness {
  readonly subject: EventSink;
  /** A namespace of the server. */
  readonly namespace: string;
  /** Resolves once `count` events of the pod are there, in no particular order. */
  seen(podUID: string, count: number): Promise<readonly PodEvent[]>;
}

/** Registers the suite. */
export function eventSinkContract(open: OpenHarness<EventSinkHarness>): void {
  const contract = contractTests(open);
  const applied = (namespace: string): PodEvent => ({
    namespace,
    podName: "web-0",
    podUID: "5f2bd5b1-7a52-4a0a-9f5c-1f1d40c2f0aa",
    type: "Normal",
    reason: "CPULimitApplied",
    message: "app: 200m to 400m (Throttled)",
  });

  contract("emit() reports what happened to which pod", async (harness) => {
    const first = applied(harness.namespace);
    const second: PodEvent = {
      ...first,
      type: "Warning",
      reason: "CPULimitFailed",
      message: "no room",
    };
    harness.subject.emit(first);
    harness.subject.emit(second);
    const seen = await harness.seen(first.podUID, 2);
    const byReason = seen.toSorted((a, b) => a.reason < b.reason ? -1 : 1);
    assert.partialDeepStrictEqual(byReason, [first, second]);
    assert.equal(seen.length, 2);
  });

  contract("emit() goes on after an event that the server refused", async (harness) => {
    const event = applied(harness.namespace);
    harness.subject.emit({ ...event, namespace: "no-such-namespace" });
    harness.subject.emit(event);
    const seen = await harness.seen(event.podUID, 1);
    assert.ok(seen.some(({ namespace }) => namespace === harness.namespace));
  });
}
