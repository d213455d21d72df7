import assert from "node:assert/strict";
import { serviceDeployment } from "./service_objects.ts";
import { benchScene } from "./scene.ts";

Deno.test("serviceDeployment() gives a replica the user's own figures and its list", async () => {
  const { scene } = await benchScene({ seed: 1, minutes: 1, load: 560 });
  const pod = scene.pods[3] ?? assert.fail("no fourth pod");
  const text = JSON.stringify(serviceDeployment(pod, { folder: "/lists" }));
  assert.ok(text.includes(`"args":["/requests/${pod.name}.bin","8"]`));
  assert.ok(
    text.includes(`"requests":{"cpu":"${pod.request}m"},"limits":{"cpu":"${pod.originalLimit}m"}`),
  );
  assert.ok(text.includes('"path":"/lists"'));
  assert.ok(text.includes('"priorityClassName":"bench-4000"'));
});
