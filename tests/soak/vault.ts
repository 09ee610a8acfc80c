import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { OPERATOR } from '../support/events.ts';
import { VAULT_SECRET } from '../support/vault.ts';

/** A vault under soak: a process of its own, whose codes are read off its log. */
export interface SoakedVault {
  readonly url: string;
  readonly port: number;
  /** The newest code that was sent to an address, once. */
  takeCode(to: string): string | undefined;
  /** What its process has at the moment. */
  read(): { readonly residentMb: number; readonly descriptors: number; readonly cpuMs: number };
  /** Lines of its log with level error. */
  readonly errors: readonly string[];
  /** Resolves when it ended by itself. */
  readonly exited: Promise<number>;
  stop(): Promise<number>;
}

/** The app that most streams listen to: little happens in it. */
export const QUIET_APP = 'quiet';
const CODES_MAX = 20_000;
const ERRORS_MAX = 20;
const ROOT = join(import.meta.dir, '../..');

/** Starts `vault serve` from the source, or `program`, in a folder. */
export async function startSoakedVault(cwd: string, program?: string): Promise<SoakedVault> {
  const many = '1000000000';
  const child = Bun.spawn([...(program ? [program] : [process.execPath, join(ROOT, 'server.ts')]), 'serve'], {
    cwd,
    env: {
      PORT: '0',
      LOG_FORMAT: 'json',
      VAULT_SECRET,
      OPERATOR_SECRET: OPERATOR.Authorization.slice('Bearer '.length),
      APPS: QUIET_APP,
      DID_REGISTRY_ADDRESS: 'none',
      FOLLOWER: 'false',
      EMAIL_DAILY_MAX: many,
      RATE_LIMIT_READS_PER_IP: many,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const end = () => child.kill('SIGKILL');
  process.once('exit', end);
  const codes = new Map<string, string>();
  const errors: string[] = [];
  const listening = Promise.withResolvers<string>();
  child.exited.then((code) => listening.reject(new Error(`the vault ended with ${code}`)));
  follow(child.stdout, (line) => {
    const entry = JSON.parse(line) as { level: string; event: string; to?: string; code?: string; url?: string };
    if (entry.level === 'error' && errors.length < ERRORS_MAX) errors.push(line);
    if (entry.event === 'listening') listening.resolve(String(entry.url));
    if (entry.event !== 'code' || entry.to === undefined || entry.code === undefined) return;
    codes.set(entry.to, entry.code);
    const [oldest = ''] = codes.keys();
    if (codes.size > CODES_MAX) codes.delete(oldest);
  });
  const url = (await listening.promise).replace('localhost', '127.0.0.1');
  return {
    url,
    port: Number(new URL(url).port),
    errors,
    exited: child.exited,
    takeCode(to) {
      const code = codes.get(to);
      codes.delete(to);
      return code;
    },
    read: () => processOf(child.pid),
    async stop() {
      process.off('exit', end);
      child.kill('SIGTERM');
      return child.exited;
    },
  };
}

async function follow(stream: ReadableStream<Uint8Array<ArrayBuffer>>, take: (line: string) => void): Promise<void> {
  let text = '';
  for await (const chunk of stream.pipeThrough(new TextDecoderStream())) {
    const lines = (text + chunk).split('\n');
    text = lines.pop() ?? '';
    for (const line of lines) if (line.startsWith('{')) take(line);
  }
}

function processOf(pid: number) {
  const resident = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return {
    residentMb: (Number(resident) * 1024) / 1e6,
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    cpuMs: (Number(fields[11]) + Number(fields[12])) * 10,
  };
}
