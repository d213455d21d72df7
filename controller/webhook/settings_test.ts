import assert from "node:assert/strict";
import { effectiveSettings } from "../../shared/config/load.ts";
import { WEBHOOK_SETTINGS } from "./settings.ts";

function settle(file: string) {
  return effectiveSettings(WEBHOOK_SETTINGS, { file: { path: "config.yaml", text: file } });
}

Deno.test("WEBHOOK_SETTINGS are off by default, and whole where nothing is said", () => {
  const read = settle("");
  assert.ok("values" in read);
  assert.deepEqual(read.values, {
    webhook: false,
    webhookListen: ":9443",
    webhookCertificates: "self",
    webhookFolder: "/etc/mbcas-webhook",
    webhookService: "mbcas-webhook",
  });
});

Deno.test("WEBHOOK_SETTINGS name what does not fit", () => {
  const read = settle(
    "webhook:\n  certificates: vault\n  serviceName: Web_Hook\n  listen: all\n  ports: 1\n",
  );
  assert.ok("faults" in read);
  const faults = read.faults.join("\n");
  for (const name of ["certificates", "serviceName", "listen", "ports"]) {
    assert.match(faults, new RegExp(`webhook\\.${name}`));
  }
  assert.match(faults, /self, cert-manager, files/);
});
