/**
 * A cgroup tree that is a map of texts: for tests, recordings and examples.
 *
 * @module
 */
import type { CgroupTree } from "./tree.ts";

/** A tree whose files can be changed between two looks. */
export interface MemoryTree extends CgroupTree {
  /** Sets a file's text, and makes the directories above it. */
  write(file: string, text: string): void;
  /** Removes a directory, or a file, with all below it. */
  remove(path: string): void;
}

/** A tree with these files to begin with: path → text. */
export function createMemoryTree(files: Readonly<Record<string, string>> = {}): MemoryTree {
  const texts = new Map<string, string>();
  const directories = new Map<string, Set<string>>([["", new Set()]]);

  const makeDirectory = (directory: string): Set<string> => {
    const known = directories.get(directory);
    if (known !== undefined) return known;
    const made = new Set<string>();
    directories.set(directory, made);
    const slash = directory.lastIndexOf("/");
    makeDirectory(directory.slice(0, Math.max(0, slash))).add(directory.slice(slash + 1));
    return made;
  };

  const write = (file: string, text: string): void => {
    makeDirectory(file.slice(0, Math.max(0, file.lastIndexOf("/"))));
    texts.set(file, text);
  };

  for (const [file, text] of Object.entries(files)) write(file, text);
  return {
    write,
    remove(path) {
      const below = (key: string): boolean => key === path || key.startsWith(`${path}/`);
      for (const file of [...texts.keys()].filter(below)) texts.delete(file);
      for (const directory of [...directories.keys()].filter(below)) directories.delete(directory);
      const slash = path.lastIndexOf("/");
      directories.get(path.slice(0, Math.max(0, slash)))?.delete(path.slice(slash + 1));
    },
    children: (directory) => {
      const names = directories.get(directory);
      return names === undefined ? undefined : [...names];
    },
    read: (file) => texts.get(file),
    release: () => {},
  };
}
