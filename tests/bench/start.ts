// bun run bench:start: the compiled program from spawn to its first 200, its memory at rest, and its size.
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../scripts/dev-stack/port.ts';

const BINARY = join(import.meta.dir, '../../dist/vault');
const RUNS = Number(process.argv[2] ?? 21);

if (!existsSync(BINARY)) throw new Error('dist/vault is missing: build it first, with  bun run build');

const times: number[] = [];
const memory: number[] = [];
for (let run = 0; run < RUNS; run++) {
  const dir = mkdtempSync(join(tmpdir(), 'vault-start-'));
  const port = freePort();
  const start = performance.now();
  const child = Bun.spawn([BINARY], {
    cwd: dir,
    env: { PORT: `${port}`, LOG_FORMAT: 'json' },
    stdio: ['ignore', 'ignore', 'ignore'],
  });
  while ((await fetch(`http://127.0.0.1:${port}/api/status`).catch(() => undefined))?.status !== 200)
    await Bun.sleep(0.5);
  times.push(performance.now() - start);
  await Bun.sleep(500);
  memory.push(rssMiB(child.pid));
  child.kill('SIGTERM');
  await child.exited;
  rmSync(dir, { recursive: true, force: true });
}
console.log(
  `spawn to first 200   ${median(times).toFixed(1)} ms median of ${RUNS} (best ${Math.min(...times).toFixed(1)})   an empty directory each: keys and tables are made`,
);
console.log(`memory at rest       ${median(memory).toFixed(1)} MiB RSS`);
console.log(`size                 ${(statSync(BINARY).size / 1e6).toFixed(1)} MB`);

function rssMiB(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}
