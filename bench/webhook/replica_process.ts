/**
 * A replica in a process of its own, as in a cluster. Its copies are what it is sent on its standard input,
 * a message a line.
 *
 * @module
 */
import { createJSONLines } from "../../adapters/kube/client/http_connection.ts";
import { handCopies, webDeployment } from "../../tests/fixtures/placement_copies.ts";
import { memoryAfterGC } from "../rightsizing/watch_memory.ts";
import { startReplica } from "./replica.ts";
import type { FromReplica, ToReplica } from "./replicas.ts";

const tell = (message: FromReplica): void => console.log(JSON.stringify(message));
const copies = handCopies();

async function hear(message: ToReplica): Promise<void> {
  switch (message.kind) {
    case "start":
      copies.deployments.put(webDeployment(message.pods));
      return tell({ kind: "started", addresses: await startReplica(copies, message.options) });
    case "put":
      return copies.pods.put(message.pod);
    case "remove":
      return copies.pods.remove(message.pod);
    case "memory":
      return tell({ kind: "memory", use: await memoryAfterGC() });
  }
}

const lines = createJSONLines();
for await (const chunk of Deno.stdin.readable) {
  for (const message of lines.take(chunk)) await hear(message as ToReplica);
}
Deno.exit();
