/**
 * Images of the apps, each with one program, its libraries and its data.
 *
 * @module
 */
import {
  imageArchive,
  type ImageSpec,
  loadImage,
  type TarEntry,
} from "../../../tests/cluster/harness/install/image_archive.ts";
import { instanceNamed } from "../../../tests/cluster/harness/instance.ts";
import {
  DENO_PATH,
  foldersOf,
  programLayer,
  runtimeLayer,
} from "../../../tests/cluster/images/program_image.ts";
import { type App, APPS } from "./app_result.ts";
import type { Programs } from "./programs.ts";

/** Name and tag of an app's image. */
export function imageOf(name: App["name"]): string {
  return `bench-${name}:dev`;
}

/** Puts the images on the node of this instance of the harness. */
export async function loadAppImages(instance: string, programs: Programs): Promise<void> {
  const file = await Deno.makeTempFile({ prefix: "app-image-", suffix: ".tar" });
  try {
    for (const { name } of APPS) {
      const { entries, ...spec } = await parts(name, programs);
      const files: TarEntry[] = [...entries, text("etc/passwd", "app:x:65532:65532::/:\n")];
      const writable: TarEntry = { type: "directory", path: "tmp", mode: 0o1777 };
      const archive = imageArchive({
        ...spec,
        name: imageOf(name),
        entries: [...foldersOf(files), writable, ...files],
        user: "65532:65532",
        architecture: Deno.build.arch === "aarch64" ? "arm64" : "amd64",
      });
      await Deno.writeFile(file, archive);
      await loadImage(instanceNamed(instance), file);
    }
  } finally {
    await Deno.remove(file);
  }
}

async function parts(
  name: App["name"],
  { root }: Programs,
): Promise<Pick<ImageSpec, "base" | "entries" | "entrypoint">> {
  switch (name) {
    case "nginx":
      return {
        entries: [
          ...await programLayer({ path: "/nginx", source: `${root}/usr/sbin/nginx`, root }),
          text("nginx.conf", NGINX_CONFIG),
          text("srv/page.html", nginxPage()),
        ],
        entrypoint: ["/nginx", "-e", "stderr", "-c", "/nginx.conf"],
      };
    case "redis":
      return {
        entries: await programLayer({
          path: "/redis-server",
          source: `${root}/usr/bin/redis-server`,
          root,
        }),
        entrypoint: ["/redis-server", "--save", "", "--protected-mode", "no"],
      };
    case "deno": {
      const script = await Deno.readTextFile(new URL("deno_service.ts", import.meta.url));
      return {
        base: await runtimeLayer(),
        entries: [text("service.ts", script)],
        entrypoint: [DENO_PATH, "run", "--quiet", "--no-config", "--allow-net", "/service.ts"],
      };
    }
  }
}

function text(path: string, content: string): TarEntry {
  return { type: "file", path, mode: 0o644, content: new TextEncoder().encode(content) };
}

/** The configuration of nginx; all that it writes is in /tmp. */
const NGINX_CONFIG = `worker_processes 2;
daemon off;
error_log stderr error;
pid /tmp/nginx.pid;
events { worker_connections 4096; }
http {
  access_log off;
  client_body_temp_path /tmp/body;
  proxy_temp_path /tmp/proxy;
  fastcgi_temp_path /tmp/fastcgi;
  uwsgi_temp_path /tmp/uwsgi;
  scgi_temp_path /tmp/scgi;
  default_type text/html;
  gzip on;
  gzip_comp_level 6;
  server {
    listen 8080 backlog=4096;
    root /srv;
  }
}
`;

/** A page of some 250 kB, always the same, that compresses as tables do: to a sixth. */
function nginxPage(): string {
  const rows = Array.from({ length: 3000 }, (_, row) => {
    const cells = [7919, 104_729, 1_299_709].map((prime) => `<td>${(row * prime) % 99_991}</td>`);
    return `<tr class="order"><td>order ${row}</td>${cells.join("")}</tr>`;
  });
  return `<!doctype html>\n<table>\n${rows.join("\n")}\n</table>\n`;
}
