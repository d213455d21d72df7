import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { formatMicroTime, parseTime } from "./object_fields.ts";

pure("formatMicroTime() writes six decimals, which parseTime() reads again", () => {
  assert.equal(formatMicroTime(0), "1970-01-01T00:00:00.000000Z");
  assert.equal(formatMicroTime(1_767_225_600_123), "2026-01-01T00:00:00.123000Z");
  assert.equal(parseTime(formatMicroTime(1_767_225_600_123)), 1_767_225_600_123);
  assert.equal(parseTime(null), undefined);
});
