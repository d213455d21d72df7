import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import { escapeText, html, shorten, trusted } from "./html.ts";

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
