import assert from "node:assert/strict";
import { responseError, statusError } from "./response_errors.ts";

Deno.test("responseError() waits for a minute at most, whatever a server asks", () => {
  const far = ["86400", "9".repeat(310), "Fri, 31 Dec 9999 23:59:59 GMT"];
  for (const retryAfter of far) {
    const { retryAfterMs } = responseError({ status: 503, text: "", retryAfter }, 0);
    assert.equal(retryAfterMs, 60_000, retryAfter);
  }
  const text = '{"kind":"Status","details":{"retryAfterSeconds":1e300}}';
  assert.equal(responseError({ status: 503, text }, 0).retryAfterMs, 60_000);
});

Deno.test("responseError() reads Retry-After as seconds or as a date", () => {
  const nowMs = Date.UTC(2026, 0, 1);
  const wait = (retryAfter: string): number | undefined =>
    responseError({ status: 429, text: "", retryAfter }, nowMs).retryAfterMs;
  assert.equal(wait("30"), 30_000);
  assert.equal(wait("Thu, 01 Jan 2026 00:00:05 GMT"), 5000);
  assert.equal(wait("Wed, 31 Dec 2025 00:00:00 GMT"), undefined);
  assert.equal(wait("soon"), undefined);
  assert.equal(
    responseError({ status: 429, text: "" }, nowMs).message,
    "the server answered 429 without a message",
  );
});

Deno.test("statusError() has a status whatever the object is", () => {
  assert.deepEqual([statusError({}).status, statusError({}).reason], [500, "InternalError"]);
  assert.equal(statusError({ code: 410, reason: "Expired" }).status, 410);
  assert.equal(statusError(undefined).causes.length, 0);
});
