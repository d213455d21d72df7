import assert from "node:assert/strict";
import { sampleContainerView } from "../../../tests/fixtures/cli/node_views.ts";
import {
  boundsNotes,
  boundsText,
  clearingText,
  demandText,
  pacingText,
  pressureText,
  readingText,
} from "./stage_text.ts";

const IDLE = { usage: 30, demand: 40, throttledMsPerSecond: 0, throttledShare: 0 };

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

pure("pressureText() names each pressure, and is empty without", () => {
  assert.equal(pressureText({}), "");
  assert.equal(pressureText({ pressures: [] }), "");
  assert.match(
    pressureText({ pressures: ["MemoryPressure", "DiskPressure"] }),
    /^; .* MemoryPressure and DiskPressure: /,
  );
});

pure("readingText() and demandText() distinguish throttled, idle and new containers apart", () => {
  const idle = sampleContainerView(IDLE);
  assert.match(readingText(idle), / 30m .* 200m; not throttled/);
  assert.match(demandText(idle), / 40m: .* swings$/);
  assert.match(demandText({ ...idle, usage: 40 }), / 40m: its usage/);
  const { usage: _usage, demand: _demand, enforced: _enforced, ...young } = idle;
  assert.equal(readingText(young), "no readings yet");
  assert.match(demandText(young), /^unknown/);
  assert.match(readingText({ ...young, usage: 5 }), /^uses 5m without a quota/);
});

pure("clearingText() explains the share in each mode", () => {
  const view = sampleContainerView({ need: 480, share: 480, target: 600 });
  const mode = (name: "uncongested" | "overloaded") => clearingText(view, { mode: name, price: 0 });
  assert.match(mode("uncongested"), /^need 480m, share 480m: all needs fit/);
  assert.match(mode("overloaded"), /floors/);
  assert.match(
    clearingText({ ...view, target: 480 }, { mode: "congested", price: 0.2 }),
    /^need 480m, share 480m: .* = 100 × 1\.20 \/ 0\.2 = 600m, enough/,
  );
});

pure("boundsNotes() names each hold with the rules that hold, and a boost", () => {
  const rules = ["BurstFactor", "HPADamped", "PodNotReady", "HPAScaled", "NodeDraining"]
    .map((reason) => ({ reason, message: "as given" }));
  const note = (held: "half" | "lower" | "both"): string => boundsNotes({ held }, { rules });
  assert.match(note("half"), /^; held, .*half.*: HPADamped$/);
  assert.match(note("lower"), /^; held, .*: PodNotReady, HPAScaled$/);
  assert.match(note("both"), /^; held .*: NodeDraining$/);
  assert.match(boundsNotes({ held: "both" }, {}), /^; held [a-z ]+$/);
  assert.match(boundsNotes({ boost: true }, { rules }), /^; boosted/);
  assert.equal(boundsNotes({}, { rules }), "");
});

pure("demandText() says whether a metric or the kernel asks for more", () => {
  const idle = sampleContainerView({ ...IDLE, usage: 40 });
  assert.match(demandText({ ...idle, demand: 900 }, 900), / 900m: a metric .*900m$/);
  assert.match(demandText(idle, 25), / 40m: its usage.*; a metric .*25m$/);
  const { demand: _demand, ...young } = idle;
  assert.match(demandText(young, 25), /^unknown/);
});

pure("boundsText() and pacingText() name bounds and the target", () => {
  assert.equal(
    boundsText(sampleContainerView()),
    "floor 100m, ceiling 800m, weight 100 × credit 1.20",
  );
  assert.match(pacingText(sampleContainerView({ limit: 450 })), /^limit 450m .* target$/);
});
