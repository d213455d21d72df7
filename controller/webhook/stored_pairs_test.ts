import assert from "node:assert/strict";
import { createPaperCertificates } from "../../tests/fixtures/webhook/paper_certificates.ts";
import type { StoredTexts } from "./ports.ts";
import { bundleText, readStoredPairs, storedTexts } from "./stored_pairs.ts";

const VALIDITY = { notBeforeMs: 0, notAfterMs: 1000 };
const NAMES = ["a.svc"];

async function stored() {
  const { maker, reader } = createPaperCertificates();
  const [old, authority] = [
    await maker.makeAuthority({ name: "old", ...VALIDITY }),
    await maker.makeAuthority({ name: "new", ...VALIDITY }),
  ];
  const serving = await maker.makeServing(authority, { names: NAMES, ...VALIDITY });
  const data = storedTexts({ authority, serving, earlier: [old] });
  return { reader, old, authority, serving, data };
}

Deno.test("readStoredPairs() reads what storedTexts() wrote", async () => {
  const { reader, old, authority, serving, data } = await stored();
  const facts = { ...VALIDITY, names: [], authority: true };
  assert.deepEqual(readStoredPairs(data, reader), {
    authority: { ...authority, ...facts },
    serving: { ...serving, ...VALIDITY, names: NAMES, authority: false },
    earlier: [{ ...old, key: undefined, ...facts }].map(({ key: _key, ...rest }) => rest),
  });
  const names = ["ca.crt", "ca.key", "old-ca.crt", "tls.crt", "tls.key"];
  assert.deepEqual(Object.keys(data).sort(), names);
});

Deno.test("readStoredPairs() says which text is of no use, and repeats nothing of it", async () => {
  const { reader, old, serving, data } = await stored();
  const wrong: readonly (readonly [StoredTexts, RegExp])[] = [
    [{}, /^ca\.crt and ca\.key: Cannot /],
    [{ ...data, "ca.key": "secret" }, /^ca\.crt and ca\.key: Cannot /],
    [{ ...data, "ca.crt": "secret" }, /^ca\.crt and ca\.key: Cannot /],
    [{ ...data, "ca.crt": serving.cert, "ca.key": serving.key }, /^ca\.crt: /],
    [{ ...data, "tls.key": data["ca.key"] ?? "" }, /^tls\.crt and tls\.key: Cannot /],
    [{ ...data, "ca.crt": old.cert, "ca.key": old.key }, /^tls\.crt: .* ca\.crt$/],
    [{ ...data, "old-ca.crt": "secret" }, /^old-ca\.crt: Cannot /],
  ];
  for (const [texts, message] of wrong) {
    const read = readStoredPairs(texts, reader);
    assert.match("fault" in read ? read.fault : "no fault", message);
    assert.ok("fault" in read && !/secret|key of/.test(read.fault));
  }
  const { "old-ca.crt": _gone, ...without } = data;
  assert.ok("authority" in readStoredPairs(without, reader));
});

Deno.test("readStoredPairs() passes on what is a fault of the program", async () => {
  const { reader, data } = await stored();
  const broken = {
    ...reader,
    readBundle() {
      throw new RangeError("bug");
    },
  };
  assert.throws(() => readStoredPairs(data, broken), RangeError);
});

Deno.test("bundleText() writes one certificate below the other, however they end", () => {
  assert.equal(bundleText([{ cert: "a" }, { cert: "b\n\n" }]), "a\nb\n");
  assert.equal(bundleText([]), "");
});
