/**
 * The webhook's certificate is replaced while the server asks it about pods all the time.
 *
 * @module
 */
import type { Kubectl } from "../../kubectl.ts";
import { admissionProbe } from "./admission_probe.ts";
import type { PlacementBed } from "../placement_bed.ts";
import { metricsByPod } from "../product/product_metrics.ts";
import { type AdmissionCount, steadyAdmissions } from "./steady_admissions.ts";
import { until } from "../until.ts";
import { webhookFailures } from "./webhook_failures.ts";
import { renewServing } from "./webhook_pair.ts";

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
