import assert from "node:assert/strict";
import fc from "fast-check";
import { cases } from "../../tests/fixtures/cases.ts";
import { isRangePoints, parseRangeText } from "./range_points.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function answerOf(series: readonly object[]): object {
  return { status: "success", data: { resultType: "matrix", result: series }, warnings: ["w"] };
}

/** With all points as numbers, whichever way they were read. */
function plain(tree: unknown): unknown {
  return JSON.parse(JSON.stringify(tree, (key, value: unknown) => {
    if (key !== "values" || typeof value !== "object" || value === null) return value;
    if (isRangePoints(value)) return [[...value.timesMs], [...value.values]];
    const kept = (value as [number, string][])
      .map(([atS, text]) => [Math.round(1000 * atS), text === "" ? NaN : Number(text)] as const)
      .filter(([, amount]) => Number.isFinite(amount));
    return [kept.map(([atMs]) => atMs), kept.map(([, amount]) => amount)];
  }));
}

const amounts = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.constantFrom("NaN", "+Inf", "-Inf", "Infinity", "", "1e-7", "0.30000000000000004"),
  fc.string({ unit: "binary" }),
);
const texts = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom('"values":[[1,"2"]]', "\\", '"', "]]}", 'x\\"values":[', "values"),
);
const series = fc.record({
  metric: fc.dictionary(texts, texts),
  values: fc.array(
    fc.tuple(fc.double({ min: 0, max: 4e9, noNaN: true }).map((atS) => atS + 0), amounts),
    { maxLength: 20 },
  ),
});

pure("parseRangeText() reads points into arrays, without those that are no number", () => {
  const text =
    '{"data":{"result":[{"metric":{"pod":"a"},"values":[[1.5,"2"],[3,"NaN"],[4,"+Inf"],' +
    '[5.0004,"1e3"]]},{"metric":{},"values":[[7,"NaN"]]}]}}';
  const { data: { result: [first, second] } } = parseRangeText(text) as {
    readonly data: { readonly result: readonly { readonly values: unknown }[] };
  };
  assert.ok(isRangePoints(first?.values) && isRangePoints(second?.values));
  assert.deepEqual([...first.values.timesMs], [1500, 5000]);
  assert.deepEqual([...first.values.values], [2, 1000]);
  assert.equal(second.values.timesMs.length, 0);
});

pure("parseRangeText() says what JSON says, whatever labels and values are", () => {
  fc.assert(
    fc.property(fc.array(series, { maxLength: 4 }), (result) => {
      const text = JSON.stringify(answerOf(result));
      assert.deepEqual(plain(parseRangeText(text)), plain(JSON.parse(text)));
    }),
    cases(5),
  );
});

pure("parseRangeText() leaves what is written in another way to JSON", () => {
  const values = [[1, "2"], [3, "4"]];
  for (
    const tree of [
      answerOf([{ metric: {}, values: [] }]),
      answerOf([{ metric: {}, values: [[1, 2]] }]),
      answerOf([{ metric: {}, values: [["1", "2"]] }]),
      answerOf([{ metric: {}, values: [[1, "2", 3]] }]),
      answerOf([{ metric: {}, values: 0 }]),
      answerOf([{ metric: {}, histograms: [[1, { count: "2" }]] }]),
    ]
  ) assert.deepEqual(parseRangeText(JSON.stringify(tree)), tree);
  const spaced = JSON.stringify(answerOf([{ metric: {}, values }]), undefined, 1);
  assert.deepEqual(parseRangeText(spaced), answerOf([{ metric: {}, values }]));
  const escaped = '{"values":[[1,"\\u0032"]]}';
  assert.deepEqual(parseRangeText(escaped), { values: [[1, "2"]] });
});

pure("parseRangeText() throws nothing but a SyntaxError, whatever is cut out of an answer", () => {
  fc.assert(
    fc.property(
      fc.array(series, { minLength: 1, maxLength: 2 }),
      fc.nat(),
      fc.integer({ min: 1, max: 9 }),
      (result, place, length) => {
        const text = JSON.stringify(answerOf(result));
        const cut = place % text.length;
        try {
          parseRangeText(text.slice(0, cut) + text.slice(cut + length));
        } catch (error) {
          assert.ok(error instanceof SyntaxError, String(error));
        }
      },
    ),
    cases(5),
  );
  assert.throws(() => parseRangeText('{"values":[[1,"2"]'), SyntaxError);
});
