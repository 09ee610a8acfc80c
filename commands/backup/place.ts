/** Where backups are kept: a folder or a bucket. */
export interface BackupPlace {
  /** The place as people see it. */
  readonly shown: string;
  /** The folder in which a backup is made before it is put here. */
  readonly draftFolder: string;
  /** Where the file of this name is, in a folder. */
  readonly pathOf?: (name: string) => string;
  list(): Promise<string[]>;
  /** Puts a complete file here under a name that is not taken. */
  put(draft: string, name: string): Promise<void>;
  /** Throws if there is none of that name. */
  sizeOf(name: string): Promise<number>;
  /** Gives these bytes, or the first of them. */
  read(name: string, start: number, end: number): Promise<Uint8Array>;
  remove(name: string): Promise<void>;
}

/** How much of a backup is read at once. */
const PLACE_CHUNK_BYTES = 8 * 1024 * 1024;

/** All bytes of a backup of this size in a place, a part at a time. */
export async function* readBackup(place: BackupPlace, name: string, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < size; ) {
    const end = Math.min(size, at + PLACE_CHUNK_BYTES);
    const part = await place.read(name, at, end);
    if (part.length === 0) throw new Error(`${name} is shorter than it was`);
    if (part.length > end - at) throw new Error(`${place.shown} gives more than it was asked for`);
    yield part;
    at += part.length;
  }
}
