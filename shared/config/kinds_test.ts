import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import {
  addressKind,
  choiceKind,
  durationKind,
  listenKind,
  numberKind,
  switchKind,
  termsKind,
  textKind,
  valueOf,
} from "./kinds.ts";
import { formatDuration } from "../duration.ts";

pure("durationKind() reads back what formatDuration() writes", () => {
  const kind = durationKind({ leastMs: 0, mostMs: 1e9 });
  fc.assert(fc.property(fc.integer({ min: 0, max: 1e9 }), (ms) => {
    assert.equal(valueOf(kind, formatDuration(ms)), ms);
  }));
  assert.deepEqual([0, 90_000, 120_000, 3_600_000, 1500].map(formatDuration), [
    "0s",
    "90s",
    "2m",
    "1h",
    "1500ms",
  ]);
});

pure("durationKind() refuses what is no duration or out of bounds", () => {
  const kind = durationKind({ leastMs: 10, mostMs: 60_000 });
  for (const text of ["", "5", "9ms", "61s", "1d", "-1s", "1s ", "Infinity"]) {
    assert.equal(valueOf(kind, text), undefined, text);
  }
});

pure("numberKind() keeps to its bounds and to decimal digits", () => {
  const whole = numberKind({ least: 1, most: 10, whole: true });
  assert.deepEqual(
    ["1", "10", "0", "11", "1.5", "1e0", "0x2", ""].map((text) => valueOf(whole, text)),
    [
      1,
      10,
      ...Array(6).fill(undefined),
    ],
  );
  assert.equal(valueOf(numberKind({ most: 1 }), ".5"), 0.5);
});

pure("switchKind, choiceKind(), textKind() and termsKind() take their values only", () => {
  assert.deepEqual(
    ["on", "true", "off", "false", "yes", "toString"].map((text) => valueOf(switchKind, text)),
    [
      true,
      true,
      false,
      false,
      undefined,
      undefined,
    ],
  );
  const choice = choiceKind(["OptIn", "OptOut"]);
  assert.deepEqual([valueOf(choice, "OptIn"), valueOf(choice, "optin")], ["OptIn", undefined]);
  assert.deepEqual(["", "x"].map((text) => valueOf(textKind("a name"), text)), [undefined, "x"]);
  const terms = termsKind("names", /^[a-z]+$/);
  assert.deepEqual(valueOf(terms, "a, b,,c"), ["a", "b", "c"]);
  assert.deepEqual(valueOf(terms, ""), []);
  assert.equal(valueOf(terms, "a,B"), undefined);
});

pure("listenKind takes host:port and :port, and a port alone for that", () => {
  for (const text of [":8080", "127.0.0.1:0", "[::1]:8080", "localhost:65535"]) {
    assert.equal(valueOf(listenKind, text), text);
  }
  assert.equal(valueOf(listenKind, "8080"), ":8080");
  for (const text of ["0", "08080", "65536", "https", ":", ":65536", "a b:1", "::1:8080"]) {
    assert.equal(valueOf(listenKind, text), undefined, text);
  }
});

pure("addressKind takes addresses of both versions, and no names", () => {
  for (const text of ["10.0.0.1", "::1", "fd00::a:1"]) {
    assert.equal(valueOf(addressKind, text), text);
  }
  for (const text of ["", "256.0.0.1", "10.0.0", "node-1", "[::1]", "::g", "10.0.0.1:80"]) {
    assert.equal(valueOf(addressKind, text), undefined, text);
  }
});
