/**
 * Puts images where the kubelet finds them, without a registry.
 *
 * @module
 */
import type { Instance } from "../instance.ts";
import { run } from "../shell.ts";

/** Imports an archive as `docker save` or `imageArchive()` makes it; returns what containerd says. */
export function loadImage({ containerdSocket }: Instance, file: string): Promise<string> {
  return run([
    ...["ctr", "--address", containerdSocket, "--namespace", "k8s.io"],
    ...["images", "import", file],
  ]);
}
