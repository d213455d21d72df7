import assert from "node:assert/strict";
import type { ShownWorkload } from "./placement_view.ts";
import { nextText, phasePaint, phaseText } from "./placement_table.ts";

const NOW = Date.UTC(2026, 0, 1, 12);
const WEB: ShownWorkload = {
  namespace: "shop",
  kind: "Deployment",
  name: "web",
  phase: "Cooldown",
  until: "2026-01-01T12:00:10.000Z",
  message: "it lasts 10 s",
  revisions: [],
  pods: [],
};

Deno.test("phaseText() say the phase and its end", () => {
  assert.equal(phaseText(WEB, NOW), "cooldown until 12:00:10Z");
  assert.equal(phaseText({ phase: "Misconfigured" }, NOW), "configuration error");
  assert.equal(phasePaint("Misconfigured"), "red");
});

Deno.test("nextText() say the step and its time, or why there is none", () => {
  assert.equal(nextText(WEB, NOW), "-");
  const next = { action: "evict pod web-1", pod: "web-1", notBefore: "2026-01-01T12:00:10.000Z" };
  assert.equal(nextText({ ...WEB, next }, NOW), "evict pod web-1 at the earliest 12:00:10Z");
  const { pod: _pod, ...fallback } = next;
  assert.equal(nextText({ ...WEB, next: fallback }, NOW), "evict pod web-1 at 12:00:10Z");
  assert.equal(nextText({ ...WEB, phase: "NotWhole", message: "1 of 2" }, NOW), "none: 1 of 2");
});
