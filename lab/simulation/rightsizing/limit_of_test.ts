import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { limitOf } from "./limit_of.ts";

pure(
  "limitOf() is the request times the factor in whole units, and never below the request",
  () => {
    assert.equal(limitOf(100, 1.1), 110);
    assert.equal(limitOf(105, 1.1), 115);
    assert.equal(limitOf(100.5, 1), 100.5);
    assert.equal(limitOf(100, undefined), Infinity);
  },
);
