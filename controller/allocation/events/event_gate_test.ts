import assert from "node:assert/strict";
import { createVirtualClock } from "../../../lab/simulation/virtual_clock.ts";
import { createEventGate, type EventGate, type GatedEvent } from "./event_gate.ts";
import type { PodEvent } from "../ports.ts";

const permissions = "none" as const;

function event(fields: Partial<GatedEvent> = {}): GatedEvent {
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

function test(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, permissions, fn });
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
    assert.match(seen.at(-1)?.message ?? "", /^held \(and 2 more /);
  },
});

/** What came through a gate that runs: time in seconds, subject, text, `+` the number left out. */
async function reported(
  act: (gate: EventGate, pass: (ms: number) => Promise<void>) => Promise<void>,
): Promise<readonly string[]> {
  const clock = createVirtualClock({ wallStart: 0 });
  const seen: string[] = [];
  const emit = ({ about, message }: PodEvent): void => {
    const [, text = message, more] = /^(.*) \(and (\d+) more .*\)$/.exec(message) ?? [];
    const count = more === undefined ? "" : ` +${more}`;
    seen.push(`${Math.round(clock.monotonic() / 1000)} ${about?.name ?? "pod"}: ${text}${count}`);
  };
  const gate = createEventGate({ emit }, clock);
  const stop = new AbortController();
  const running = gate.run(stop.signal);
  const pass = (ms: number): Promise<void> => clock.runUntil(clock.monotonic() + ms);
  await act(gate, pass);
  await pass(1_000_000);
  stop.abort();
  await running;
  return seen;
}

const FAULT = { type: "Warning", reason: "AnnotationIgnored" } as const;

test("run() reports the last of other texts when the quiet time is over", async () => {
  const seen = await reported(async (gate, pass) => {
    for (const message of ["lots", "many", "lots", "heaps", "plenty"]) {
      gate.emit(event({ ...FAULT, message }));
      await pass(1000);
    }
  });
  assert.deepEqual(seen, ["0 pod: lots", "300 pod: plenty +3"]);
});

test("run() reports nothing again that stands there already, or that is over", async () => {
  const seen = await reported(async (gate, pass) => {
    for (const message of ["lots", "many", "lots"]) gate.emit(event({ ...FAULT, message }));
    gate.emit(event({ ...FAULT, podUID: "u2", message: "lots" }));
    gate.emit(event({ ...FAULT, podUID: "u2", message: "many" }));
    gate.emit(event({ ...FAULT, podUID: "u3", message: "lots" }));
    gate.emit(event({ ...FAULT, podUID: "u3", message: "many" }));
    await pass(1000);
    gate.withdraw("u2", "AnnotationIgnored");
    gate.forget("u3");
  });
  assert.deepEqual(seen, ["0 pod: lots", "0 pod: lots", "0 pod: lots"]);
});

test("createEventGate() lets another key through at once, and only counts its numbers", async () => {
  const seen = await reported(async (gate, pass) => {
    for (const left of [100, 90, 80]) {
      gate.emit(event({ key: "QuotaExceeded", message: `${left}m left` }));
      gate.emit(event({ key: "LimitRange", message: `at most ${left}m` }));
      await pass(1000);
    }
    await pass(600_000);
    gate.emit(event({ key: "LimitRange", message: "at most 70m" }));
  });
  assert.deepEqual(seen, ["0 pod: 100m left", "0 pod: at most 100m", "603 pod: at most 70m +2"]);
});

test("createEventGate() reports a node once, however many of its pods say so", async () => {
  const seen = await reported(async (gate, pass) => {
    const node = { apiVersion: "v1", kind: "Node", name: "node-1", uid: "n1" } as const;
    const say = (one: number) =>
      gate.emit(event({ podUID: `u${one}`, key: "NodeNotReady", message: "away", about: node }));
    for (let one = 0; one < 100; one++) say(one);
    gate.emit(event({ podUID: "u1" }));
    await pass(400_000);
    for (let one = 0; one < 100; one++) say(one);
  });
  assert.deepEqual(seen, ["0 node-1: away", "0 pod: held", "400 node-1: away"]);
});

Deno.test({
  name: "createEventGate() knows nothing of a pod that it was reported to forget",
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
