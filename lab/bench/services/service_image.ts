/**
 * The image of the service: one program that is linked statically, and nothing else.
 *
 * @module
 */
import { imageArchive, loadImage } from "../../../tests/cluster/harness/install/image_archive.ts";
import { instanceNamed } from "../../../tests/cluster/harness/instance.ts";
import { run } from "../../../tests/cluster/harness/shell.ts";

/** Its name and tag. */
export const SERVICE_IMAGE = "bench-service:dev";

/** Compiles `service.c` and puts the image on the node of this instance of the harness. */
export async function loadServiceImage(instance: string): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "service-image-" });
  try {
    const program = `${folder}/service`;
    const source = new URL("service.c", import.meta.url).pathname;
    await run(["cc", "-O2", "-static", "-pthread", "-Wall", "-o", program, source]);
    const content = await Deno.readFile(program);
    const archive = imageArchive({
      name: SERVICE_IMAGE,
      entries: [{ type: "file", path: "service", mode: 0o755, content }],
      entrypoint: ["/service"],
      architecture: Deno.build.arch === "aarch64" ? "arm64" : "amd64",
    });
    const file = `${folder}/image.tar`;
    await Deno.writeFile(file, archive);
    await loadImage(instanceNamed(instance), file);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
