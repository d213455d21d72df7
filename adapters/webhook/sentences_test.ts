import { assertSentences, messageOf } from "../../tests/fixtures/assert_sentences.ts";
import { createBodyReader } from "./webhook_server.ts";
import { createCertificateMaker, createCertificateReader } from "./certificates.ts";

Deno.test("sentences of certificates and connections of the webhook", async () => {
  const [maker, reader] = [createCertificateMaker(), createCertificateReader()];
  const validity = { notBeforeMs: 0, notAfterMs: 3_600_000 };
  const one = await maker.makeAuthority({ name: "one", ...validity });
  const two = await maker.makeAuthority({ name: "two", ...validity });
  const pair = (changes: Partial<typeof one>) =>
    messageOf(() => reader.readPair({ ...one, ...changes }));
  const serving = (changes: Partial<typeof one>) =>
    messageOf(() => maker.makeServing({ ...one, ...changes }, { names: ["a.svc"], ...validity }));
  await assertSentences([
    [
      "authority",
      () => serving({ cert: "x" }),
      "Cannot sign a certificate: the authority is not one of ours",
    ],
    [
      "another key",
      () => pair({ key: two.key }),
      "Cannot use a certificate: the key belongs to another one",
    ],
    ["key", () => pair({ key: "" }), "Cannot read a key: the text is not a PEM private key"],
    ["no certificate", () => pair({ cert: "" }), "Cannot read a certificate: there is none"],
    [
      "bundle",
      () => messageOf(() => reader.readBundle(one.cert.slice(0, -40))),
      "Cannot read certificates: a block is truncated or not a certificate",
    ],
    [
      "long request",
      async () => {
        const chunks = async function* () {
          yield await Promise.resolve(new Uint8Array(4));
        };
        const read = await createBodyReader({ mostBytes: 3, mostBytesInWork: 9 }).read(chunks());
        return "refusal" in read ? read.refusal : "";
      },
      "Cannot read the request: it has more than 3 bytes",
    ],
  ]);
});
