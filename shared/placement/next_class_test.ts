import assert from "node:assert/strict";
import { nextClass, ordinalClass, ordinalOf } from "./next_class.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const WISH = { spotPercentage: 70, minOnDemand: 2 } as const;

test("nextClass() fills the floor first, and divides each number on the way", () => {
  const counts = { spot: 0, "on-demand": 0 };
  const order = Array.from({ length: 10 }, () => {
    const next = nextClass(counts, WISH);
    counts[next]++;
    return next === "spot" ? "s" : "o";
  });
  assert.equal(order.join(""), "oossssosss");
  assert.deepEqual(counts, { spot: 7, "on-demand": 3 });
});

test("nextClass() makes up for what is missing", () => {
  assert.equal(nextClass({ spot: 0, "on-demand": 3 }, WISH), "spot");
  assert.equal(nextClass({ spot: 9, "on-demand": 0 }, WISH), "on-demand");
});

test("ordinalClass() puts the low ordinals on-demand, counted from the first", () => {
  const classes = (firstOrdinal?: number): string =>
    [0, 1, 2, 3, 4, 5].map((ordinal) =>
      ordinalClass(ordinal, {
        replicas: 5,
        wish: WISH,
        ...(firstOrdinal === undefined ? {} : { firstOrdinal }),
      })[0]
    ).join("");
  assert.equal(classes(), "oossss");
  assert.equal(classes(3), "ooooos");
});

test("ordinalOf() reads the end of the name", () => {
  assert.equal(ordinalOf("db-main-12"), 12);
  assert.equal(ordinalOf("db-main-0"), 0);
  for (const name of ["db", "db-", "db-1a", "7", ""]) assert.equal(ordinalOf(name), undefined);
});
