import { statSync } from 'node:fs';
import { S3Client } from 'bun';
import { UsageError } from '../cli/arguments.ts';
import { readName } from './backup-name.ts';
import type { BackupPlace } from './place.ts';

/** How long a bucket may take for one part, a page of its list or anything else that it is asked. */
const BUCKET_WAIT_MS = 120_000;
/** A file is uploaded in parts of at least this size; a bucket takes 10,000. */
const UPLOAD_PART_BYTES_MIN = 8 * 1024 * 1024;
const UPLOAD_PARTS_MAX = 9_000;
/** How many parts are under way, each in memory, and how often each is tried again. */
const UPLOAD_PARTS_AT_ONCE = 2;
const UPLOAD_RETRIES = 3;
/** How many pages of a list are read; a page has 1,000 names. */
const LIST_PAGES_MAX = 1_000;

/** A bucket, its credentials, and the folder for drafts. */
export interface BucketOrder {
  readonly bucket: string;
  /** Empty, or ends with a slash. */
  readonly prefix: string;
  readonly endpoint: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly draftFolder: string;
  readonly waitMs?: number;
}

/** Reads `s3://BUCKET` or `s3://BUCKET/PREFIX`. Throws `UsageError`. */
export function readBucketUrl(text: string): { bucket: string; prefix: string } {
  const [, bucket, path = ''] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])((?:\/[\w.=-]+)*)\/?$/.exec(text) ?? [];
  if (bucket === undefined) throw new UsageError('a place is the path of a folder, or s3://BUCKET/PREFIX.');
  return { bucket, prefix: path === '' ? '' : `${path.slice(1)}/` };
}

/** A bucket of Amazon S3, or of a service that speaks its protocol. */
export function openBucket({ prefix, draftFolder, waitMs = BUCKET_WAIT_MS, ...given }: BucketOrder): BackupPlace {
  const client = new S3Client({ ...given, retry: UPLOAD_RETRIES });
  const ask: Ask = (work) => answerOf(work, waitMs);

  async function upload(draft: string, name: string): Promise<void> {
    const file = Bun.file(draft);
    const { size } = statSync(draft);
    const partSize = Math.max(UPLOAD_PART_BYTES_MIN, Math.ceil(size / UPLOAD_PARTS_MAX));
    const writer = client
      .file(prefix + name)
      .writer({ partSize, queueSize: UPLOAD_PARTS_AT_ONCE, retry: UPLOAD_RETRIES });
    try {
      for (let at = 0; at < size; at += partSize) {
        const part = await file.slice(at, at + partSize).bytes();
        await ask(() => writer.write(part));
        await ask(() => writer.flush());
      }
      await ask(() => writer.end());
    } catch (error) {
      // Takes back the parts that are up, if the bucket still answers.
      await ask(() => writer.end(error as Error)).catch(() => undefined);
      throw error;
    }
  }

  return {
    shown: `s3://${given.bucket}/${prefix}`.replace(/\/$/, ''),
    draftFolder,
    list: () => listNames(client, prefix, ask),
    put: upload,
    sizeOf: async (name) => (await ask(() => client.stat(prefix + name))).size,
    async read(name, start, end) {
      const parts = client
        .file(prefix + name)
        .slice(start, end)
        .stream()
        .getReader();
      try {
        return await ask(() => readAtMost(parts, end - start));
      } finally {
        // Closes the connection of a body that goes on.
        await parts.cancel().catch(() => undefined);
      }
    },
    remove: (name) => ask(() => client.delete(prefix + name)),
  };
}

/** The names of backups below the prefix. A list that is cut off would make an old backup the newest: it is refused. */
async function listNames(client: S3Client, prefix: string, ask: Ask): Promise<string[]> {
  const names = new Set<string>();
  let token: string | undefined;
  for (let pages = 0; pages < LIST_PAGES_MAX; pages++) {
    const more = token === undefined ? {} : { continuationToken: token };
    const page = await ask(() => client.list({ prefix: `${prefix}vault-`, ...more }));
    for (const { key } of page.contents ?? []) {
      const name = key.slice(prefix.length);
      if (key.startsWith(prefix) && readName(name) !== undefined) names.add(name);
    }
    if (!page.isTruncated) return [...names];
    if (!page.nextContinuationToken || page.nextContinuationToken === token) break;
    token = page.nextContinuationToken;
  }
  throw new Error('the list of the bucket has no end');
}

/** A service that does not know ranges sends the whole object, and a hostile one sends without an end. */
async function readAtMost(parts: ReadableStreamDefaultReader<Uint8Array>, most: number): Promise<Uint8Array> {
  const read: Uint8Array[] = [];
  for (let length = 0; ; ) {
    const { value, done } = await parts.read();
    if (done) return Buffer.concat(read);
    length += value.length;
    if (length > most) throw new Error('the bucket gives more than it was asked for');
    read.push(value);
  }
}

type Ask = <T>(work: () => T | Promise<T>) => Promise<T>;

/** The bucket's answer. The error has its word for the failure, and never a URL or a key. */
async function answerOf<T>(work: () => T | Promise<T>, waitMs: number): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`the bucket gives no answer for ${waitMs / 1000} s`)), waitMs);
  try {
    return await Promise.race([work(), late.promise]);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    // The client sends it along, and cannot be kept from it.
    const isForeign = process.env['AWS_SESSION_TOKEN'] ?? process.env['S3_SESSION_TOKEN'];
    const hint = isForeign ? ' (AWS_SESSION_TOKEN or S3_SESSION_TOKEN is set: is it of this key?)' : '';
    throw new Error(`the bucket cannot be used: ${error.code}${hint}`);
  } finally {
    clearTimeout(timer);
  }
}
