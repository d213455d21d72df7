import assert from "node:assert/strict";
import { effectiveSettings } from "../shared/config/load.ts";
import { WAIT_TARGET_MS } from "../shared/demand/common_wait.ts";
import { DEFAULT_PACE } from "../shared/pacing/paced_container.ts";
import { AGENT_SETTINGS, type AgentSettings, paceOptions } from "./settings.ts";

function valuesOf(file: string): AgentSettings {
  const read = effectiveSettings(AGENT_SETTINGS, { file: { path: "f", text: file } });
  assert.ok("values" in read, "faults" in read ? read.faults.join() : "");
  return read.values;
}

Deno.test({
  name: "paceOptions() gives the market's own numbers by default, and follows the settings",
  permissions: { env: ["LOG_TOKENS", "LOG_STREAM"] },
  fn() {
    const usual = valuesOf("");
    assert.deepEqual(paceOptions(usual), DEFAULT_PACE);
    assert.deepEqual([usual.waitTarget, usual.usageMean], [WAIT_TARGET_MS, 15_000]);
    const changed = valuesOf(
      "agent: {warmUp: 1m, decreaseHysteresis: 0.2, decreaseWait: 40s, raiseHysteresis: 0.02, " +
        "raiseGap: 2s, shareGap: 3s, shareHysteresis: 0.3, releaseAfter: 4s}",
    );
    assert.deepEqual(paceOptions(changed), {
      ...DEFAULT_PACE,
      warmUpMs: 60_000,
      lowerHysteresis: 0.2,
      lowerWaitMs: 40_000,
      raiseHysteresis: 0.02,
      raiseGapMs: 2000,
      fundingGapMs: 3000,
      shareHysteresis: 0.3,
      releaseAfterMs: 4000,
    });
  },
});
