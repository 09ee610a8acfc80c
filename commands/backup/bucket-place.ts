import { statSync } from 'node:fs';
import { S3Client } from 'bun';
import { UsageError } from '../cli/arguments.ts';
import type { BackupPlace } from './place.ts';

/** How long a bucket may take for one part, a page of its list or anything else that it is asked. */
const BUCKET_WAIT_MS = 120_000;
/** A file goes up in parts of at least this size, of which a bucket takes 10,000. */
const UPLOAD_PART_BYTES_MIN = 8 * 1024 * 1024;
const UPLOAD_PARTS_MAX = 9_000;
/** How many parts are under way, each of which is in memory, and how often each is tried again. */
const UPLOAD_PARTS_AT_ONCE = 2;
const UPLOAD_RETRIES = 3;

/** A bucket, who may write to it, and where drafts are made. */
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
  const ask = <T>(work: () => T | Promise<T>) => answerOf(work, waitMs);

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
    async list() {
      const names: string[] = [];
      for (let token: string | undefined; ; ) {
        const page = await ask(() =>
          client.list({ prefix, ...(token === undefined ? {} : { continuationToken: token }) }),
        );
        names.push(...(page.contents ?? []).map(({ key }) => key.slice(prefix.length)));
        token = page.isTruncated ? page.nextContinuationToken : undefined;
        if (token === undefined) return names;
      }
    },
    put: upload,
    sizeOf: async (name) => (await ask(() => client.stat(prefix + name))).size,
    read: (name, start, end) =>
      ask(() =>
        client
          .file(prefix + name)
          .slice(start, end)
          .bytes(),
      ),
    remove: (name) => ask(() => client.delete(prefix + name)),
  };
}

/** What the bucket answers. The error has its word for the failure, and never a URL or a key. */
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
