import { parseAdmissionReview } from "../../shared/admission/admission_review.ts";
import { silentLog } from "../../shared/log.ts";
import { assertTexts, messageOf } from "../../tests/fixtures/assert_sentences.ts";
import {
  createPaperCertificates,
  createSteppedClock,
  webhookScene,
} from "../../tests/fixtures/webhook/webhook_replica.ts";
import { certificateStep, readStoredPairs, storedTexts } from "./certificate_step.ts";
import { followFiles } from "./keep_certificates.ts";
import type { KeyedCertificate } from "../../adapters/webhook/certificates.ts";
import { runWebhook } from "./connect_webhook.ts";

const { maker, reader } = createPaperCertificates();
const SERVING = await maker.makeAuthority({ name: "ca", notBeforeMs: 0, notAfterMs: 9 });

async function warningOf(files: KeyedCertificate): Promise<string> {
  const end = new AbortController();
  const warned: string[] = [];
  await followFiles({
    readFiles: () => Promise.resolve(files),
    reader,
    observer: { serves: () => {} },
    clock: { ...createSteppedClock(0), sleep: () => Promise.resolve(end.abort()) },
    log: { ...silentLog, warn: (text, fields = {}) => warned.push(`${text}: ${fields["error"]}`) },
    use: () => {},
  }, end.signal);
  return warned.join();
}

Deno.test("sentences of logs and probes of the webhook", () => {
  const scene = webhookScene();
  const warned = async (runMs: number) => {
    const { lines, stop } = scene.start();
    await scene.run(runMs);
    await stop();
    return lines.find((line) => line.startsWith("warn"))?.replace(/ \{.*$/, "") ?? "";
  };
  return assertTexts(
    {
      "files": () => warningOf({ ...SERVING, key: "secret" }),
      "unusable": () => {
        scene.objects.secret = {};
        return warned(1000);
      },
      "refused": () => {
        scene.objects.refuse(403);
        return warned(3_600_000);
      },
      async "readiness"() {
        const waits: (string | undefined)[] = [];
        await runWebhook({
          log: silentLog,
          listen: () => Promise.reject(new Error("unused")),
          certificates: () => Promise.resolve(),
          publish: () => Promise.resolve(),
          waitsFor: (reason) => waits.push(reason),
        }, AbortSignal.abort());
        return waits.join("; ");
      },
    },
    `\
files
  The certificate's files can't be used: TypeError: Cannot use it: another one's key
unusable
  warn Unusable certificates replaced
refused
  warn Failed to keep the webhook's certificates
readiness
  the webhook has no certificate yet; the webhook has ended
`,
  );
});

Deno.test("sentences of certificates that are to be made anew", async () => {
  const serving = await maker.makeServing(SERVING, { names: [], notBeforeMs: 0, notAfterMs: 3 });
  const other = await maker.makeAuthority({ name: "other", notBeforeMs: 0, notAfterMs: 9 });
  const found = (authority: KeyedCertificate) =>
    readStoredPairs(storedTexts({ authority, serving }), reader);
  const fault = (authority: KeyedCertificate) => () => {
    const pairs = found(authority);
    return "fault" in pairs ? pairs.fault : "";
  };
  const why = (...[nowMs, ...names]: readonly [nowMs: number, ...names: string[]]) => () =>
    certificateStep(found(SERVING), { names, nowMs })?.why ?? "";
  await assertTexts(
    {
      "none": () => certificateStep(undefined, { names: [], nowMs: 0 })?.why ?? "",
      "authority": why(9),
      "serving": why(2),
      "name": why(0, "a.svc"),
      "not an authority": fault(serving),
      "another authority": fault(other),
    },
    `\
none
  there are none yet
authority
  the authority ended at 1970-01-01T00:00:00.009Z
serving
  the certificate ends at 1970-01-01T00:00:00.003Z
name
  the certificate is not for a.svc
not an authority
  ca.crt: it may not sign others
another authority
  tls.crt: it is not signed by ca.crt
`,
  );
});

function reviewFault(changes: Readonly<Record<string, unknown>>): Promise<string> {
  const resource = { group: "", version: "v1", resource: "pods" };
  const request = { uid: "u", kind: { kind: "Pod" }, resource, operation: "CREATE", ...changes };
  const review = { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request };
  return messageOf(() => parseAdmissionReview(JSON.stringify(review)));
}

Deno.test("sentences of reviews that can't be read", () =>
  assertTexts(
    {
      "no JSON": () => messageOf(() => parseAdmissionReview("secret: {")),
      "no object": () => reviewFault({ object: [] }),
      "operation": () => reviewFault({ operation: "PATCH" }),
    },
    `\
no JSON
  Cannot read an admission review: 9 characters that are not JSON
no object
  Cannot read an admission review: request.object is a list of 0: must be an object
operation
  Cannot read an admission review: request.operation is "PATCH": must be one of CREATE, UPDATE, DELETE, CONNECT
`,
  ));
