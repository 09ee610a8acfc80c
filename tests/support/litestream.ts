import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { toolPath } from '../../scripts/testing/tools.ts';
import type { S3Bucket } from './s3/server.ts';

/** Litestream's program, undefined on machines for which there is no package of it. */
export function litestreamProgram(): string | undefined {
  const platform = `${process.platform}-${process.arch}`;
  const path = toolPath(`@flydotio/litestream-${platform}/litestream`);
  return existsSync(path) ? path : undefined;
}

/** Litestream beside a database. */
export interface Litestream {
  start(): void;
  /** Ends it at once. */
  kill(): Promise<void>;
  /** Writes what the bucket has into a new file. Resolves with the exit code. */
  restore(path: string): Promise<number>;
}

/** Sets Litestream up for a database with the recipe of docs/operating.md. */
export function createLitestream(database: string, bucket: S3Bucket, dir: string): Litestream {
  const config = join(dir, 'litestream.yml');
  const values = {
    path: database,
    bucket: bucket.name,
    endpoint: bucket.url,
    region: bucket.credentials.region,
    'access-key-id': bucket.credentials.accessKeyId,
    'secret-access-key': bucket.credentials.secretAccessKey,
  };
  let text = readRecipe();
  for (const [name, value] of Object.entries(values)) {
    const line = new RegExp(`(^[ -]+${name}: ).*$`, 'm');
    if (!line.test(text)) throw new Error(`the recipe has no ${name}`);
    text = text.replace(line, `$1${value}`);
  }
  writeFileSync(config, text);
  const run = (...args: string[]) =>
    Bun.spawn([litestreamProgram() ?? '', ...args], { stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' });
  let running: ReturnType<typeof run> | undefined;
  return {
    start() {
      running = run('replicate', '-config', config);
    },
    async kill() {
      running?.kill('SIGKILL');
      await running?.exited;
    },
    restore: (path) => run('restore', '-config', config, '-o', path, database).exited,
  };
}

function readRecipe(): string {
  const page = readFileSync(new URL('../../docs/operating.md', import.meta.url), 'utf8');
  return /```yaml\n(dbs:\n[\s\S]*?)```/.exec(page)?.[1] ?? '';
}
