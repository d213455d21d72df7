/**
 * Makes the images of agent and controller without Docker, as archives in `build/images/`:
 * `deno task image:local`, or with names of programs for those alone. With `--load` the harness's
 * node gets them too.
 *
 * @module
 */
import { sizeText } from "../../../tools/build/size_text.ts";
import { DEFAULT_NAME, instanceNamed } from "../harness/instance.ts";
import { loadImage } from "../harness/install/image_archive.ts";
import { buildImages } from "./build_images.ts";

const named = Deno.args.filter((arg) => !arg.startsWith("-"));
const images = await buildImages({
  folder: "build/images",
  imageName: (program) => `${program}:dev`,
  ...(named.length > 0 ? { only: named } : {}),
});
for (const { name, path, bytes, scriptBytes } of images) {
  console.log(`${name} ${path} ${sizeText(bytes)}, ${sizeText(scriptBytes)} its own`);
  if (Deno.args.includes("--load")) {
    const cluster = Deno.env.get("COALLOCATOR_CLUSTER") || DEFAULT_NAME;
    console.log((await loadImage(instanceNamed(cluster), path)).trimEnd());
  }
}
