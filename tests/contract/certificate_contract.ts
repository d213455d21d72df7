/**
 * The contract of `CertificateMaker` and `CertificateReader`, which belong together.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { CertificateMaker, CertificateReader } from "../../adapters/webhook/certificates.ts";
import {
  type ContractHarness,
  contractTest,
  type OpenHarness,
} from "./support/contract_harness.ts";

/** A maker, and a reader of its certificates. */
export interface CertificateHarness extends ContractHarness {
  readonly maker: CertificateMaker;
  readonly reader: CertificateReader;
}

const VALIDITY = { notBeforeMs: Date.UTC(2026, 0, 1), notAfterMs: Date.UTC(2051, 5, 1) };
const NAMES = ["mbcas-webhook.mbcas-system.svc", "mbcas-webhook.mbcas-system"];

/** Registers the suite for what goes by this name. */
export function certificateContract(name: string, open: OpenHarness<CertificateHarness>): void {
  contractTest(`${name}: readPair() reads what makeAuthority() wrote`, open, async (h) => {
    const made = await h.maker.makeAuthority({ name: "one", ...VALIDITY });
    assert.deepEqual(h.reader.readPair(made), {
      ...VALIDITY,
      names: [],
      authority: true,
    });
    assert.ok(h.reader.signed(made.cert, made.cert));
  });

  contractTest(`${name}: signed() reports the owner of a certificate`, open, async (h) => {
    const [one, two] = await Promise.all(
      ["one", "one"].map((name) => h.maker.makeAuthority({ name, ...VALIDITY })),
    );
    assert.ok(one !== undefined && two !== undefined);
    const serving = await h.maker.makeServing(one, { names: NAMES, ...VALIDITY });
    assert.deepEqual(h.reader.readPair(serving), {
      ...VALIDITY,
      names: NAMES,
      authority: false,
    });
    assert.ok(h.reader.signed(one.cert, serving.cert));
    assert.ok(!h.reader.signed(two.cert, serving.cert));
  });

  contractTest(`${name}: readBundle() reads each certificate back as it was`, open, async (h) => {
    const one = await h.maker.makeAuthority({ name: "one", ...VALIDITY });
    const two = await h.maker.makeServing(one, { names: NAMES, ...VALIDITY });
    const bundle = h.reader.readBundle(one.cert + two.cert);
    assert.deepEqual(bundle.map(({ cert }) => cert.trim()), [one.cert.trim(), two.cert.trim()]);
    assert.deepEqual(bundle.map(({ authority }) => authority), [true, false]);
    assert.deepEqual(h.reader.readBundle(""), []);
  });

  contractTest(`${name}: readPair() and readBundle() refuse other texts`, open, async (h) => {
    const one = await h.maker.makeAuthority({ name: "one", ...VALIDITY });
    const two = await h.maker.makeAuthority({ name: "two", ...VALIDITY });
    for (const pair of [{ ...one, key: two.key }, { ...one, cert: "x" }, { cert: "", key: "" }]) {
      assert.throws(() => h.reader.readPair(pair), { name: "TypeError", message: /^Cannot / });
    }
    assert.throws(() => h.reader.readBundle(`${one.cert}-----BEGIN`), TypeError);
  });
}
