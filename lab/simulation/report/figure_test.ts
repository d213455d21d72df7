import assert from "node:assert/strict";
import fc from "fast-check";
import { pure } from "../../../tests/fixtures/pure.ts";
import { formatCores, formatCount, formatFigure, formatMillicores, formatTime } from "./figure.ts";
import { escapeText, html, shorten, trusted } from "./html.ts";
import { envelope, secondsPerPoint } from "./envelope.ts";
import { SHIPPED_TRACES } from "../trace_files.ts";
import { traceSources } from "./method_note.ts";

pure("formatFigure() keeps three significant digits and has a sign for what is missing", () => {
  const cases: [number | undefined, string][] = [
    [0, "0"],
    [0.00012, "1.2e-4"],
    [0.0456, "0.046"],
    [4.561, "4.56"],
    [45.61, "45.6"],
    [456.1, "456"],
    [4561.2, "4561"],
    [-4.561, "-4.56"],
    [NaN, "–"],
    [Infinity, "–"],
    [undefined, "–"],
  ];
  for (const [value, text] of cases) assert.equal(formatFigure(value), text);
});

pure(
  "formatCores(), formatMillicores(), formatCount() and formatTime() write units as people do",
  () => {
    assert.equal(formatCores(8000), "8");
    assert.equal(formatCores(7654), "7.65");
    assert.equal(formatMillicores(91.6), "92");
    assert.equal(formatMillicores(NaN), "–");
    assert.equal(formatCount(1, "pod"), "1 pod");
    assert.equal(formatCount(0, "pod"), "0 pods");
    assert.equal(formatTime(754.9), "12:34");
    assert.equal(formatTime(5), "0:05");
  },
);

pure("html() escapes text and keeps markup", () => {
  const inner = html`<b title="${`a"b'c`}">${"<i>&"}</b>`;
  assert.equal(inner.markup, `<b title="a&quot;b&#39;c">&lt;i&gt;&amp;</b>`);
  assert.equal(
    html`<p>${inner}${[inner, trusted("<br>")]}${3}</p>`.markup.includes("<br>3"),
    true,
  );
});

pure("escapeText() leaves nothing that could end text or an attribute", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => {
    // deno-lint-ignore no-control-regex -- control characters are what is looked for
    assert(!/[<>"'\u0000-\u001f\u007f-\u009f]/.test(escapeText(text)));
    assert(escapeText(text).isWellFormed());
  }));
  assert.equal(escapeText("a\ud800\0"), "a\ufffd\ufffd");
});

pure("shorten() cuts by characters, not in the middle of one", () => {
  assert.equal(shorten("abcdef", 6), "abcdef");
  assert.equal(shorten("abcdef", 4), "abc…");
  assert.equal(shorten("🐳🐳🐳", 2), "🐳…");
});

pure("envelope() keeps every step of a short series", () => {
  assert.deepEqual(envelope([3, 5], { stepS: 60 }), [
    { minute: 0.5, mean: 3, max: 3 },
    { minute: 1.5, mean: 5, max: 5 },
  ]);
  assert.deepEqual(envelope([], { stepS: 1 }), []);
});

pure(
  "envelope() keeps mean and maximum of each stretch and leaves gaps where nothing is finite",
  () => {
    assert.deepEqual(envelope([1, 3, Infinity, 8, Infinity, NaN], { stepS: 30, points: 3 }), [
      { minute: 0.5, mean: 2, max: 3 },
      { minute: 1.5, mean: 8, max: 8 },
      { minute: 2.5, mean: NaN, max: NaN },
    ]);
  },
);

pure("envelope() never hides the highest value nor shifts the mean of equal stretches", () => {
  const series = fc.array(fc.integer({ min: 0, max: 1e6 }), { minLength: 1, maxLength: 400 });
  fc.assert(fc.property(series, fc.integer({ min: 1, max: 50 }), (values, points) => {
    const drawn = envelope(values, { stepS: 1, points });
    assert.equal(drawn.length, Math.min(points, values.length));
    assert.equal(Math.max(...drawn.map(({ max }) => max)), Math.max(...values));
    assert(drawn.every(({ mean, max }) => mean <= max + 1e-6));
    if (values.length % drawn.length !== 0) return;
    const mean = (all: number[]): number => all.reduce((sum, x) => sum + x, 0) / all.length;
    assert(Math.abs(mean(drawn.map((point) => point.mean)) - mean(values)) < 1e-3);
  }));
});

pure("secondsPerPoint() is the longest stretch", () => {
  assert.equal(secondsPerPoint(1800, { stepS: 1 }), 8);
  assert.equal(secondsPerPoint(10, { stepS: 2 }), 2);
  assert.equal(secondsPerPoint(0, { stepS: 2 }), 0);
});

pure("traceSources() knows every trace of the project, and takes others for the user's own", () => {
  const shipped = traceSources(SHIPPED_TRACES);
  assert.equal(shipped.length, 3);
  assert(shipped.every(({ source }) => source.startsWith("https://")));
  assert.deepEqual(traceSources(["my.csv"]).map(({ source }) => source), ["your own file"]);
});
