import assert from "node:assert/strict";
import fc from "fast-check";
import { fundRaises } from "./funding.ts";
import { DEFAULT_PACE } from "./pace_options.ts";
import { pacedSample } from "../../tests/fixtures/paced_sample.ts";

const AT = { now: 100_000, options: DEFAULT_PACE };

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

pure("fundRaises() lowers the largest surplus first, and no more containers than needed", () => {
  const containers = [300, 100, 450].map((share) => pacedSample({ share }));
  assert.deepEqual(fundRaises(containers, 250, AT), [{ place: 1, limit: 250 }]);
  assert.deepEqual(fundRaises(containers, 500, AT), [
    { place: 1, limit: 100 },
    { place: 0, limit: 400 },
  ]);
});

pure("fundRaises() lowers by a tenth at least: less would not be worth a change", () => {
  assert.deepEqual(fundRaises([pacedSample({ share: 100 })], 10, AT), [{ place: 0, limit: 450 }]);
});

pure("fundRaises() leaves out who warms up, paid lately, or has a surplus below a tenth", () => {
  const containers = [
    pacedSample({ share: 100 }, { since: AT.now - 9999 }),
    pacedSample({ share: 100 }, { fundedAt: AT.now - 4999 }),
    pacedSample({ share: 450 }),
  ];
  assert.deepEqual(fundRaises(containers, 1000, AT), []);
});

pure("fundRaises() lets who is rationed keep less beyond its share the longer it rests", () => {
  const rationed = (changedAt: number) => pacedSample({ share: 480, need: 900 }, { changedAt });
  assert.deepEqual(fundRaises([rationed(AT.now)], 1000, AT), []);
  assert.deepEqual(fundRaises([rationed(-1e9)], 1000, AT), [{ place: 0, limit: 480 }]);
});

pure("fundRaises() asks nobody when nothing is missing", () => {
  assert.deepEqual(fundRaises([pacedSample({ share: 100 })], 0, AT), []);
});

pure(
  "fundRaises() never lowers under a share, and takes all surplus for an endless shortage",
  () => {
    const shares = fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 20 });
    fc.assert(fc.property(shares, fc.integer({ min: 1, max: 5000 }), (tens, shortage) => {
      const containers = tens.map((ten) => pacedSample({ share: ten * 10 }));
      for (const { place, limit } of fundRaises(containers, shortage, AT)) {
        assert.ok(limit >= (containers[place]?.share ?? Infinity) && limit < 500);
      }
      const all = fundRaises(containers, Infinity, AT);
      assert.equal(all.length, containers.filter(({ share }) => share < 450).length);
      for (const { place, limit } of all) assert.equal(limit, containers[place]?.share);
    }));
  },
);
