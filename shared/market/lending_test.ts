import assert from "node:assert/strict";
import fc from "fast-check";
import { cases } from "../../tests/fixtures/cases.ts";
import { type Borrower, lendSlack } from "./lending.ts";
import { exactSum } from "./residual.ts";
import { logUniform } from "../../tests/fixtures/bids_arbitrary.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const amount = fc.oneof(logUniform(0, 4), fc.constant(0));
const borrower: fc.Arbitrary<Borrower> = fc.record({
  share: amount,
  ownLimit: amount,
  ceiling: amount,
  weight: logUniform(0, 4),
});
const borrowers = fc.array(borrower, { maxLength: 15 });

const gapToOwn = ({ share, ownLimit, ceiling }: Borrower): number =>
  Math.max(0, Math.min(ownLimit, ceiling) - share);
const gapToCeiling = ({ share, ceiling }: Borrower): number => Math.max(0, ceiling - share);

pure("lendSlack() fills up to the own limits before anybody goes beyond", () => {
  const first = { share: 100, ownLimit: 200, ceiling: 800, weight: 1 };
  const second = { share: 100, ownLimit: 400, ceiling: 800, weight: 3 };
  assert.deepEqual([...lendSlack([first, second], 100)], [25, 75]);
  assert.deepEqual([...lendSlack([first, second], 400)], [100, 300]);
  assert.deepEqual([...lendSlack([first, second], 800)], [200, 600]);
  assert.deepEqual([...lendSlack([first, second], 9000)], [700, 700]);
});

pure("lendSlack() lends nothing when nothing is idle or nobody may borrow", () => {
  const full = { share: 300, ownLimit: 200, ceiling: 300, weight: 1 };
  const open = { ...full, ceiling: 900 };
  assert.deepEqual([...lendSlack([full], 500)], [0]);
  assert.deepEqual([...lendSlack([open], 0)], [0]);
  assert.deepEqual([...lendSlack([open], -40)], [0]);
  assert.deepEqual([...lendSlack([], 500)], []);
});

pure("lendSlack() refuses a borrower without a weight and an idle amount that is no number", () => {
  const borrower = { share: 1, ownLimit: 2, ceiling: 3, weight: 0 };
  assert.throws(() => lendSlack([borrower], 5), { name: "RangeError", message: /weight is 0/ });
  assert.throws(() => lendSlack([{ ...borrower, weight: 1 }], NaN), { name: "RangeError" });
});

pure("lendSlack() lends all that is idle and fits under the ceilings, and never more", () => {
  fc.assert(
    fc.property(borrowers, amount, (all, idle) => {
      const loans = lendSlack(all, idle);
      const possible = Math.min(idle, exactSum(all.map(gapToCeiling)));
      assert.ok(Math.abs(exactSum(loans) - possible) <= 1e-11 * possible);
      for (const [i, each] of all.entries()) {
        const loan = loans[i] as number;
        assert.ok(loan >= 0 && loan <= gapToCeiling(each) * (1 + 1e-15));
      }
    }),
    cases(5),
  );
});

pure("lendSlack() lends above an own limit only when every own limit is reached", () => {
  fc.assert(
    fc.property(borrowers, amount, (all, idle) => {
      const loans = lendSlack(all, idle);
      const beyond = all.some((each, i) => (loans[i] as number) > gapToOwn(each));
      if (beyond) all.forEach((each, i) => assert.ok((loans[i] as number) >= gapToOwn(each)));
    }),
    cases(5),
  );
});

pure("lendSlack() lends by weight between two that are both short of their own limits", () => {
  fc.assert(
    fc.property(borrowers, amount, (all, idle) => {
      const loans = lendSlack(all, idle);
      const rates = all.flatMap((each, i) =>
        (loans[i] as number) < gapToOwn(each) ? [(loans[i] as number) / each.weight] : []
      );
      if (rates.length > 0) {
        assert.ok(Math.max(...rates) <= Math.min(...rates) * (1 + 1e-14));
      }
    }),
    cases(5),
  );
});

pure("lendSlack() takes no loan back when more is idle", () => {
  fc.assert(
    fc.property(borrowers, amount, amount, (all, idle, more) => {
      const loans = lendSlack(all, idle);
      const larger = lendSlack(all, idle + more);
      loans.forEach((loan, i) => assert.ok((larger[i] as number) >= loan - 1e-11 * (idle + more)));
    }),
    cases(5),
  );
});
