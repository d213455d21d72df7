import assert from "node:assert/strict";
import fc from "fast-check";
import {
  AUTHORITY_LIFE_MS,
  bundleText,
  certificateStep,
  lifeFrom,
  readStoredPairs,
  SERVING_LIFE_MS,
  type StoredPairs,
  storedTexts,
  trustedAuthorities,
} from "./certificate_step.ts";
import type { Validity } from "../../adapters/webhook/certificates.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import type { StoredTexts } from "./ports.ts";
import { createPaperCertificates } from "../../tests/fixtures/webhook/paper_certificates.ts";

const DAY_MS = 86_400_000;
const START_MS = Date.UTC(2026, 0, 1);
const NAMES = ["mbcas-webhook.mbcas-system.svc"];

function pairs(authority: Validity, serving: Validity, names = NAMES): StoredPairs {
  return {
    authority: { cert: "ca", key: "k", names: [], authority: true, ...authority },
    serving: { cert: "tls", key: "k", names, authority: false, ...serving },
    earlier: [],
  };
}

const LONG = lifeFrom(START_MS, AUTHORITY_LIFE_MS);
const SHORT = lifeFrom(START_MS, SERVING_LIFE_MS);

/** What to make so long after the start, and why. */
function step(stored: StoredPairs | { readonly fault: string } | undefined, afterMs = 0): string {
  const next = certificateStep(stored, { names: NAMES, nowMs: START_MS + afterMs });
  return next === undefined ? "nothing" : `${next.make}: ${next.why}`;
}

pure("certificateStep() renews what is unusable, or past two thirds of its life", () => {
  const stored = pairs(LONG, SHORT);
  // 60 days from its beginning, which is set back by an hour.
  const servingMs = 60 * DAY_MS - 3_600_000;
  const authorityMs = 365 * DAY_MS * 2 / 3 - 3_600_000;
  const later = pairs(LONG, lifeFrom(START_MS + authorityMs - DAY_MS, SERVING_LIFE_MS));
  const rows: readonly (readonly [string, Parameters<typeof step>[0], number?])[] = [
    ["authority: there are none yet", undefined],
    ["authority: ca.crt: unreadable", { fault: "ca.crt: unreadable" }],
    ["nothing", stored, servingMs - 1],
    ["serving: the certificate ends at 2026-03-31T23:00:00.000Z", stored, servingMs],
    ["serving: the certificate ended at 2026-03-31T23:00:00.000Z", stored, 91 * DAY_MS],
    ["nothing", later, authorityMs - 1000],
    ["authority: the authority ends at 2026-12-31T23:00:00.000Z", later, authorityMs],
    [`serving: the certificate is not for ${NAMES[0]}`, pairs(LONG, SHORT, ["old.svc"])],
    ["nothing", pairs(LONG, SHORT, ["old.svc", ...NAMES])],
    // One that begins a little later by another's clock.
    ["nothing", stored, -2 * 3_600_000],
  ];
  for (const [expected, pair, afterMs] of rows) assert.equal(step(pair, afterMs), expected);
});

pure("certificateStep() never lets anything end that is made in time, whenever it looks", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 28 * DAY_MS }), { minLength: 30, maxLength: 80 }),
      (pauses) => {
        let nowMs = START_MS;
        let stored = pairs(LONG, SHORT);
        for (const pauseMs of pauses) {
          nowMs += pauseMs;
          const next = certificateStep(stored, { names: NAMES, nowMs });
          // Looked at in time, nothing has ended: a third of 90 days is 30.
          assert.ok(nowMs < stored.serving.notAfterMs && nowMs < stored.authority.notAfterMs);
          if (next === undefined) continue;
          const authority = next.make === "authority"
            ? lifeFrom(nowMs, AUTHORITY_LIFE_MS)
            : stored.authority;
          stored = pairs(authority, lifeFrom(nowMs, SERVING_LIFE_MS));
          assert.ok(stored.serving.notAfterMs <= stored.authority.notAfterMs);
          assert.equal(certificateStep(stored, { names: NAMES, nowMs }), undefined);
        }
      },
    ),
  );
});

pure("trustedAuthorities() names the present one first, and older ones until they end", () => {
  const earlier = ["b", "c"].map((cert, index) => ({
    cert,
    names: [],
    authority: true,
    notBeforeMs: 0,
    notAfterMs: START_MS + index,
  }));
  const stored = { ...pairs(LONG, SHORT), earlier };
  const certs = (nowMs: number) => trustedAuthorities(stored, nowMs).map(({ cert }) => cert);
  assert.deepEqual(certs(START_MS - 1), ["ca", "b", "c"]);
  assert.deepEqual(certs(START_MS), ["ca", "c"]);
  assert.deepEqual(certs(START_MS + 1), ["ca"]);
});

const VALIDITY = { notBeforeMs: 0, notAfterMs: 1000 };

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
    [
      { ...data, "ca.crt": serving.cert, "ca.key": serving.key },
      /^ca\.crt: it may not sign others$/,
    ],
    [{ ...data, "tls.key": data["ca.key"] ?? "" }, /^tls\.crt and tls\.key: Cannot /],
    [{ ...data, "ca.crt": old.cert, "ca.key": old.key }, /^tls\.crt: it is not signed by ca\.crt$/],
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
