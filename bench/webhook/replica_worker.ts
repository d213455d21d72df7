/**
 * A replica in a thread of its own, as it is a process of its own in a cluster. Its copies are what it is
 * sent.
 *
 * @module
 */
/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
import { handCopies, webDeployment } from "../../tests/fixtures/placement_copies.ts";
import { memoryAfterGC } from "../rightsizing/watch_memory.ts";
import { startReplica } from "./replica.ts";
import type { FromReplica, ToReplica } from "./replicas.ts";

const tell = (message: FromReplica): void => self.postMessage(message);
const copies = handCopies();

self.onmessage = ({ data }: MessageEvent<ToReplica>) => {
  switch (data.kind) {
    case "start":
      copies.deployments.put(webDeployment(data.pods));
      startReplica(copies, data.options).then(
        (addresses) => tell({ kind: "started", addresses }),
        (error: unknown) => tell({ kind: "failed", message: String(error) }),
      );
      return;
    case "put":
      copies.pods.put(data.pod);
      return;
    case "remove":
      copies.pods.remove(data.pod);
      return;
    case "memory":
      memoryAfterGC().then(
        (use) => tell({ kind: "memory", use }),
        (error: unknown) => tell({ kind: "failed", message: String(error) }),
      );
  }
};
