/** What becomes of open streams when a request over the same connections has no answer. */
import assert from "node:assert/strict";
import { lateRequest } from "../../tests/fixtures/late_request.ts";

Deno.test("lines() throws once a request shows that its connections lead nowhere", async () => {
  const { next, close } = await lateRequest(10);
  try {
    const message = /^GET \/watch: .* connection /;
    await assert.rejects(next, { status: 0, reason: "Broken", message });
  } finally {
    await close();
  }
});

Deno.test("lines() goes on when a request is late while others are answered", async () => {
  const { next, say, close } = await lateRequest(9);
  try {
    say(2);
    assert.deepEqual(await next, { done: false, value: { a: 2 } });
  } finally {
    await close();
  }
});
