import assert from "node:assert/strict";
import { chooseSeries } from "./choose_series.ts";

type Metric = Readonly<Record<string, string>>;

function exported(...metrics: readonly (Metric | undefined)[]): string {
  const result = metrics.map((metric, index) => ({ metric, values: [[index, "1"]] }));
  return JSON.stringify({ status: "success", data: { resultType: "matrix", result } });
}

function chosen(text: string, wanted: Metric = {}): unknown {
  const refuse = (state: string) => new SyntaxError(state);
  const body = chooseSeries(text, { wanted: new Map(Object.entries(wanted)), refuse });
  return JSON.parse(body).data.result.map(({ metric }: { metric: Metric }) => metric);
}

const WEB_0 = { namespace: "shop", pod: "web-0" };
const WEB_1 = { namespace: "shop", pod: "web-1" };

Deno.test({
  name: "chooseSeries() takes the only series, and the one that has all labels",
  permissions: "none",
  fn() {
    assert.deepEqual(chosen(exported(WEB_0)), [WEB_0]);
    assert.deepEqual(chosen(exported(undefined)), [undefined]);
    assert.deepEqual(chosen(exported(WEB_0, WEB_1), { pod: "web-1" }), [WEB_1]);
    assert.deepEqual(chosen(exported(WEB_0, WEB_1), WEB_0), [WEB_0]);
  },
});

Deno.test({
  name: "chooseSeries() names the series, their labels and how to choose",
  permissions: "none",
  fn() {
    assert.throws(() => chosen(exported(WEB_0, WEB_1)), {
      name: "SyntaxError",
      message: /^it has 2 series: \{namespace=shop,pod=web-0\}, .*--series pod=web-0, .*sum\(\)$/,
    });
    assert.throws(() => chosen(exported(WEB_0, WEB_1), { namespace: "shop" }), {
      message: /^2 .*namespace=shop: .*--series pod=web-0/,
    });
    assert.throws(() => chosen(exported(WEB_0), { pod: "db" }), {
      message: /^none .*pod=db; .*pod=web-0\}$/,
    });
    assert.throws(() => chosen(exported({}, {})), { message: /distinguish them: .*sum\(\)$/ });
    const many = Array.from({ length: 10 }, (_, pod) => ({ pod: `web-${pod}` }));
    assert.throws(() => chosen(exported(...many)), {
      message: /\{pod=web-7\}, and 2 more; choose/,
    });
  },
});

Deno.test({
  name: "chooseSeries() leaves what is no export, or has no series, to the parser",
  permissions: "none",
  fn() {
    const refuse = (state: string) => new SyntaxError(state);
    for (const text of ["", "{", "[]", '{"data":{"result":"none"}}', exported()]) {
      assert.equal(chooseSeries(text, { refuse }), text);
    }
  },
});
