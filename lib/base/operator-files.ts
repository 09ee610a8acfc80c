/**
 * Files of the operator's that settings name. They are read once, at the start, so both calls answer at once. A host
 * without a file system may answer out of its own bundle.
 */
export interface OperatorFiles {
  /** The file's bytes; undefined where there is none. Throws if it cannot be read or is larger than `maxBytes`. */
  read(path: string, maxBytes: number): Uint8Array | undefined;
  /** The names in a folder; empty where the folder does not exist. */
  list(path: string): readonly string[];
}

/** A path beside a file, or the path itself if it is absolute. */
export function beside(file: string, path: string): string {
  if (/^(?:[/\\]|[A-Za-z]:)/.test(path)) return path;
  return file.slice(0, Math.max(file.lastIndexOf('/'), file.lastIndexOf('\\')) + 1) + path;
}
