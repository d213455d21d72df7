import assert from "node:assert/strict";
import { assertMatches } from "../tests/fixtures/assert_matches.ts";
import { effectiveSettings } from "../shared/config/effective_settings.ts";
import { CONTROLLER_PROGRAM, CONTROLLER_SETTINGS } from "./settings.ts";

/** What the controller finds wrong with a settings file. */
function faultsOf(text: string): readonly string[] {
  const settings = effectiveSettings(CONTROLLER_SETTINGS, {
    flags: new Map(),
    file: { path: "f", text },
  });
  if ("faults" in settings) return settings.faults;
  return CONTROLLER_PROGRAM.check(settings.values);
}

Deno.test("heartbeatFaults() lets an agent miss one renewal, whichever setting is short", () => {
  assert.deepEqual(faultsOf("{}"), []);
  assert.deepEqual(faultsOf("controller: {agentSilentAfter: 2m}"), []);
  assertMatches(faultsOf("controller: {agentSilentAfter: 119s}"), [
    /^controller\.agentSilentAfter is 119s and agent\.heartbeat is 60s: make it 120s /,
  ]);
  assert.deepEqual(faultsOf("{controller: {agentSilentAfter: 10s}, agent: {heartbeat: 5s}}"), []);
  assertMatches(faultsOf("agent: {heartbeat: 120s}\ncontroller: {agentSilentAfter: 3m}"), [
    /^controller\.agentSilentAfter is 180s and agent\.heartbeat is 120s: make it 240s /,
  ]);
});
