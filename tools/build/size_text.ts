/**
 * Sizes of files, for people.
 *
 * @module
 */

/** `1.2 MB` or `345.6 kB`. */
export function sizeText(bytes: number): string {
  return bytes > 1e6 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e3).toFixed(1)} kB`;
}
