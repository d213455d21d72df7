import assert from "node:assert/strict";
import { parseWebhookBench } from "./command_line.ts";

Deno.test("parseWebhookBench() asks 200 times a second for a minute unless configured otherwise", () => {
  assert.deepEqual(parseWebhookBench([]), { json: false, seconds: 60, rate: 200 });
  const request = parseWebhookBench(["--", "--json", "--seconds", "5", "--rate", "10"]);
  assert.deepEqual(request, { json: true, seconds: 5, rate: 10 });
  const wrong = parseWebhookBench(["--seconds", "0"]);
  assert.ok("exitCode" in wrong && wrong.exitCode === 2);
});
