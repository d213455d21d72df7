import assert from "node:assert/strict";
import { instanceNamed } from "../instance.ts";
import { kubeconfig } from "./kubeconfig.ts";

Deno.test({
  name: "kubeconfig() holds the server, the user and the certificates",
  permissions: "none",
  fn() {
    const config = JSON.parse(
      kubeconfig(instanceNamed("trial"), { user: "admin", ca: "CA", certificate: "C", key: "K" }),
    );
    assert.equal(config.clusters[0].cluster.server, "https://127.0.0.1:6443");
    assert.equal(atob(config.clusters[0].cluster["certificate-authority-data"]), "CA");
    assert.equal(atob(config.users[0].user["client-certificate-data"]), "C");
    assert.equal(atob(config.users[0].user["client-key-data"]), "K");
    assert.deepEqual(config.contexts[0], {
      name: "trial",
      context: { cluster: "trial", user: "admin" },
    });
    assert.equal(config["current-context"], "trial");
  },
});
