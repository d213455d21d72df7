import assert from "node:assert/strict";
import { createVirtualClock } from "../../simulation/virtual_clock.ts";
import { createEventGate } from "./event_gate.ts";
import type { PodEvent } from "./ports.ts";

const permissions = "none" as const;

function event(fields: Partial<PodEvent> = {}): PodEvent {
  return {
    namespace: "shop",
    podName: "web",
    podUID: "u1",
    type: "Normal",
    reason: "CPULimitHeld",
    message: "held",
    ...fields,
  };
}

Deno.test({
  name: "createEventGate() lets one event of a kind per pod through in five minutes",
  permissions,
  async fn() {
    const clock = createVirtualClock({ wallStart: 0 });
    const seen: PodEvent[] = [];
    const gate = createEventGate({ emit: (one) => void seen.push(one) }, clock);
    gate.emit(event());
    gate.emit(event());
    gate.emit(event({ reason: "CPULimitFailed" }));
    gate.emit(event({ podUID: "u2" }));
    await clock.runUntil(299_999);
    gate.emit(event());
    assert.deepEqual(seen.map(({ podUID, reason }) => `${podUID} ${reason}`), [
      "u1 CPULimitHeld",
      "u1 CPULimitFailed",
      "u2 CPULimitHeld",
    ]);
    await clock.runUntil(300_000);
    gate.emit(event());
    assert.equal(seen.at(-1)?.message, "held (and 2 more since the last such event)");
  },
});

Deno.test({
  name: "createEventGate() knows nothing of a pod that it was told to forget",
  permissions,
  fn() {
    const seen: PodEvent[] = [];
    const clock = createVirtualClock({ wallStart: 0 });
    const gate = createEventGate({ emit: (one) => void seen.push(one) }, clock);
    gate.emit(event());
    gate.forget("u1");
    gate.emit(event());
    assert.deepEqual(seen.map(({ message }) => message), ["held", "held"]);
  },
});
