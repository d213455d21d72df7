import { applyJSONPatch, type JSONPatchOperation } from "../../shared/admission/json_patch.ts";
import { parseAdmissionReview } from "../../shared/admission/admission_review.ts";
import { silentLog } from "../../shared/log.ts";
import { assertSentences, messageOf } from "../../tests/fixtures/assert_sentences.ts";
import { createPaperCertificates } from "../../tests/fixtures/webhook/paper_certificates.ts";
import { createSteppedClock } from "../../tests/fixtures/webhook/stepped_clock.ts";
import { webhookScene } from "../../tests/fixtures/webhook/webhook_replica.ts";
import { certificateStep, lifeFrom, readStoredPairs, storedTexts } from "./certificate_step.ts";
import { followFiles } from "./keep_certificates.ts";
import type { KeyedCertificate } from "../../adapters/webhook/certificates.ts";
import type { StoredTexts } from "./ports.ts";
import { runWebhook } from "./connect_webhook.ts";

const DAY_MS = 86_400_000;
const LIFE = lifeFrom(0, 90 * DAY_MS);
const NAMES = ["a.svc"];

const { maker, reader } = createPaperCertificates();
const AUTHORITY = await maker.makeAuthority({ name: "ca", ...lifeFrom(0, 365 * DAY_MS) });
const SERVING = await maker.makeServing(AUTHORITY, { names: NAMES, ...LIFE });
const STORED = storedTexts({ authority: AUTHORITY, serving: SERVING, earlier: [] });

function faultOf(changes: StoredTexts): string {
  const read = readStoredPairs({ ...STORED, ...changes }, reader);
  return "fault" in read ? read.fault : "";
}

function why(nowMs: number, names = NAMES): string {
  const step = certificateStep({ stored: readStoredPairs(STORED, reader), names, nowMs });
  return "why" in step ? step.why : "";
}

Deno.test("sentences of certificates that are made or of no use", () =>
  assertSentences([
    [
      "none",
      () => {
        const step = certificateStep({ stored: undefined, names: NAMES, nowMs: 0 });
        return "why" in step ? step.why : "";
      },
      "there are none yet",
    ],
    ["names", () => why(0, ["b.svc"]), "the certificate is not for b.svc"],
    ["renewal", () => why(80 * DAY_MS), "the certificate ends at 1970-03-31T23:00:00.000Z"],
    ["too late", () => why(91 * DAY_MS), "the certificate ended at 1970-03-31T23:00:00.000Z"],
    ["authority", () => why(300 * DAY_MS), "the authority ends at 1970-12-31T23:00:00.000Z"],
    [
      "ca.crt of a server",
      () => faultOf({ "ca.crt": SERVING.cert, "ca.key": SERVING.key }),
      "ca.crt: it may not sign others",
    ],
    [
      "ca.crt of another authority",
      async () => {
        const other = await maker.makeAuthority({ name: "other", ...LIFE });
        return faultOf({ "ca.crt": other.cert, "ca.key": other.key });
      },
      "tls.crt: it is not signed by ca.crt",
    ],
  ]));

/** What is logged of files that are read once. */
async function warningOf(files: KeyedCertificate): Promise<string> {
  const end = new AbortController();
  const warned: string[] = [];
  await followFiles({
    files: { read: () => Promise.resolve(files) },
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
  return assertSentences([
    [
      "files",
      () => warningOf({ ...SERVING, key: "secret" }),
      "The certificate's files can't be used: TypeError: Cannot use it: another one's key",
    ],
    [
      "unusable",
      () => {
        scene.objects.secret = { resourceVersion: scene.objects.nextVersion(), data: {} };
        return warned(1000);
      },
      "warn Unusable certificates replaced",
    ],
    [
      "refused",
      () => {
        scene.objects.refuse(403);
        return warned(3_600_000);
      },
      "warn Failed to keep the webhook's certificates",
    ],
    [
      "readiness",
      async () => {
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
      "the webhook has no certificate yet; the webhook has ended",
    ],
  ]);
});

function reviewFault(changes: Readonly<Record<string, unknown>>): Promise<string> {
  const resource = { group: "", version: "v1", resource: "pods" };
  const request = { uid: "u", kind: { kind: "Pod" }, resource, operation: "CREATE", ...changes };
  const review = { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request };
  return messageOf(() => parseAdmissionReview(JSON.stringify(review)));
}

function patchFault(op: JSONPatchOperation["op"], path: string, value?: unknown): Promise<string> {
  const document = { spec: { disk: "ssd", list: [1] } };
  return messageOf(() => applyJSONPatch(document, [{ op, path, value }]));
}

Deno.test("sentences of reviews and patches that can't be read", () =>
  assertSentences([
    [
      "no JSON",
      () => messageOf(() => parseAdmissionReview("secret: {")),
      "Cannot read an admission review: 9 characters that are not JSON",
    ],
    [
      "no object",
      () => reviewFault({ object: [] }),
      "Cannot read an admission review: request.object is a list of 0: must be an object",
    ],
    [
      "operation",
      () => reviewFault({ operation: "PATCH" }),
      'Cannot read an admission review: request.operation is "PATCH": must be one of CREATE, UPDATE, ' +
      "DELETE, CONNECT",
    ],
    [
      "member",
      () => patchFault("remove", "/spec/none"),
      'Cannot apply a patch: remove "/spec/none": "none" is not there',
    ],
    [
      "holder",
      () => patchFault("add", "/spec/disk/x", 1),
      'Cannot apply a patch: add "/spec/disk/x": there is nothing to hold "x"',
    ],
    [
      "index",
      () => patchFault("replace", "/spec/list/1", 1),
      'Cannot apply a patch: replace "/spec/list/1": "1" is not a place in a list',
    ],
    ["path", () =>
      patchFault("add", "", 1), 'Cannot apply a patch: add "": its path names no member'],
    [
      "value",
      () =>
        patchFault("add", "/spec/x"),
      'Cannot apply a patch: add "/spec/x": it has no value',
    ],
  ]));
