/**
 * The webhook's certificate is replaced while the server asks it about pods all the time.
 *
 * @module
 */
import type { Kubectl } from "../kubectl.ts";
import { type AdmissionProbe, admissionProbe, type PlacementBed } from "./placement_bed.ts";
import { metricsByPod, PRODUCT_NAMESPACE, seriesIn } from "./product.ts";
import { pause, until } from "./until.ts";
import { createCertificateMaker } from "../../../adapters/webhook/certificates.ts";
import { createSecretStore } from "../../../adapters/kube/writers/webhook_stores.ts";
import type { KubeConnection } from "../../../adapters/kube/client/connection.ts";
import { lifeFrom, SERVING_LIFE_MS } from "../../../controller/webhook/certificate_step.ts";
import { servingNames, WEBHOOK_SECRET } from "../../../controller/webhook/webhook_objects.ts";

/** The load, and the new certificate that is on its way. */
export interface RotatedCertificate extends AsyncDisposable {
  /** Waits until the leader serves the new one, ends the load, and reports. */
  end(): Promise<AdmissionCount & { readonly failures: number }>;
}

const PER_SECOND = 20;
/** The leader reads the Secret every 60 s. */
const ROTATES = { timeoutMs: 120_000, everyMs: 1000 } as const;
const ENDS = "mbcas_webhook_certificate_end_timestamp_seconds";

/** Begins both. */
export async function rotatedCertificate(
  bed: PlacementBed,
  { kubectl, scene }: { readonly kubectl: Kubectl; readonly scene: string },
): Promise<RotatedCertificate> {
  const probe = await admissionProbe(bed, { scene });
  const before = await webhookFailures(kubectl);
  const load = steadyAdmissions(probe, { perSecond: PER_SECOND });
  const endsMs = await renewServing(bed.node.connection, Date.now());
  return {
    async end() {
      await until("new certificate at the leader", async () => {
        const pods = await metricsByPod(bed.node, "mbcas-controller");
        return [...pods.values()].some((series) => series.get(ENDS) === endsMs / 1000) || undefined;
      }, ROTATES);
      const count = await load.end();
      return { ...count, failures: await webhookFailures(kubectl) - before };
    },
    [Symbol.asyncDispose]: async () => void await load.end(),
  };
}

/** The load while it lasts. */
export interface SteadyAdmissions {
  /** Ends it, waits for the last answers, and reports. Throws what a request has thrown. */
  end(): Promise<AdmissionCount>;
}

/** Pods that were tried. */
export interface AdmissionCount {
  readonly asked: number;
  /** Those that would have been stored as they were sent. */
  readonly unplaced: number;
}

/** Asks so often, however long the answers take. */
export function steadyAdmissions(
  probe: Pick<AdmissionProbe, "ask">,
  { perSecond }: { readonly perSecond: number },
): SteadyAdmissions {
  const end = new AbortController();
  const answers: Promise<string | undefined>[] = [];
  const failures: unknown[] = [];

  async function run(): Promise<void> {
    const begunMs = performance.now();
    while (!end.signal.aborted) {
      const answer = probe.ask();
      answer.catch((error: unknown) => failures.push(error));
      answers.push(answer);
      await pause(Math.max(0, begunMs + answers.length * 1000 / perSecond - performance.now()));
    }
  }

  const running = run();
  return {
    async end() {
      end.abort();
      await running;
      const all = await Promise.allSettled(answers);
      if (failures.length > 0) throw failures[0];
      const unplaced = all.filter((one) => one.status === "fulfilled" && one.value === undefined);
      return { asked: all.length, unplaced: unplaced.length };
    },
  };
}

const FAILED = /^apiserver_admission_webhook_fail_open_count\{.*name="[a-z.]+\.mbcas\.io"/;

/** How often the server has let an object pass because the webhook had not answered. */
export async function webhookFailures(kubectl: Kubectl): Promise<number> {
  const series = seriesIn(await kubectl.must(["get", "--raw", "/metrics"]));
  return [...series].filter(([name]) => FAILED.test(name))
    .reduce((sum, [, value]) => sum + value, 0);
}

const SERVICE = "mbcas-webhook";
const HOUR_MS = 3_600_000;

/** Puts a new certificate of the same authority in; returns when it ends, ms since 1970. */
export async function renewServing(connection: KubeConnection, nowMs: number): Promise<number> {
  const store = createSecretStore(connection, {
    namespace: PRODUCT_NAMESPACE,
    name: WEBHOOK_SECRET,
    labels: {},
  });
  const stored = await store.read();
  if (stored === undefined) throw new Error("Cannot renew the certificate: there is no Secret");
  const authority = { cert: stored.data["ca.crt"] ?? "", key: stored.data["ca.key"] ?? "" };
  // An hour less than the product's own, so that it is distinguished from those.
  const validity = lifeFrom(nowMs, SERVING_LIFE_MS - HOUR_MS);
  const names = servingNames(SERVICE, PRODUCT_NAMESPACE);
  const { cert, key } = await createCertificateMaker().makeServing(authority, {
    ...validity,
    names,
  });
  await store.replace(stored, { ...stored.data, "tls.crt": cert, "tls.key": key });
  return validity.notAfterMs;
}
