import assert from "node:assert/strict";
import { createVirtualClock } from "../../../lab/simulation/virtual_clock.ts";
import type { EnforcementReason } from "../../../shared/api/reasons/enforcement_reasons.ts";
import type { MarketReason } from "../../../shared/api/reasons/market_reasons.ts";
import {
  sampleAllocation,
  sampleDesired,
  samplePod,
} from "../../../tests/contract/support/sample_objects.ts";
import { limited, reconcilerStage } from "../../../tests/fixtures/market/reconciler_stage.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import type { PodEvent } from "../ports.ts";
import { createEventGate, type EventGate, type GatedEvent } from "./event_gate.ts";
import { statusEvent } from "./pod_events.ts";

const MINUTE = 60_000;

/** What comes through a gate that runs: time in seconds, subject, text, `+` the number left out. */
async function reported(
  act: (
    emit: (fields: Partial<GatedEvent>) => void,
    pass: (ms: number) => Promise<void>,
    gate: EventGate,
  ) => Promise<void>,
): Promise<readonly string[]> {
  const clock = createVirtualClock({ wallStart: 0 });
  const seen: string[] = [];
  const gate = createEventGate({
    emit({ about, podUID, message }: PodEvent): void {
      const [, text = message, more] = /^(.*) \(and (\d+) more .*\)$/.exec(message) ?? [];
      const count = more === undefined ? "" : ` +${more}`;
      seen.push(
        `${Math.round(clock.monotonic() / 1000)} ${about?.name ?? podUID}: ${text}${count}`,
      );
    },
  }, clock);
  const stop = new AbortController();
  const running = gate.run(stop.signal);
  const pass = (ms: number): Promise<void> => clock.runUntil(clock.monotonic() + ms);
  const pod = { namespace: "shop", podName: "web", podUID: "u1" };
  const event = { ...pod, type: "Normal", reason: "CPULimitHeld", message: "held" } as const;
  await act((fields) => gate.emit({ ...event, ...fields }), pass, gate);
  await pass(20 * MINUTE);
  stop.abort();
  await running;
  return seen;
}

const FAULT = { type: "Warning", reason: "AnnotationIgnored" } as const;
const NODE = { apiVersion: "v1", kind: "Node", name: "node-1", uid: "n1" } as const;

pure("createEventGate() lets one event of a kind per pod through in five minutes", async () => {
  const seen = await reported(async (emit, pass) => {
    emit({});
    emit({});
    emit({ reason: "CPULimitFailed", message: "failed" });
    emit({ podUID: "u2" });
    await pass(5 * MINUTE - 1);
    emit({});
    await pass(1);
    emit({});
  });
  assert.deepEqual(seen, ["0 u1: held", "0 u1: failed", "0 u2: held", "300 u1: held +2"]);
});

pure("run() reports the last of other texts when the quiet time is over", async () => {
  const seen = await reported(async (emit, pass) => {
    for (const message of ["lots", "many", "lots", "heaps", "plenty"]) {
      emit({ ...FAULT, message });
      await pass(1000);
    }
  });
  assert.deepEqual(seen, ["0 u1: lots", "300 u1: plenty +3"]);
});

pure("run() reports nothing again that stands there already, or that is over", async () => {
  const seen = await reported(async (emit, pass, gate) => {
    for (const message of ["lots", "many", "lots"]) emit({ ...FAULT, message });
    for (const podUID of ["u2", "u3"]) {
      for (const message of ["lots", "many"]) emit({ ...FAULT, podUID, message });
    }
    await pass(1000);
    gate.withdraw("u2", "AnnotationIgnored");
    gate.forget("u3");
    emit({ ...FAULT, podUID: "u3", message: "lots" });
  });
  assert.deepEqual(seen, ["0 u1: lots", "0 u2: lots", "0 u3: lots", "1 u3: lots"]);
});

pure("createEventGate() lets another key through, and counts its numbers", async () => {
  const seen = await reported(async (emit, pass) => {
    for (const left of [100, 90, 80]) {
      emit({ key: "QuotaExceeded", message: `${left}m left` });
      emit({ key: "LimitRange", message: `at most ${left}m` });
      await pass(1000);
    }
    await pass(10 * MINUTE);
    emit({ key: "LimitRange", message: "at most 70m" });
  });
  assert.deepEqual(seen, ["0 u1: 100m left", "0 u1: at most 100m", "603 u1: at most 70m +2"]);
});

pure("createEventGate() reports a node once, however many of its pods say so", async () => {
  const seen = await reported(async (emit, pass) => {
    const say = () => {
      for (let pod = 0; pod < 100; pod++) {
        emit({ podUID: `u${pod}`, key: "NodeNotReady", message: "away", about: NODE });
      }
    };
    say();
    emit({});
    await pass(400_000);
    say();
  });
  assert.deepEqual(seen, ["0 node-1: away", "0 u1: held", "400 node-1: away"]);
});

pure("statusEvent() reports a change once, and why others don't happen", () => {
  const event = (reason: EnforcementReason, before?: string) => {
    const { spec, ...bare } = sampleAllocation(samplePod("web"));
    const originalLimits = [{ name: "app", cpu: "150m" }, { name: "b", cpu: "50m" }];
    const status = { originalLimits, ...(before === undefined ? {} : { appliedCPULimit: before }) };
    return statusEvent({ ...bare, spec: { ...spec, ...sampleDesired("300m") }, status }, {
      decision: { changes: [], reason, message: "so" },
      status: { appliedCPULimit: "300m" },
    });
  };
  const type = "Normal";
  const applied = { type, reason: "CPULimitApplied", message: "200m → 300m (Throttled)" };
  assert.deepEqual(event("Applied"), applied);
  assert.equal(event("Applied", "300m"), undefined);
  assert.equal(event("Applied", "400m")?.message, "400m → 300m (Throttled)");
  const [key, message] = ["QuotaExceeded", "QuotaExceeded: so"] as const;
  assert.deepEqual(event(key), { type, reason: "CPULimitHeld", key, message });
  assert.equal(event("BoundsStale"), undefined);
  assert.deepEqual(event("Restored"), { type, reason: "CPULimitsRestored", message: "so" });
});

pure("reportOthers() reports once that the kernel lost or regained the quota", async () => {
  const { reconcile, want, setPod, events, clock } = reconcilerStage();
  setPod((pod) => limited(pod, 200));
  await reconcile();
  const look = async (reason: MarketReason): Promise<readonly string[]> => {
    await clock.runUntil(clock.monotonic() + 10 * MINUTE);
    const before = events.length;
    want("200m", reason);
    await reconcile();
    return events.slice(before).map(({ type, message }) => `${type} ${message.split(":")[0]}`);
  };
  await look("FirstClearing");
  const off = ["Warning QuotaOff"];
  const back = ["Normal QuotaBack"];
  const steps: readonly (readonly [MarketReason, readonly string[]])[] = [
    ...[["QuotaBack", []], ["QuotaOff", off], ["QuotaOff", []], ["DemandRose", []]] as const,
    ...[["QuotaOff", []], ["QuotaBack", back], ["QuotaBack", []], ["QuotaOff", off]] as const,
  ];
  for (const [reason, expected] of steps) assert.deepEqual(await look(reason), expected);
});
